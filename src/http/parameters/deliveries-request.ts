import { z } from 'zod';
import type { DeliveryStatus } from '../../commands/delivery/delivery.ts';
import type { Problem } from '../../errors.ts';
import { courtKey } from '../../projections/deliveries.ts';
import type { DeliveryPlace } from '../../queries/delivery-history.ts';
import { Instant, type Micros } from '../../runtime/instant.ts';
import { checkChoice, checkIds } from './case-query.ts';
import { DEFAULT_DELIVERIES, MAX_DELIVERIES, PARAMETERS } from './described-parameters.ts';
import { echo, type Issue, refuseFor, soundInto } from './issues.ts';
import { readRequestParameters, type SentRequest } from './request-parameters.ts';
import { checkTimestamp } from './timestamps.ts';

export interface DeliveriesRequest {
  readonly status: DeliveryStatus | null;
  readonly limit: number;
  /** The page starts after this delivery; null: with the newest. */
  readonly after: DeliveryPlace | null;
  /** Only deliveries whose last attempt is later than this. */
  readonly since: Instant | null;
  readonly court: string | null;
  /** Canonical if the court is given too, otherwise as sent. */
  readonly caseNumber: string | null;
  /** Whether the sandbox is asked for, which is free. */
  readonly sandbox: boolean;
}

const NAMES = ['status', 'limit', 'cursor', 'since', 'case_id', 'court_code'] as const;

/**
 * Reads `GET /v2/wallet/deliveries` (docs/design/interface.md#4.7), with every issue at once. All parameters are optional.
 */
export function readDeliveriesRequest(request: SentRequest, now: Micros): DeliveriesRequest | Problem {
  const { values, sandbox, issues } = readRequestParameters(request, NAMES);
  return checkDeliveries(values, now, { sandbox, issues });
}

/** The same for values from any transport. */
function checkDeliveries(
  values: ReadonlyMap<string, string>,
  now: Micros,
  { sandbox, issues: found }: { readonly sandbox: boolean; readonly issues: readonly Issue[] },
): DeliveriesRequest | Problem {
  const issues = [...found];
  const sound = soundInto(issues);
  const status = sound(checkChoice('status', values.get('status'), PARAMETERS.status.schema.options));
  const limit = sound(checkLimit(values.get('limit')));
  const after = sound(checkCursor(values.get('cursor')));
  const since = sound(checkSince(values.get('since'), now));
  const [caseId, courtCode] = [sound(checkFilter('case_id', values)), sound(checkFilter('court_code', values))];
  const ids = checkIds(caseId, courtCode);
  issues.push(...ids.issues);
  const [first, ...others] = issues;
  if (first) return refuseFor([first, ...others]);
  return {
    status,
    limit: limit ?? DEFAULT_DELIVERIES,
    after,
    since,
    court: courtCode === null ? null : courtKey(courtCode),
    caseNumber: ids.ids?.caseNumber.canonical ?? caseId?.trim() ?? null,
    sandbox,
  };
}

/** An empty filter is probably a mistake: its caller would pay for an unfiltered history. */
function checkFilter(
  name: 'case_id' | 'court_code',
  values: ReadonlyMap<string, string>,
): string | null | { readonly issue: Issue } {
  const sent = values.get(name);
  if (sent === undefined || sent.trim() !== '') return sent ?? null;
  return { issue: fault(name, sent, 'Must not be empty; omit it for all.', PARAMETERS[name].example) };
}

function checkLimit(sent: string | undefined): number | null | { readonly issue: Issue } {
  if (sent === undefined) return null;
  const limit = /^\d{1,9}$/.test(sent.trim()) ? Number(sent) : 0;
  if (limit >= 1 && limit <= MAX_DELIVERIES) return limit;
  const rule = `A whole number from 1 to ${MAX_DELIVERIES}.`;
  return { issue: fault('limit', sent, rule, PARAMETERS.limit.example) };
}

function checkSince(sent: string | undefined, now: Micros): Instant | null | { readonly issue: Issue } {
  if (sent === undefined) return null;
  const checked = checkTimestamp('since', sent, now);
  return typeof checked === 'string' ? checked : { issue: checked };
}

const Cursor = z.tuple([Instant, z.uuid()]);

/** The end of a page as an opaque cursor for the caller. */
export const cursorOf = ({ createdAt, deliveryId }: DeliveryPlace): string =>
  Buffer.from(JSON.stringify([createdAt, deliveryId])).toString('base64url');

function checkCursor(sent: string | undefined): DeliveryPlace | null | { readonly issue: Issue } {
  if (sent === undefined) return null;
  const place = placeOf(sent);
  if (place) return place;
  return {
    issue: fault('cursor', sent, 'next_cursor of the previous page, unchanged; omit it for the first page.', null),
  };
}

function placeOf(sent: string): DeliveryPlace | null {
  try {
    const parsed = Cursor.safeParse(JSON.parse(Buffer.from(sent, 'base64url').toString()));
    return parsed.success ? { createdAt: parsed.data[0], deliveryId: parsed.data[1] } : null;
  } catch {
    return null;
  }
}

const fault = (parameter: string, sent: string, rule: string, example: string | null): Issue => ({
  parameter,
  code: 'invalid_parameter',
  received: echo(sent),
  rule,
  example,
});
