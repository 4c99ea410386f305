/** What a push says beside its body: the parameters, which mirror those of `docket import`, and the form of the body. */
import type { IncomingHttpHeaders } from 'node:http';
import { findCourt, nearestCourts } from '../../courts/registry.ts';
import { isProblem, type Problem, problem } from '../../errors.ts';
import type { PushSource } from '../../processes/operator-acts.ts';
import { type Instant, MICROS_PER_SECOND, type Micros, parseTimestamp, toInstant } from '../../runtime/instant.ts';
import type { BodyForm } from '../../sources/push/read-body.ts';
import { echo, type Issue, refuseFor } from '../parameters/issues.ts';
import { readRequestParameters } from '../parameters/request-parameters.ts';

export interface PushRequest {
  /** The only court whose dockets are taken; null for all courts of the token. */
  readonly court: string | null;
  readonly partial: boolean;
  /** When the source was read, if the caller says it. */
  readonly askedAt: Instant | null;
  readonly form: BodyForm;
  readonly isCompressed: boolean;
}

interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const LINES_TYPE = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines)\s*(?:;|$)/i;
const TYPES =
  'Send Content-Type: application/json for one docket or a list, application/x-ndjson for one docket per line.';

/** Reads everything but the body. */
export function readPushRequest(asked: Asked, source: PushSource, now: Micros): PushRequest | Problem {
  const form = formOf(asked.headers);
  if (typeof form !== 'string') return form;
  const isCompressed = compressionOf(asked.headers);
  if (typeof isCompressed !== 'boolean') return isCompressed;
  const { values, issues: malformed } = readRequestParameters(asked, ['court', 'partial', 'asked_at'], {
    sandbox: false,
  });
  const issues: Issue[] = [...malformed];
  const partial = values.get('partial') ?? 'false';
  if (partial !== 'true' && partial !== 'false') {
    issues.push(
      fault('partial', partial, 'true if the body holds only a part of each docket, otherwise false.', 'true'),
    );
  }
  const askedAt = readAskedAt(values.get('asked_at'), now, issues);
  const court = readCourt(values.get('court'), source, issues);
  const [first, ...more] = issues;
  if (first) return refuseFor([first, ...more]);
  if (court !== null && isProblem(court)) return court;
  return { court: court?.code ?? null, partial: partial === 'true', askedAt, form, isCompressed };
}

const fault = (parameter: string, received: string, rule: string, example: string): Issue => ({
  parameter,
  code: 'invalid_parameter',
  received: echo(received),
  rule,
  example,
});

function formOf({ 'content-type': type = '' }: IncomingHttpHeaders): BodyForm | Problem {
  if (JSON_TYPE.test(type)) return 'json';
  if (LINES_TYPE.test(type)) return 'lines';
  return problem('unsupported_media_type', { hint: TYPES }, 'The body must be JSON or NDJSON.');
}

function compressionOf({ 'content-encoding': coding = 'identity' }: IncomingHttpHeaders): boolean | Problem {
  const name = coding.trim().toLowerCase();
  if (name === 'identity' || name === '') return false;
  if (name === 'gzip' || name === 'x-gzip') return true;
  return problem(
    'unsupported_media_type',
    { hint: 'Send the body as it is, or with Content-Encoding: gzip.' },
    'The body has an encoding that is not accepted.',
  );
}

/** By how much the clock of a scraper may be ahead of this one; such a time counts as now. */
const CLOCKS_DIFFER: Micros = 300 * MICROS_PER_SECOND;

function readAskedAt(text: string | undefined, now: Micros, issues: Issue[]): Instant | null {
  if (text === undefined) return null;
  const askedAt = parseTimestamp(text);
  const example = toInstant(now);
  const latest = toInstant(now + CLOCKS_DIFFER);
  if (askedAt === null) {
    issues.push(
      fault('asked_at', text, 'ISO-8601 with an offset: when the data was fetched from the source.', example),
    );
  } else if (askedAt > latest) {
    issues.push(
      fault('asked_at', text, 'at most 5 minutes ahead: when the data was fetched from the source.', example),
    );
  }
  return askedAt !== null && askedAt > example ? example : askedAt;
}

function readCourt(
  code: string | undefined,
  source: PushSource,
  issues: Issue[],
): { readonly code: string } | Problem | null {
  if (code === undefined) return null;
  const court = findCourt(code);
  if (!court) {
    const near = nearestCourts(code.slice(0, 64), 1)[0]?.code ?? 'cand';
    issues.push(fault('court', code, 'the code of a court, as in GET /v2/status.', near));
    return null;
  }
  if (source.courts === null || source.courts.has(court.code)) return court;
  return problem('court_not_allowed', { received: court.code, allowed_courts: [...source.courts] });
}
