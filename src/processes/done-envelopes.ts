/**
 * Removes the envelopes of callbacks that were acknowledged some time ago. It follows the outcomes of attempts with a
 * cursor, a limited number at a time; a killed round repeats at most one batch.
 */
import { ACKNOWLEDGED_RETENTION, doneEnvelope } from '../commands/delivery/retention.ts';
import { DeliveryAttemptFinished, deliveryOf } from '../events/delivery.ts';
import { UnreadableEvent } from '../events/unreadable-event.ts';
import { type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface DoneEnvelopesPorts {
  readonly log: EventLog;
  readonly payloads: Pick<PayloadStore, 'remove'>;
  readonly readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>;
}

const CELL = 'payload-housekeeping-envelopes';
/** Maximum number of outcomes examined per round, apart from the rest of a batch. */
const MOST_EXAMINED = 5_000;

/**
 * @param now the latest possible time
 * @returns how many envelopes were removed
 */
export async function removeDoneEnvelopes(
  { log, payloads, readStore }: DoneEnvelopesPorts,
  now: Micros,
  signal?: AbortSignal,
): Promise<number> {
  const before = toInstant(now - ACKNOWLEDGED_RETENTION);
  const { value, ...cell } = await readStore.cell(CELL);
  let { version } = cell;
  const head = await log.head();
  const at = typeof value?.position === 'string' ? value.position : null;
  // A position beyond the log's end is from before a restore. Starting again loses nothing.
  let cursor: Position | null = at !== null && (head === null || at > head) ? null : at;
  let removed = 0;
  let examined = 0;
  const types = [DeliveryAttemptFinished.type];
  for await (const { events, position } of log.readAll(cursor, { by: 'types', types })) {
    let reached: Position | null = position;
    let last: Position | null = cursor;
    for (const event of events) {
      if (signal?.aborted) return removed;
      if (isYoung(event)) {
        reached = last;
        break;
      }
      last = event.position;
      examined++;
      removed += await removeOf(event);
    }
    // If another process has moved the cursor, that process continues.
    if (reached !== cursor && !(await readStore.compareAndSet(CELL, version++, { position: reached }))) return removed;
    cursor = reached;
    if (reached !== position || examined >= MOST_EXAMINED) break;
  }
  return removed;

  /** Later events are younger still, unless a clock was set back: those only wait longer. */
  function isYoung({ metadata, data, stream }: RecordedEvent): boolean {
    if (metadata.recordedAt >= before) return true;
    // Another program may write events of this name into streams of its own.
    return deliveryOf(stream) !== null && String(data.finishedAt) >= before;
  }

  async function removeOf({ id, stream, data }: RecordedEvent): Promise<number> {
    if (deliveryOf(stream) === null || data.outcome === 'interrupted') return 0;
    const recorded = await log.read(stream);
    // Of several attempts, the last one decides.
    if (recorded.findLast(({ type }) => type === DeliveryAttemptFinished.type)?.id !== id) return 0;
    const envelope = envelopeIn(recorded);
    if (envelope === null) return 0;
    await payloads.remove(envelope);
    return 1;
  }
}

/** Null too for a delivery that somebody damaged: its envelope goes when its time is over. */
function envelopeIn(recorded: readonly RecordedEvent[]): string | null {
  try {
    return doneEnvelope(recorded);
  } catch (error) {
    if (error instanceof UnreadableEvent) return null;
    throw error;
  }
}
