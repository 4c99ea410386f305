/**
 * The table of callbacks: one row for each attempt when it has its outcome, then one for each attempt under way and for
 * each callback that was never attempted; and one for each callback that an operator ended. It has neither a URL nor a secret.
 */

import type { DeliveryScheduled } from '../../events/delivery.ts';
import { DELIVERY_EVENTS, type DeliveryEvent, deliveryOf } from '../../events/delivery.ts';
import type { DomainEvent, EventOf } from '../../events/event.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { ReadableLog } from '../readable-log.ts';
import { ownEvent, ownEvents } from './own-events.ts';
import { column, isWithin, type RowOf, type Selection, type Table } from './table.ts';

const DELIVERY_COLUMNS = {
  delivery_id: column('text', 'Id of the callback, and its Idempotency-Key.'),
  outcome: column(
    'text',
    '`acknowledged`, `failed`, `interrupted`, `under_way`, `not_attempted`, or `cancelled` by an operator.',
  ),
  attempt: column('integer', 'Number of the attempt, from 1; redeliveries are numbered separately.'),
  redelivery: column('boolean', 'Whether an operator requested it.'),
  started_at: column('time', 'When the attempt started.'),
  finished_at: column('time', 'When it ended.'),
  duration_ms: column('integer', 'How long the receiver took.'),
  response_code: column('integer', 'HTTP status of the receiver.'),
  failure_class: column('text', 'Why it failed.'),
  retry_after_seconds: column('integer', 'What the receiver asked to wait, if it did and the event says so.'),
  next_attempt_at: column('time', 'When the next attempt is due; empty if there is none.'),
  key_id: column('text', 'The key that signed it.'),
  scheduled_at: column('time', 'When the callback was scheduled, and its first attempt due.'),
  wallet: column('text', 'The wallet that paid for it.'),
  request_id: column('text', 'The request that it answers.'),
  payment: column('text', 'The payment that owes it, as in the table of payments.'),
  origin: column('text', 'Scheme, host and port of the receiver; `unusable` if the URL has none.'),
  court_code: column('text', 'Court of the case.'),
  case_number: column('text', 'Number of the case in its canonical form.'),
  stream: column('text', "The callback's stream."),
  revision: column('integer', "Revision of the row's event."),
  hash: column('text', "Hash of the row's event."),
} as const;

export type DeliveryRow = RowOf<typeof DELIVERY_COLUMNS>;

export const deliveries: Table = { columns: DELIVERY_COLUMNS, rows: deliveryRows };

/** How many callbacks are remembered; others are read again when they are attempted once more. */
const MOST_REMEMBERED = 10_000;

/** Rows by the time of their event: an attempt's outcome, its start, or the schedule. */
export async function* deliveryRows(
  log: ReadableLog,
  selection: Selection,
  mostRemembered = MOST_REMEMBERED,
): AsyncIterable<DeliveryRow> {
  const scheduled = new Map<string, DeliveryRow>();
  /** Callbacks without an attempt, and attempts without an outcome. */
  const open = new Map<string, { readonly row: DeliveryRow; readonly at: string }>();

  async function scheduleOf(stream: string): Promise<DeliveryRow | null> {
    const known = scheduled.get(stream);
    if (known) return known;
    const [first] = await log.read(stream, { limit: 1 });
    const event = first && ownEvent(first)?.event;
    return first && event && isDeliveryEvent(event) && event.type === 'DeliveryScheduled' ? opened(event, first) : null;
  }
  function remember(stream: string, row: DeliveryRow): void {
    scheduled.set(stream, row);
    const [oldest] = scheduled.keys();
    if (scheduled.size > mostRemembered && oldest !== undefined) scheduled.delete(oldest);
  }
  const isSelected = (row: DeliveryRow, at: string): boolean =>
    (selection.wallet === null || row.wallet === selection.wallet) && isWithin(at, selection);

  for await (const { recorded, event } of ownEvents(log, ['delivery-'])) {
    const { stream } = recorded;
    const at = recorded.metadata.recordedAt;
    if (!isDeliveryEvent(event)) continue;
    if (event.type === 'DeliveryScheduled') {
      const row = opened(event, recorded);
      remember(stream, row);
      open.set(stream, { row, at });
    } else if (event.type === 'DeliveryCancelled') {
      const row = await scheduleOf(stream);
      open.delete(stream);
      const { cancelledAt } = event.data;
      const ended = { outcome: 'cancelled', finished_at: cancelledAt, next_attempt_at: null, ...placeOf(recorded) };
      if (row && isSelected(row, at)) yield { ...row, ...ended };
    } else if (event.type === 'DeliveryAttemptStarted' || event.type === 'DeliveryAttemptFinished') {
      const row = await scheduleOf(stream);
      if (!row) continue;
      const attempted = { ...row, ...attemptOf(event), ...placeOf(recorded) };
      if (event.type === 'DeliveryAttemptStarted') open.set(stream, { row: attempted, at });
      else {
        open.delete(stream);
        if (isSelected(attempted, at)) yield attempted;
      }
    }
  }
  for (const { row, at } of open.values()) if (isSelected(row, at)) yield row;
}

const TYPES: ReadonlySet<string> = new Set(DELIVERY_EVENTS.map(({ type }) => type));
const isDeliveryEvent = (event: DomainEvent): event is DeliveryEvent => TYPES.has(event.type);

const placeOf = ({ stream, revision, metadata }: RecordedEvent) => ({ stream, revision, hash: metadata.hash });

const opened = ({ data }: EventOf<typeof DeliveryScheduled>, recorded: RecordedEvent): DeliveryRow => ({
  delivery_id: deliveryOf(recorded.stream),
  outcome: 'not_attempted',
  attempt: null,
  redelivery: null,
  started_at: null,
  finished_at: null,
  duration_ms: null,
  response_code: null,
  failure_class: null,
  retry_after_seconds: null,
  next_attempt_at: data.createdAt,
  key_id: null,
  scheduled_at: data.createdAt,
  wallet: data.wallet,
  request_id: data.requestId,
  payment: data.payment,
  origin: data.origin,
  court_code: data.courtCode,
  case_number: data.caseNumber,
  ...placeOf(recorded),
});

function attemptOf(
  event: Extract<DeliveryEvent, { type: 'DeliveryAttemptStarted' | 'DeliveryAttemptFinished' }>,
): Partial<DeliveryRow> {
  const { attempt, redelivery, keyId: key_id, startedAt: started_at } = event.data;
  const common = { attempt, redelivery, key_id, started_at };
  if (event.type === 'DeliveryAttemptStarted') return { ...common, outcome: 'under_way', next_attempt_at: null };
  const { outcome, finishedAt, durationMs, responseCode, failureClass, retryAfterSeconds, nextAttemptAt } = event.data;
  return {
    ...common,
    outcome,
    finished_at: finishedAt,
    duration_ms: durationMs,
    response_code: responseCode,
    failure_class: failureClass,
    retry_after_seconds: retryAfterSeconds ?? null,
    next_attempt_at: nextAttemptAt,
  };
}
