/** Reads the payments and the receivers of the log into the state of a reconciliation. */
import { decodeEvent, UnknownEventType } from '../../events/codec.ts';
import { LOG_IDENTITY_STREAM, LogFounded, ReceiverChanged } from '../../events/log-identity.ts';
import { PAYMENT_STREAM_EVENTS, type PaymentEvent, paymentOf } from '../../events/payment.ts';
import { UnreadableEvent } from '../../events/unreadable-event.ts';
import { associatedTokenAddress, isAddress } from '../../solana/addresses.ts';
import type { EventLog, RecordedEvent } from '../../storage/event-log.ts';
import { readable } from '../replay/replay.ts';
import type { Receivers } from './judge.ts';
import { foldPayment, type LoggedPayment } from './logged-payment.ts';
import { type ReconcileState, StateUnusable } from './state.ts';

/** Events whose effects are stored together. */
const BATCH = 1_000;
const PAYMENT_TYPES: ReadonlySet<string> = new Set(PAYMENT_STREAM_EVENTS.map(({ type }) => type));

/** What the log says about itself. Stored, so that a later run notices another log. */
export interface LogTarget {
  readonly logId: string | null;
  readonly genesisHash: string | null;
}

/**
 * Reads on from where the state ended.
 * @param progress called with the number of events read
 * @throws StateUnusable if the log no longer holds the event where it ended
 */
export async function readLog(
  log: Pick<EventLog, 'read' | 'readAll'>,
  state: ReconcileState,
  progress: (events: number) => void,
): Promise<void> {
  await assertContinues(log, state);
  const unread = state.fact('position');
  const filter = { by: 'streams', prefixes: ['payment-', LOG_IDENTITY_STREAM] } as const;
  let batch: (RecordedEvent | UnreadableEvent)[] = [];
  let count = 0;
  const store = (): void => {
    state.together(() => {
      const payments = new Payments(state);
      for (const read of batch) apply(state, payments, read);
      payments.store();
      const last = batch.at(-1);
      const position = last instanceof UnreadableEvent ? last.place.position : last?.position;
      if (position !== undefined) state.setFact('position', position);
      const mark = batch.findLast((read) => !(read instanceof UnreadableEvent)) as RecordedEvent | undefined;
      if (mark) state.setFact('mark', JSON.stringify(markOf(mark)));
    });
    count += batch.length;
    batch = [];
    progress(count);
  };
  for await (const read of readable(log, filter, unread)) {
    batch.push('event' in read ? read.event : read.unreadable);
    if (batch.length === BATCH) store();
  }
  store();
}

const markOf = ({ stream, revision, position, metadata }: RecordedEvent) => ({
  ...{ stream, revision, position },
  hash: metadata.hash,
});

/** A log that was cut since would have nothing to read on from, and its missing payments would still count as there. */
async function assertContinues(log: Pick<EventLog, 'read'>, state: ReconcileState): Promise<void> {
  const text = state.fact('mark');
  // Nothing was read, or by an earlier version.
  if (text === null) return;
  const mark = JSON.parse(text) as ReturnType<typeof markOf>;
  const found = await eventAt(log, mark);
  if (found?.position === mark.position && found.metadata.hash === mark.hash) return;
  const standing = found === undefined ? 'is missing' : 'is another';
  throw new StateUnusable(
    `the log was changed, cut or restored since: its event ${mark.stream} ${mark.revision} ${standing}`,
    true,
  );
}

async function eventAt(
  log: Pick<EventLog, 'read'>,
  { stream, revision }: { readonly stream: string; readonly revision: number },
): Promise<RecordedEvent | undefined> {
  try {
    return (await log.read(stream, { from: revision, limit: 1 }))[0];
  } catch (error) {
    if (error instanceof UnreadableEvent) return undefined;
    throw error;
  }
}

/** The payments that a batch changes, each stored once at its end. */
class Payments {
  readonly #state: ReconcileState;
  readonly #changed = new Map<string, LoggedPayment>();

  constructor(state: ReconcileState) {
    this.#state = state;
  }

  apply(recorded: RecordedEvent): void {
    const { stream, type, metadata } = recorded;
    if (paymentOf(stream) === null || !PAYMENT_TYPES.has(type)) return;
    const event = decodeEvent(recorded) as PaymentEvent;
    const before = this.#changed.get(stream) ?? this.#state.payment(stream);
    const payment = foldPayment(before, event, { stream, recordedAt: metadata.recordedAt });
    if (payment) this.#changed.set(stream, payment);
  }

  store(): void {
    for (const payment of this.#changed.values()) this.#state.setPayment(payment);
  }
}

function apply(state: ReconcileState, payments: Payments, read: RecordedEvent | UnreadableEvent): void {
  if (read instanceof UnreadableEvent) {
    noteUnreadable(state, read);
    return;
  }
  try {
    if (read.stream === LOG_IDENTITY_STREAM) applyIdentity(state, read);
    else payments.apply(read);
  } catch (error) {
    if (error instanceof UnreadableEvent) noteUnreadable(state, error);
    else if (!(error instanceof UnknownEventType)) throw error;
  }
}

function applyIdentity(state: ReconcileState, recorded: RecordedEvent): void {
  const event = decodeEvent(recorded);
  const { data } = event as { data: Record<string, string> };
  if (event.type === LogFounded.type && state.fact('logId') === null) {
    state.setFact('logId', data.logId ?? '');
    state.setFact('genesisHash', data.genesisHash ?? '');
    state.setFact('mint', data.mint ?? '');
    addReceiver(state, data.receiver ?? '');
  }
  if (event.type === ReceiverChanged.type) addReceiver(state, data.receiver ?? '');
}

const receiversOf = (state: ReconcileState): readonly string[] => JSON.parse(state.fact('receivers') ?? '[]');

function addReceiver(state: ReconcileState, receiver: string): void {
  const known = receiversOf(state);
  if (!known.includes(receiver)) state.setFact('receivers', JSON.stringify([...known, receiver]));
}

/** Places of events that cannot be read: each is a difference, since its payment is then unknown. */
export const unreadableIn = (
  state: ReconcileState,
): readonly { readonly stream: string | null; readonly problem: string }[] =>
  JSON.parse(state.fact('unreadable') ?? '[]');

const MOST_UNREADABLE = 1_000;

function noteUnreadable(state: ReconcileState, { place, message }: UnreadableEvent): void {
  const known = unreadableIn(state);
  if (known.length > MOST_UNREADABLE) return;
  const isOneTooMany = known.length === MOST_UNREADABLE;
  const noted = isOneTooMany
    ? { stream: null, problem: 'and more: docket audit verify lists them all' }
    : { stream: place.stream ?? null, problem: message };
  state.setFact('unreadable', JSON.stringify([...known, noted]));
}

/** The receivers over the log's life. In a log that never recorded them, those that its payments name. */
export function receiversIn(state: ReconcileState): Receivers {
  const recorded = receiversOf(state);
  const mint = state.fact('mint');
  const pairs = new Set(mint ? recorded.map((owner) => `${owner} ${mint}`) : []);
  if (pairs.size === 0) {
    for (const { payment } of state.payments()) pairs.add(`${payment.payTo} ${payment.mint}`);
  }
  const owned = [...pairs].map((pair) => pair.split(' ') as [string, string]);
  const usable = owned.filter(([owner, token]) => isAddress(owner) && isAddress(token));
  return {
    owners: new Set(owned.map(([owner]) => owner)),
    mints: new Set(owned.map(([, token]) => token)),
    accounts: new Set(usable.map(([owner, token]) => associatedTokenAddress(owner, token))),
  };
}

export const targetIn = (state: ReconcileState): LogTarget => ({
  logId: state.fact('logId'),
  genesisHash: state.fact('genesisHash'),
});
