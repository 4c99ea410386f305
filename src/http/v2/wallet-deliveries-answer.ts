/** The body of the delivery history, real or from fixtures. */

import { SANDBOX_KEY_ID, SANDBOX_WALLET } from '../../callbacks/sandbox-key.ts';
import type { DeliveryStatus } from '../../commands/delivery/delivery.ts';
import { hintOf } from '../../events/failure-class.ts';
import { courtKey, type DeliveryRecord, type LoggedAttempt, spanOf } from '../../projections/deliveries.ts';
import type { DeliveryPage } from '../../queries/delivery-history.ts';
import { type Clock, type Instant, MICROS_PER_SECOND, toInstant } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { type Meta, metaOf } from '../meta.ts';
import type { SandboxAnswer } from '../paid/paid-call.ts';
import { cursorOf, type DeliveriesRequest } from '../parameters/deliveries-request.ts';

/** What a history shows besides its records. */
interface Surroundings {
  /** The URL in a blob, for the wallet that sent it; null once it is no longer stored. */
  urlOf(target: string): string | null;
  /** Since when callbacks to an origin are paused; null if they are not. */
  pausedSince(origin: string): Instant | null;
}

/** An operator's end of a delivery is shown as a failure with `cancelled_at`, so callers need no further status. */
export const storedStatuses = (status: DeliveriesRequest['status']): readonly DeliveryStatus[] | null =>
  status === null ? null : status === 'failed' ? ['failed', 'cancelled'] : [status];

export const deliveriesBody = (
  meta: Meta,
  wallet: string,
  { deliveries, next }: DeliveryPage,
  surroundings: Surroundings,
) => ({
  meta,
  wallet,
  deliveries: deliveries.map((record) => shownDelivery(record, surroundings)),
  next_cursor: next && cursorOf(next),
});

const PAUSED_HINT =
  'We have paused callbacks to this host. None of the seven attempts is used up; the next one is made when it is resumed.';
const CANCELLED_HINT = 'We have ended this delivery. The answer itself stays at the Content-Location of the paid call.';

function shownDelivery(record: DeliveryRecord, { urlOf, pausedSince }: Surroundings) {
  const callbackUrl = urlOf(record.target);
  const paused_since = record.nextAttemptAt === null ? null : pausedSince(record.origin);
  return {
    ...shownFacts(record, callbackUrl),
    cancelled_at: record.cancelledAt ?? null,
    paused_since,
    hint: record.cancelledAt ? CANCELLED_HINT : paused_since && PAUSED_HINT,
    attempt_log: record.attemptLog.map(shownAttempt),
  };
}

const shownFacts = (record: DeliveryRecord, callbackUrl: string | null) => ({
  delivery_id: record.deliveryId,
  request_id: record.requestId,
  case_id: record.caseId,
  court_code: record.courtCode,
  callback_url: callbackUrl && shownUrl(callbackUrl),
  status: record.status === 'cancelled' ? 'failed' : record.status,
  attempts: record.attempts,
  created_at: record.createdAt,
  first_attempt_at: record.firstAttemptAt,
  last_attempt_at: record.lastAttemptAt,
  next_attempt_at: record.nextAttemptAt,
  last_response_code: record.lastResponseCode,
  idempotency_key: record.deliveryId,
});

/** Query and credentials of a callback URL may be secrets of its receiver: they are stored for the call, never shown. */
function shownUrl(url: string): string | null {
  const parsed = parseUrl(url);
  if (parsed === null) return null;
  const { protocol, host, pathname } = parsed;
  return protocol === 'https:' || protocol === 'http:' ? `${protocol}//${host}${pathname}` : null;
}

const shownAttempt = ({ attempt, redelivery, startedAt, keyId, ...outcome }: LoggedAttempt) => ({
  attempt,
  redelivery,
  started_at: startedAt,
  duration_ms: outcome.durationMs,
  response_code: outcome.responseCode,
  failure_class: outcome.failureClass,
  hint: outcome.failureClass && hintOf(outcome.failureClass),
  signature_key_id: keyId,
});

/** The sandbox's history: one acknowledged delivery, and before it one whose receiver still fails. */
export function sandboxDeliveries(request: DeliveriesRequest, clock: Clock): SandboxAnswer {
  return ({ requestId, tag }) => {
    const now = clock.now();
    const meta = metaOf({ request_id: requestId, queried_at: toInstant(now), sandbox: true, tag });
    const { status, court, caseNumber, since, after, limit } = request;
    const all = fixtures(now);
    const begin = after === null ? 0 : all.findIndex(({ deliveryId }) => deliveryId === after.deliveryId) + 1;
    const shown = all
      .slice(begin)
      .filter(
        (record) =>
          (status === null || record.status === status) &&
          (court === null || record.court === court) &&
          (caseNumber === null || record.caseNumber === caseNumber) &&
          (since === null || (record.lastAttemptAt ?? '') > since),
      );
    const last = shown.slice(0, limit).at(-1);
    const next = last && shown.length > limit ? { createdAt: last.createdAt, deliveryId: last.deliveryId } : null;
    const page = { deliveries: shown.slice(0, limit), next };
    return JSON.stringify(
      deliveriesBody(meta, SANDBOX_WALLET, page, {
        urlOf: () => 'https://agent.example/callbacks?of=docket-monitor',
        pausedSince: () => null,
      }),
    );
  };
}

const COURT = 'cand';
const CASE = '3:24-cv-01234';

function fixtures(now: number): readonly DeliveryRecord[] {
  const acknowledged = fixture('5a2d2b1e-7c0f-4f43-9a51-0d6c1f0b7e11', now - 90 * MICROS_PER_SECOND);
  const failing = fixture('c1f7a7a4-2b6e-4c0b-8d5b-6a3f9e2d4c22', now - 120 * MICROS_PER_SECOND);
  return [
    {
      ...acknowledged,
      status: 'succeeded',
      nextAttemptAt: null,
      lastResponseCode: 200,
      ...attempted(acknowledged, 200),
    },
    {
      ...failing,
      status: 'retrying',
      nextAttemptAt: toInstant(now + 61 * MICROS_PER_SECOND),
      lastResponseCode: 503,
      ...attempted(failing, 503),
    },
  ];
}

function fixture(deliveryId: string, created: number): DeliveryRecord {
  const createdAt = toInstant(created);
  return {
    deliveryId,
    wallet: SANDBOX_WALLET,
    requestId: deliveryId,
    caseId: CASE,
    courtCode: COURT,
    court: courtKey(COURT),
    caseNumber: CASE,
    target: '',
    origin: 'https://agent.example',
    status: 'pending',
    attempts: 0,
    createdAt,
    firstAttemptAt: null,
    lastAttemptAt: null,
    nextAttemptAt: createdAt,
    lastResponseCode: null,
    span: spanOf(createdAt, createdAt),
    attemptLog: [],
  };
}

const attempted = ({ createdAt: startedAt }: DeliveryRecord, responseCode: number) => ({
  attempts: 1,
  firstAttemptAt: startedAt,
  lastAttemptAt: startedAt,
  attemptLog: [
    {
      attempt: 1,
      redelivery: false,
      startedAt,
      durationMs: 84,
      responseCode,
      failureClass: responseCode < 300 ? null : ('http_5xx' as const),
      keyId: SANDBOX_KEY_ID,
    },
  ],
});
