/** Looks up a host and checks the whole answer: a single non-public address rejects the host. */
import { Resolver } from 'node:dns/promises';
import { AttemptFailure } from './attempt-failure.ts';

export interface ResolveOptions {
  readonly isPublic: (address: string) => boolean;
  /** `address` or `address:port`; null: the system's servers. */
  readonly dnsServers: readonly string[] | null;
  /** Ends the lookup; the caller knows why. */
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 1_000;
const TRIES = 2;
const MOST_ANSWERS = 16;

/** Resolver codes that mean that there is no address, not that the lookup failed. */
const NOTHING_THERE = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Returns the public addresses of a host, IPv4 first, from DNS only: the machine's hosts file is not used. Nothing is
 * cached, so the called address is the checked one.
 *
 * @throws AttemptFailure: dns_not_found, dns_timeout, address_not_public
 */
export async function resolvePublic(
  host: string,
  { isPublic, dnsServers, signal }: ResolveOptions,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (dnsServers) resolver.setServers(dnsServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return judged(answers, isPublic);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function judged(
  answers: readonly PromiseSettledResult<string[]>[],
  isPublic: (address: string) => boolean,
): readonly string[] {
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > MOST_ANSWERS) {
    throw new AttemptFailure('address_not_public', `the host has more than ${MOST_ANSWERS} addresses`);
  }
  if (!found.every(isPublic)) {
    throw new AttemptFailure('address_not_public', 'the host has an address that is not public');
  }
  if (found.length > 0) return found;
  const codes = answers.map((answer) => (answer.status === 'rejected' ? String(answer.reason?.code) : 'ENODATA'));
  throw codes.every((code) => NOTHING_THERE.has(code))
    ? new AttemptFailure('dns_not_found', 'the host has no address')
    : new AttemptFailure('dns_timeout', 'the host could not be looked up');
}
