/**
 * The loop of a process that handles every event of some types, in the order of the log: with a cursor of its own under a
 * lease, so one node works at a time and no event is skipped, whichever node dies. An event that keeps failing is set
 * aside and retried every minute, so that the others go on (docs/design/architecture.md#state-outside-the-log).
 */
import type { BaseLogger } from 'pino';
import { pause } from '../runtime/pause.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import { type HeldLease, LeaseLost, type LeaseOptions } from '../storage/held-lease.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { Trouble } from '../storage/trouble.ts';
import { whileHeld } from '../storage/while-held.ts';

export interface FollowPorts extends Pick<LeaseOptions, 'clock'> {
  readonly log: Pick<EventLog, 'read' | 'subscribe'>;
  readonly readStore: ReadStore;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
}

export interface Follower {
  /** Of the process, its lease and its cursor. */
  readonly name: string;
  readonly types: readonly string[];
  /** Handles one event. It may be repeated, since the stored cursor may lag. */
  handle(event: RecordedEvent): Promise<void>;
  /** Calls `one` with each event that concerns it, and resolves once all these calls have. */
  inOrder(events: readonly RecordedEvent[], one: (event: RecordedEvent) => Promise<void>): Promise<void>;
  /** After this many failures of its own, an event is set aside. */
  readonly tries: number;
  readonly setAside: { readonly alarm: string; readonly message: string };
  /** Logged while the storage fails. */
  readonly waiting: string;
}

const LEASE_MS = 15_000;
/** How often a process that is not the owner tries to become it. */
const STANDBY_MS = 1_000;
const SAVE_EVERY_MS = 500;
const TRY_AGAIN_MS = 250;
const RETRY_LEFT_MS = 60_000;

/** An event that was set aside. */
interface LeftBehind {
  readonly stream: string;
  readonly revision: number;
}

interface Cursor {
  readonly position: Position | null;
  readonly left: readonly LeftBehind[];
}

/** Follows the log under the follower's lease until the signal aborts. Never throws. */
export function followLog(ports: FollowPorts, follower: Follower, signal: AbortSignal): Promise<void> {
  const { readStore, clock, owner, logger } = ports;
  const { name } = follower;
  const trouble = new Trouble(logger, { process: name });
  return whileHeld({
    lease: { readStore, clock, owner, name, durationMs: LEASE_MS },
    signal,
    standByMs: STANDBY_MS,
    work: (lease, workSignal, progressed) =>
      new Following(ports, follower, lease, workSignal).run(() => {
        progressed();
        trouble.recovered();
      }),
    failed: (error) => trouble.failed(error, follower.waiting),
  });
}

/** Starts a follower again with the first event, because the log is older than its cursor. */
export async function forgetCursor(readStore: ReadStore, name: string): Promise<void> {
  for (;;) {
    const { version, value } = await readStore.cell(name);
    if (value === null || value.position === null) return;
    if (await readStore.compareAndSet(name, version, { position: null, left: [] })) return;
  }
}

/** The work under one lease. */
class Following {
  readonly #ports: FollowPorts;
  readonly #follower: Follower;
  readonly #lease: HeldLease;
  readonly #signal: AbortSignal;
  #version = 0;
  #saved: Cursor = { position: null, left: [] };
  #position: Position | null = null;
  readonly #left = new Map<string, LeftBehind>();
  #savedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<void> = Promise.resolve();

  constructor(ports: FollowPorts, follower: Follower, lease: HeldLease, signal: AbortSignal) {
    this.#ports = ports;
    this.#follower = follower;
    this.#lease = lease;
    this.#signal = signal;
  }

  async run(wentWell: () => void): Promise<void> {
    await this.#readCursor();
    const ending = new AbortController();
    const retrying = this.#retryLeft(AbortSignal.any([this.#signal, ending.signal]));
    const { types } = this.#follower;
    try {
      for await (const batch of this.#ports.log.subscribe(this.#position, { by: 'types', types }, this.#signal)) {
        await this.#follower.inOrder(batch.events, (event) => this.#handleOne(event));
        if (this.#signal.aborted) break;
        this.#position = batch.position;
        if (performance.now() - this.#savedAt >= SAVE_EVERY_MS) await this.#save();
        wentWell();
      }
    } finally {
      ending.abort();
      await retrying;
      await this.#save().catch(() => undefined);
    }
    if (this.#lease.lost.aborted) throw new LeaseLost(this.#follower.name);
  }

  /** @throws StorageFailure; then the loop ends, because the next event would fail in the same way */
  async #handleOne(event: RecordedEvent): Promise<void> {
    const { tries, setAside } = this.#follower;
    const { stream, revision } = event;
    const key = `${stream}@${revision}`;
    for (let attempt = 1; !this.#signal.aborted; attempt++) {
      try {
        await this.#follower.handle(event);
        this.#left.delete(key);
        return;
      } catch (error) {
        if (error instanceof StorageFailure) throw error;
        if (attempt < tries) {
          await pause(TRY_AGAIN_MS * attempt, this.#signal);
          continue;
        }
        this.#ports.logger.error({ err: error, stream, alarm: setAside.alarm }, setAside.message);
        this.#left.set(key, { stream, revision });
        await this.#save();
        return;
      }
    }
  }

  /** Once at the start and then every minute, until the signal aborts. */
  async #retryLeft(signal: AbortSignal): Promise<void> {
    const trouble = new Trouble(this.#ports.logger, { process: this.#follower.name });
    while (!signal.aborted) {
      try {
        for (const [key, { stream, revision }] of [...this.#left]) {
          const [event] = await this.#ports.log.read(stream, { from: revision, limit: 1 });
          if (event) await this.#handleOne(event);
          else this.#left.delete(key);
        }
        trouble.recovered();
      } catch (error) {
        trouble.failed(error, this.#follower.waiting);
      }
      await pause(RETRY_LEFT_MS, signal);
    }
  }

  async #readCursor(): Promise<void> {
    const { version, value } = await this.#ports.readStore.cell(this.#follower.name);
    this.#version = version;
    this.#saved = (value as Cursor | null) ?? this.#saved;
    this.#position = this.#saved.position;
    for (const one of this.#saved.left) this.#left.set(`${one.stream}@${one.revision}`, one);
  }

  /** @throws LeaseLost if another process has moved the cursor */
  #save(): Promise<void> {
    // Sequential: each save uses the version that the previous one created.
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#saveNow());
    return this.#saving;
  }

  async #saveNow(): Promise<void> {
    const cursor: Cursor = { position: this.#position, left: [...this.#left.values()] };
    if (JSON.stringify(cursor) === JSON.stringify(this.#saved)) return;
    const value = { position: cursor.position, left: cursor.left.map((one) => ({ ...one })) };
    if (!(await this.#ports.readStore.compareAndSet(this.#follower.name, this.#version, value))) {
      throw new LeaseLost(this.#follower.name);
    }
    this.#version++;
    this.#saved = cursor;
    this.#savedAt = performance.now();
  }
}
