import type { Court } from '../../courts/court.ts';
import type { Problem } from '../../errors.ts';
import type { LookupPorts } from '../../queries/case-lookup.ts';
import { servedUntil } from '../../queries/case-served.ts';
import type { Instant, Micros } from '../../runtime/instant.ts';

interface TimedRequest {
  readonly court: Court;
  readonly caseId: string;
}

/**
 * Reads a request again that was rejected because its `last_checked` is ahead of the clock: a `queried_at` that this
 * service returned itself is accepted, whichever node's clock it came from. Only such a request costs a read store lookup.
 * @param read reads the request against a given time
 */
export async function acceptServed<Request extends TimedRequest>(
  ports: LookupPorts,
  refusal: Problem,
  read: (now: Micros) => Request | Problem,
  lastCheckedOf: (request: Request) => Instant | null,
): Promise<Request | Problem> {
  if (refusal.problem !== 'last_checked_in_future') return refusal;
  const request = read(Number.POSITIVE_INFINITY);
  if ('problem' in request) return refusal;
  const lastChecked = lastCheckedOf(request);
  const served = await servedUntil(ports, request.court, request.caseId);
  if (typeof served === 'object' && served !== null) return served;
  return lastChecked !== null && served !== null && lastChecked <= served ? request : refusal;
}
