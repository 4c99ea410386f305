/** Runs one generation of a projection under its lease: catches up, follows the log, halts at an event that it cannot fold. */
import type { BaseLogger } from 'pino';
import { type Instant, toInstant } from '../runtime/instant.ts';
import { nextTurn } from '../runtime/next-turn.ts';
import { type HeldLease, LeaseLost } from '../storage/held-lease.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { Trouble } from '../storage/trouble.ts';
import { whileHeld } from '../storage/while-held.ts';
import type { ContentSources } from './contents.ts';
import { Follower } from './follower.ts';
import { generationLease } from './generations.ts';
import type { Halt } from './halt.ts';
import type { Pacer } from './pacer.ts';
import { Progress } from './progress.ts';
import type { Projection } from './projection.ts';

export interface ProjectorOptions extends ContentSources {
  readonly projection: Projection;
  readonly generation: number;
  /** How fast it catches up; as fast as possible if omitted. */
  readonly pacer?: Pacer | undefined;
  readonly readStore: ReadStore;
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Whether the lease is about to become free. */
  readonly isAwaited?: () => boolean;
  /** Pauses before a failed batch is retried. After the last retry, the failing event is searched for. */
  readonly retryDelaysMs: readonly number[];
  /** After how long the event at which it has halted is tried again. */
  readonly haltedRetryMs?: number;
}

const STANDBY_LOOKS_IN_A_LEASE = 15;
/** While readers are about to move, and after that, the lease changes hands within a moment. */
const FIRST_LOOKS = 100;
const FIRST_LOOKS_EVERY_MS = 50;
/** After a batch of this size, other work gets a turn. */
const LARGE_BATCH = 50;

export class Projector {
  readonly progress = new Progress();
  readonly #options: ProjectorOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #isOwner = false;
  #halt: Halt | null = null;
  #trouble: string | null = null;
  #lastProgressAt: Instant | null = null;

  constructor(options: ProjectorOptions) {
    this.#options = options;
  }

  get projection(): string {
    return this.#options.projection.name;
  }

  get generation(): number {
    return this.#options.generation;
  }

  /** Whether this process runs the projection; otherwise another one does or will. */
  get isOwner(): boolean {
    return this.#isOwner;
  }

  /** Where this process has halted the projection. */
  get halt(): Halt | null {
    return this.#halt;
  }

  /** The failure that is being waited out, such as storage that is unreachable. */
  get trouble(): string | null {
    return this.#trouble;
  }

  get lastProgressAt(): Instant | null {
    return this.#lastProgressAt;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends after the pending commit and releases the lease. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.progress.giveUp();
    await this.#running;
  }

  #run(): Promise<void> {
    const { projection, generation, logger, leaseMs, isAwaited = () => false } = this.#options;
    const trouble = new Trouble(logger, { projection: projection.name });
    return whileHeld({
      lease: { ...this.#options, name: generationLease(projection.name, generation), durationMs: leaseMs },
      signal: this.#stopping.signal,
      standByMs: (looks) =>
        looks <= FIRST_LOOKS || isAwaited() ? FIRST_LOOKS_EVERY_MS : leaseMs / STANDBY_LOOKS_IN_A_LEASE,
      work: (lease, signal, progressed) =>
        this.#follow(lease, signal, () => {
          progressed();
          this.#trouble = null;
          trouble.recovered();
        }),
      failed: (error) => {
        this.#trouble = error instanceof Error ? error.message : String(error);
        trouble.failed(error, 'the projection waits and retries');
      },
      lost: () => logger.warn({ projection: projection.name }, 'another process now owns the projection'),
      ended: () => {
        this.#isOwner = false;
        this.progress.forget();
      },
    });
  }

  async #follow(lease: HeldLease, signal: AbortSignal, progressed: () => void): Promise<void> {
    const { projection, generation, readStore, log } = this.#options;
    await readStore.prepare(projection.name, generation, projection.collections);
    const from = await readStore.checkpoint(projection.name, generation);
    const follower = new Follower(this.#options, lease, signal, {
      moved: (position) => {
        this.#lastProgressAt = toInstant(this.#options.clock.now());
        progressed();
        this.progress.moveTo(position);
      },
      halted: (halt) => {
        this.#halt = halt;
        if (halt) this.progress.giveUp();
      },
    });
    await follower.begin();
    if (from !== null) this.progress.moveTo(from);
    this.#isOwner = true;
    const types = projection.events.map(({ type }) => type);
    try {
      for await (const batch of log.subscribe(from, { by: 'types', types }, signal)) {
        await follower.handle(batch);
        if (batch.events.length >= LARGE_BATCH) await nextTurn();
      }
    } finally {
      await follower.end();
      this.#halt = null;
    }
    if (lease.lost.aborted) throw new LeaseLost(projection.name);
  }
}
