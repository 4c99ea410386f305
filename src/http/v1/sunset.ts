/** How long version 1 of the API lasts, and how each of its answers says so (docs/design/interface.md#9 and #v1). */
import { type Problem, problem } from '../../errors.ts';
import { MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { plainPath } from '../route-table.ts';

/** When version 2 took its place. */
const DEPRECATED_SINCE: Micros = toMicros('2026-04-28T00:00:00.000000Z');
/** The first moment at which nothing of version 1 is answered any more. */
export const V1_ENDS: Micros = toMicros('2027-04-28T00:00:00.000000Z');

const SUCCESSORS: ReadonlyMap<string, string> = new Map(
  ['case', 'monitor', 'status'].map((name) => [`/v1/${name}`, `/v2/${name}`]),
);
/** What to read where nothing of version 1 stood. */
const DOCUMENTATION = '/docs';

/** Whether a request target is of version 1, whether anything stands there or not. */
export function isV1(target: string): boolean {
  if (target.startsWith('/v2/')) return false;
  const path = plainPath(target);
  return path === '/v1' || path.startsWith('/v1/');
}

const successorOf = (target: string): string => SUCCESSORS.get(plainPath(target)) ?? DOCUMENTATION;

/** Why a request is not answered: version 1 has ended. Null for every other request, and until then. */
export function v1Retired(target: string, now: Micros): Problem | null {
  return now >= V1_ENDS && isV1(target) ? problem('version_retired', { successor: successorOf(target) }) : null;
}

/**
 * What each answer of version 1 carries, refusals included: since when it is deprecated (RFC 9745), when it ends
 * (RFC 8594), and what takes its place (RFC 5829).
 * @param publicUrl without a slash at the end
 */
export const v1Headers = (target: string, publicUrl: string): Readonly<Record<string, string>> => ({
  deprecation: `@${DEPRECATED_SINCE / MICROS_PER_SECOND}`,
  sunset: new Date(V1_ENDS / 1000).toUTCString(),
  link: `<${publicUrl}${successorOf(target)}>; rel="successor-version"`,
});
