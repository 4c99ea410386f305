/**
 * Applies what CourtListener's webhooks brought, in the order of arrival within a case (docs/design/sources.md#webhooks).
 * Follows the log with its own cursor under a lease; a message that fails is set aside and tried again.
 */
import type { BaseLogger } from 'pino';
import type { Json, JsonObject } from '../../events/event.ts';
import { WebhookReceived } from '../../events/source.ts';
import { pause } from '../../runtime/pause.ts';
import { idOf } from '../../sources/courtlistener/courtlistener.ts';
import type { Position, RecordedEvent } from '../../storage/event-log.ts';
import { type HeldLease, LeaseLost } from '../../storage/held-lease.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { Trouble } from '../../storage/trouble.ts';
import { whileHeld } from '../../storage/while-held.ts';
import { type ApplyPorts, applyWebhook } from './apply-webhook.ts';

export interface WebhookPorts extends ApplyPorts {
  readonly logger: Pick<BaseLogger, 'info' | 'warn' | 'error'>;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
}

export interface Webhooks {
  /** Follows the log under a lease until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const NAME = 'source-webhooks';
const LEASE_MS = 15_000;
const STANDBY_MS = 1_000;
/** Cases at once. */
const AT_ONCE = 4;
/** The stored cursor may lag. Messages after it are applied again, without effect. */
const SAVE_EVERY_MS = 500;
const TRIES = 3;
const TRY_AGAIN_MS = 250;
const RETRY_LEFT_MS = 60_000;

export function createWebhooks(ports: WebhookPorts): Webhooks {
  const { readStore, clock, owner, logger } = ports;
  return {
    run(signal) {
      const trouble = new Trouble(logger, { process: NAME });
      return whileHeld({
        lease: { readStore, clock, owner, name: NAME, durationMs: LEASE_MS },
        signal,
        standByMs: STANDBY_MS,
        work: (lease, workSignal, progressed) =>
          new Following(ports, lease, workSignal).run(() => {
            progressed();
            trouble.recovered();
          }),
        failed: (error) => trouble.failed(error, 'messages of CourtListener wait for the storage; retrying'),
      });
    },
  };
}

/** The work under one lease. */
class Following {
  readonly #ports: WebhookPorts;
  readonly #lease: HeldLease;
  readonly #signal: AbortSignal;
  #version = 0;
  #saved = '';
  #position: Position | null = null;
  /** Streams of messages that could not be applied yet. */
  readonly #left = new Set<string>();
  #savedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<void> = Promise.resolve();

  constructor(ports: WebhookPorts, lease: HeldLease, signal: AbortSignal) {
    this.#ports = ports;
    this.#lease = lease;
    this.#signal = signal;
  }

  async run(wentWell: () => void): Promise<void> {
    await this.#readCursor();
    const ending = new AbortController();
    const retrying = this.#retryLeft(AbortSignal.any([this.#signal, ending.signal]));
    try {
      const filter = { by: 'types', types: [WebhookReceived.type] } as const;
      for await (const batch of this.#ports.log.subscribe(this.#position, filter, this.#signal)) {
        await this.#applyAll(batch.events);
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
    if (this.#lease.lost.aborted) throw new LeaseLost(NAME);
  }

  /** Messages about one case in the order of arrival, several cases at once. */
  async #applyAll(events: readonly RecordedEvent[]): Promise<void> {
    const waiting = new Map<string, RecordedEvent[]>();
    for (const event of events) {
      if (typeof event.data.content !== 'string') continue;
      const about = await subjectOf(this.#ports, event.data.content);
      waiting.set(about ?? event.stream, [...(waiting.get(about ?? event.stream) ?? []), event]);
    }
    const cases = [...waiting.values()];
    const work = async (): Promise<void> => {
      for (let own = cases.shift(); own !== undefined; own = cases.shift()) {
        for (const event of own) if (!this.#signal.aborted) await this.#applyOne(event);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** @throws StorageFailure; then nothing goes on, because the next message would fail in the same way */
  async #applyOne(event: RecordedEvent): Promise<void> {
    const { stream } = event;
    for (let attempt = 1; !this.#signal.aborted; attempt++) {
      try {
        await applyWebhook(this.#ports, event);
        this.#left.delete(stream);
        return;
      } catch (error) {
        if (error instanceof StorageFailure) throw error;
        if (attempt < TRIES) {
          await pause(TRY_AGAIN_MS * attempt, this.#signal);
          continue;
        }
        const alarm = 'webhook_left_behind';
        const message = 'a message of CourtListener could not be applied; retrying every minute';
        this.#ports.logger.error({ err: error, stream, alarm }, message);
        this.#left.add(stream);
        await this.#save();
        return;
      }
    }
  }

  async #retryLeft(signal: AbortSignal): Promise<void> {
    const trouble = new Trouble(this.#ports.logger, { process: NAME });
    while (!signal.aborted) {
      try {
        for (const stream of [...this.#left]) {
          const [received] = await this.#ports.log.read(stream, { limit: 1 });
          if (received) await this.#applyOne(received);
          else this.#left.delete(stream);
        }
        trouble.recovered();
      } catch (error) {
        trouble.failed(error, 'messages that were set aside wait for the storage; retrying');
      }
      await pause(RETRY_LEFT_MS, signal);
    }
  }

  async #readCursor(): Promise<void> {
    const { log, readStore } = this.#ports;
    const { version, value } = await readStore.cell(NAME);
    this.#version = version;
    this.#saved = JSON.stringify(value);
    const at = typeof value?.position === 'string' ? value.position : null;
    const head = await log.head();
    // A position beyond the log's end is from before a restore. Starting again applies nothing twice.
    this.#position = at !== null && (head === null || at > head) ? null : at;
    for (const stream of Array.isArray(value?.left) ? value.left : []) this.#left.add(String(stream));
  }

  /** @throws LeaseLost if another process has moved the cursor */
  #save(): Promise<void> {
    // Sequential: each save uses the version that the previous one created.
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#saveNow());
    return this.#saving;
  }

  async #saveNow(): Promise<void> {
    const value = { position: this.#position, left: [...this.#left] };
    if (JSON.stringify(value) === this.#saved) return;
    if (!(await this.#ports.readStore.compareAndSet(NAME, this.#version, value))) throw new LeaseLost(NAME);
    this.#version++;
    this.#saved = JSON.stringify(value);
    this.#savedAt = performance.now();
  }
}

/** The docket of a message's first entry; null if it cannot be told. */
async function subjectOf({ payloads }: Pick<WebhookPorts, 'payloads'>, content: string): Promise<string | null> {
  try {
    const bytes = await payloads.get(content);
    const { entries } = JSON.parse(bytes?.toString() ?? '{}') as { readonly entries?: readonly JsonObject[] };
    return idOf(entries?.[0]?.docket as Json | undefined);
  } catch (error) {
    if (error instanceof StorageFailure) throw error;
    return null;
  }
}
