/** Applies the batches of one subscription for the owner of a projection, and halts at an event that cannot be folded. */
import { toInstant } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import type { EventBatch, Position, RecordedEvent } from '../storage/event-log.ts';
import type { HeldLease } from '../storage/held-lease.ts';
import { type Application, applyByBisection, applyEvents, isPassing, PoisonEvent } from './apply-events.ts';
import { type Halt, readHalt, skippedEvents, writeHalt } from './halt.ts';
import type { ProjectorOptions } from './projector.ts';

/** Batches without matching events only move the checkpoint. They are frequent, so it is stored with a delay. */
const IDLE_CHECKPOINT_MS = 100;
const HALTED_LOOKS_EVERY_MS = 500;
const HALTED_RETRY_MS = 10_000;

export interface FollowerEvents {
  moved(position: Position): void;
  halted(halt: Halt | null): void;
}

export class Follower {
  readonly #options: ProjectorOptions;
  readonly #lease: HeldLease;
  /** Aborted when the projector stops or loses its lease. */
  readonly #signal: AbortSignal;
  readonly #on: FollowerEvents;
  readonly #application: Application;
  #isSkipped: (event: RecordedEvent) => boolean = () => false;
  #recordedHalt: Halt | null = null;
  #stored: Position | null = null;
  #unstored: Position | null = null;
  #storing: NodeJS.Timeout | null = null;

  constructor(options: ProjectorOptions, lease: HeldLease, signal: AbortSignal, on: FollowerEvents) {
    this.#options = options;
    this.#lease = lease;
    this.#signal = signal;
    this.#on = on;
    this.#application = {
      ...options,
      signal,
      assertOwner: () => lease.assertHeld(),
      committed: (position) => {
        this.#stored = position;
        on.moved(position);
      },
    };
  }

  async begin(): Promise<void> {
    const { log, readStore, projection, generation } = this.#options;
    this.#isSkipped = await skippedEvents(log, projection.name);
    this.#recordedHalt = await readHalt(readStore, projection.name, generation);
  }

  async handle(batch: EventBatch): Promise<void> {
    let events = batch.events.filter((event) => !this.#isSkipped(event));
    while (events.length > 0 && !this.#signal.aborted) {
      try {
        await this.#apply(events, batch.live);
        events = [];
      } catch (error) {
        if (!(error instanceof PoisonEvent)) throw error;
        await this.#waitUntilPassed(error);
        events = events.filter(({ position }) => position > error.recorded.position);
      }
    }
    if (this.#signal.aborted) return;
    await this.#clearRecordedHalt(batch.position);
    this.#on.moved(batch.position);
    if (this.#stored !== batch.position) this.#storeSoon(batch.position);
  }

  /** Stores how far the subscription came, if no event has done so. */
  async end(): Promise<void> {
    if (this.#storing) clearTimeout(this.#storing);
    await this.#store();
  }

  /** @param live whether it has caught up: then the events come at their own pace */
  async #apply(events: readonly RecordedEvent[], live: boolean): Promise<void> {
    const application = live ? { ...this.#application, pacer: undefined } : this.#application;
    for (const delayMs of this.#options.retryDelaysMs) {
      try {
        return await applyEvents(application, events);
      } catch (error) {
        if (isPassing(error) || this.#signal.aborted) throw error;
        const { projection, logger } = this.#options;
        logger.warn({ projection: projection.name, err: error }, 'a batch failed; it is retried');
      }
      await pause(delayMs, this.#signal);
    }
    // Documents skip what an attempt has already committed, so starting over is harmless.
    if (!this.#signal.aborted) await applyByBisection(this.#application, events);
  }

  /** Waits until an operator has skipped the event, or it can be folded after all. */
  async #waitUntilPassed({ recorded, message }: PoisonEvent): Promise<void> {
    const { projection, generation, readStore, log, clock, logger } = this.#options;
    const { position, stream, revision, type } = recorded;
    const halt: Halt = { position, stream, revision, type, error: message, at: toInstant(clock.now()) };
    await this.#lease.assertHeld();
    await writeHalt(readStore, projection.name, generation, halt);
    this.#recordedHalt = halt;
    this.#on.halted(halt);
    logger.error(
      { projection: projection.name, generation, ...halt },
      'the projection has halted at an event that it cannot fold',
    );
    const { haltedRetryMs = HALTED_RETRY_MS } = this.#options;
    let retryAt = performance.now() + haltedRetryMs;
    let isFolded = false;
    while (!isFolded && !this.#isSkipped(recorded) && !this.#signal.aborted) {
      await pause(Math.min(HALTED_LOOKS_EVERY_MS, haltedRetryMs), this.#signal);
      if (this.#signal.aborted) break;
      this.#isSkipped = await skippedEvents(log, projection.name);
      if (performance.now() < retryAt || this.#isSkipped(recorded)) continue;
      isFolded = await this.#canBeFolded(recorded);
      retryAt = performance.now() + haltedRetryMs;
    }
    this.#on.halted(null);
    if (this.#signal.aborted) return;
    const outcome = isFolded ? 'the failing event is folded: its cause is gone' : 'the failing event is skipped';
    logger.info({ projection: projection.name, generation, position }, outcome);
  }

  /** Whether an operator has restored the content that the event names, for example. */
  async #canBeFolded(recorded: RecordedEvent): Promise<boolean> {
    try {
      await applyEvents(this.#application, [recorded]);
      return !this.#signal.aborted;
    } catch (error) {
      if (isPassing(error)) throw error;
      return false;
    }
  }

  async #clearRecordedHalt(position: Position): Promise<void> {
    if (!this.#recordedHalt || this.#recordedHalt.position > position) return;
    const { readStore, projection, generation } = this.#options;
    await writeHalt(readStore, projection.name, generation, null);
    this.#recordedHalt = null;
  }

  #storeSoon(position: Position): void {
    this.#unstored = position;
    this.#storing ??= setTimeout(() => {
      this.#storing = null;
      // If this fails, the next batch or the end stores it.
      this.#store().catch(() => undefined);
    }, IDLE_CHECKPOINT_MS);
  }

  async #store(): Promise<void> {
    const position = this.#unstored;
    if (position === null || this.#lease.lost.aborted) return;
    const { readStore, projection, generation, clock } = this.#options;
    const at = toInstant(clock.now());
    await readStore.commit({ projection: projection.name, generation, writes: [], position, at });
    if (this.#unstored === position) this.#unstored = null;
  }
}
