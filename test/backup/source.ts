/** A storage with a little of everything that a copy has to keep. */
import { randomUUID } from 'node:crypto';
import { ContentRedacted, contentStream } from '../../src/events/content.ts';
import { DeliveryScheduled, deliveryStream } from '../../src/events/delivery.ts';
import type { DomainEvent } from '../../src/events/event.ts';
import { LOG_IDENTITY_STREAM, LogFounded } from '../../src/events/log-identity.ts';
import { NO_STREAM, type Position, type StreamHead } from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { contextOf, NOON, note, TRACEPARENT } from '../storage/samples.ts';

export const LOG_ID = '11111111-2222-4333-8444-555555555555';
export const CASE = 'docket-cand-3:24-cv-00042';
export const GENESIS = 'GH7ome3EiwEr7tu9JuTh2dpYWBJK3z69Xm1ZE3MEE6JC';

export interface Filled {
  readonly kept: string;
  readonly redacted: string;
  readonly replacement: string;
  readonly gone: string;
  /** Position of the newest event of the case. */
  readonly shown: Position;
}

export const scheduled = (deliveryId: string, target: string, envelope: string) =>
  DeliveryScheduled.of({
    deliveryId,
    wallet: 'wallet',
    requestId: randomUUID(),
    payment: 'a'.repeat(64),
    caseId: '3:24-cv-00042',
    courtCode: 'cand',
    caseNumber: '3:24-cv-00042',
    target,
    origin: 'https://receiver.example',
    envelope,
    keepUntil: NOON,
    createdAt: NOON,
  });

export async function append(
  { log }: Pick<Storage, 'log'>,
  stream: string,
  events: readonly DomainEvent[],
  head: StreamHead = NO_STREAM,
): Promise<{ readonly head: StreamHead; readonly position: Position }> {
  // Some events belong to an exported trace.
  const traceparent = head.revision === -1 ? TRACEPARENT : undefined;
  const prepared = prepareAppend({ stream, head, events, context: contextOf(), recordedAt: NOON, traceparent });
  const { position } = await log.append(prepared);
  return { head: headAfter(prepared), position };
}

export const found = (storage: Pick<Storage, 'log'>, logId = LOG_ID) =>
  append(storage, LOG_IDENTITY_STREAM, [
    LogFounded.of({
      logId,
      network: 'solana:local',
      genesisHash: GENESIS,
      mint: 'mint',
      receiver: 'receiver',
      version: '2.0.1',
    }),
  ]);

/** An identity, a stream with several events, two callbacks, one replaced content, one gone, and a case clock. */
export async function fill(storage: Storage): Promise<Filled> {
  const { payloads, readStore } = storage;
  await found(storage);
  const put = (text: string) => payloads.put('target', Buffer.from(text));
  const [kept, redacted, gone] = [await put('kept '.repeat(100)), await put('redacted'), await put('gone')];
  const [first, second] = [randomUUID(), randomUUID()];
  await append(storage, deliveryStream(first), [scheduled(first, kept, redacted)]);
  const { head, position: shown } = await append(storage, CASE, ['one', 'two', 'drei — 三'].map(note));
  await append(storage, deliveryStream(second), [scheduled(second, kept, gone)]);
  const { position } = await append(storage, CASE, [note('four')], head);
  const replacement = await payloads.put('target', Buffer.from('nothing'));
  const redaction = {
    name: redacted,
    replacement,
    stream: deliveryStream(first),
    revision: 0,
    filingIds: [],
    reason: 'r',
  };
  await append(storage, contentStream(redacted), [ContentRedacted.of(redaction)]);
  await payloads.remove(redacted, replacement);
  await payloads.remove(gone);
  await readStore.compareAndSet(`case-clock-${CASE}`, 0, clockShowing(position));
  await readStore.compareAndSet('payload-housekeeping', 0, { position });
  void shown;
  return { kept, redacted, replacement, gone, shown: position };
}

export const clockShowing = (shown: Position) => ({
  version: 3,
  served: NOON,
  pending: null,
  oldestAsked: NOON,
  shown,
});
