/** Reads the log in order for people and programs: selects events, and checks each stream as it is read. */
import { deliveryOf } from '../../events/delivery.ts';
import { paymentOf, paymentStream } from '../../events/payment.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { EventFilter, EventLog, Position, RecordedEvent } from '../../storage/event-log.ts';
import { FAMILIES, type Family, shortStream } from './families.ts';
import { StreamChains } from './stream-chains.ts';

export interface Replay {
  readonly family: Family;
  readonly wallet: string | null;
  readonly request: string | null;
  /** In full or as `shortStream`. */
  readonly stream: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
  /** Null for all. */
  readonly types: ReadonlySet<string> | null;
}

export type Replayed =
  /** `problem` says what does not hold. Such an event is part of the result even outside the asked time and types. */
  { readonly event: RecordedEvent; readonly problem: string | null } | { readonly unreadable: UnreadableEvent };

/**
 * The selected events in log order. Every event of the family is checked from the start of its stream.
 * @param onRead called for every event that was read, selected or not
 */
export async function* replay(log: EventLog, asked: Replay, onRead: () => void = () => {}): AsyncIterable<Replayed> {
  const chains = new StreamChains(log);
  const isSelected = streamSelection(asked);
  for await (const read of readable(log, filterOf(asked))) {
    onRead();
    if ('unreadable' in read) {
      const { stream } = read.unreadable.place;
      chains.skip(read.unreadable.place);
      // Its wallet and request are unknown, so only a stream's name excludes it.
      if (stream === undefined || isStream(asked, stream)) yield read;
      continue;
    }
    const { event } = read;
    if (!isStream(asked, event.stream)) continue;
    const problem = await chains.check(event);
    if (!isSelected(event)) continue;
    if (problem !== null || isWanted(asked, event)) yield { event, problem };
  }
}

export const filterOf = ({ stream, family }: Pick<Replay, 'stream' | 'family'>): EventFilter => {
  const prefixes: readonly string[] = stream === null ? FAMILIES[family] : [stream];
  return prefixes.length ? { by: 'streams', prefixes } : { by: 'all' };
};

const isStream = ({ stream }: Replay, name: string): boolean =>
  stream === null || name === stream || shortStream(name) === stream;

const isWanted = ({ from, to, types }: Replay, { type, metadata: { recordedAt } }: RecordedEvent): boolean =>
  (from === null || recordedAt >= from) && (to === null || recordedAt <= to) && (types?.has(type) ?? true);

/** Streams that belong to one request and one wallet as a whole. */
const isOfOne = (stream: string): boolean => paymentOf(stream) !== null || deliveryOf(stream) !== null;

/**
 * Whether an event belongs to the asked wallet and request. The first events of a payment and of a delivery name both;
 * the later ones belong to the same. A wallet's stream and a docket serve many requests, so there each event counts.
 */
function streamSelection({ wallet, request }: Replay): (event: RecordedEvent) => boolean {
  if (wallet === null && request === null) return () => true;
  const ofWallet = new Set<string>();
  const ofRequest = new Set<string>();
  const names = (known: ReadonlySet<string>, { data, stream }: RecordedEvent): boolean =>
    known.has(stream) || (typeof data.payment === 'string' && known.has(paymentStream(data.payment)));
  return (event) => {
    const { data, stream, metadata } = event;
    const byWallet =
      wallet === null || data.wallet === wallet || stream === `wallet-${wallet}` || names(ofWallet, event);
    if (byWallet && wallet !== null) ofWallet.add(stream);
    const byRequest =
      request === null || data.requestId === request || metadata.requestId === request || names(ofRequest, event);
    if (byRequest && request !== null && isOfOne(stream)) ofRequest.add(stream);
    return byWallet && byRequest;
  };
}

/** Every event of a filter. An event that cannot be read is reported in its place, and reading continues after it. */
export async function* readable(
  log: Pick<EventLog, 'readAll'>,
  filter: EventFilter,
  after: Position | null = null,
): AsyncIterable<{ readonly event: RecordedEvent } | { readonly unreadable: UnreadableEvent }> {
  let from = after;
  for (;;) {
    try {
      for await (const { events, position } of log.readAll(from, filter)) {
        for (const event of events) yield { event };
        from = position;
      }
      return;
    } catch (error) {
      const place: Position | undefined = error instanceof UnreadableEvent ? error.place.position : undefined;
      if (place === undefined || (from !== null && place <= from)) throw error;
      yield { unreadable: error as UnreadableEvent };
      from = place;
    }
  }
}
