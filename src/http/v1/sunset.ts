/** When version 1 of the API ends, and the headers that announce it (docs/design/interface.md#9 and #v1). */
import { type Problem, problem } from '../../errors.ts';
import { MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { plainPath } from '../route-table.ts';

/** When version 2 replaced it. */
const DEPRECATED_SINCE: Micros = toMicros('2026-04-28T00:00:00.000000Z');
/** From this moment on, version 1 answers nothing but an error. */
export const V1_ENDS: Micros = toMicros('2027-04-28T00:00:00.000000Z');

const SUCCESSORS: ReadonlyMap<string, string> = new Map(
  ['case', 'monitor', 'status'].map((name) => [`/v1/${name}`, `/v2/${name}`]),
);
/** The successor of unknown version 1 paths. */
const DOCUMENTATION = '/docs';

/** Whether a request target belongs to version 1, even if the path does not exist. */
export function isV1(target: string): boolean {
  if (target.startsWith('/v2/')) return false;
  const path = plainPath(target);
  return path === '/v1' || path.startsWith('/v1/');
}

const successorOf = (target: string): string => SUCCESSORS.get(plainPath(target)) ?? DOCUMENTATION;

/** The error once version 1 has ended; null before that and for every other request. */
export function v1Retired(target: string, now: Micros): Problem | null {
  return now >= V1_ENDS && isV1(target) ? problem('version_retired', { successor: successorOf(target) }) : null;
}

/**
 * Headers of every version 1 answer, errors included: since when it is deprecated (RFC 9745), when it ends (RFC 8594)
 * and what replaces it (RFC 5829).
 * @param publicUrl without a trailing slash
 */
export const v1Headers = (target: string, publicUrl: string): Readonly<Record<string, string>> => ({
  deprecation: `@${DEPRECATED_SINCE / MICROS_PER_SECOND}`,
  sunset: new Date(V1_ENDS / 1000).toUTCString(),
  link: `<${publicUrl}${successorOf(target)}>; rel="successor-version"`,
});
