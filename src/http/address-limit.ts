/**
 * How many requests with an invalid payment one client address may send in a minute
 * (docs/design/payments.md#address-limit). It guards processor time and nothing else, so each node counts for itself
 * and in memory.
 */
import { isIPv6 } from 'node:net';
import { type Problem, problem } from '../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../runtime/instant.ts';

const WINDOW: Micros = 60 * MICROS_PER_SECOND;
/** Most names that are remembered: some 10 MB. Past it the oldest window is forgotten. */
const MOST_NAMES = 50_000;

export interface AddressLimit {
  /**
   * Counts one request with an invalid payment.
   * @param address as `ClientAddresses` gives it; null, that of no client, is never limited
   * @returns why it is one too many; null while it is not
   */
  count(address: string | null): Problem | null;
}

interface Window {
  count: number;
  readonly endsAt: Micros;
}

/**
 * @param perMinute at least 1
 * @param clock one that is never set: else an address could be kept out for as long as it was set back
 */
export function createAddressLimit(perMinute: number, clock: Clock): AddressLimit {
  const windows = createMinuteLimit(perMinute, clock, (wait) =>
    problem(
      'rate_limit_exceeded',
      { retry_after: wait, limit: perMinute, window: 'address' },
      `At most ${perMinute} invalid payments a minute are accepted from one address; wait ${wait} seconds.`,
    ),
  );
  return { count: (address) => (address === null ? null : windows.count(clientOf(address))) };
}

/**
 * The same for whatever has a name, in memory.
 * @param refuse says why it is one too many, and how many seconds to wait
 */
export function createMinuteLimit(
  perMinute: number,
  clock: Clock,
  refuse: (waitSeconds: number) => Problem,
): { count(name: string): Problem | null } {
  /** In the order in which they end, since all are of one length. */
  const windows = new Map<string, Window>();

  const forgetOldest = (now: Micros): void => {
    for (const [name, { endsAt }] of windows) {
      if (endsAt > now && windows.size < MOST_NAMES) return;
      windows.delete(name);
    }
  };

  return {
    count(name) {
      const now = clock.now();
      let window = windows.get(name);
      if (!window || window.endsAt <= now) {
        windows.delete(name);
        forgetOldest(now);
        window = { count: 0, endsAt: now + WINDOW };
        windows.set(name, window);
      }
      window.count++;
      if (window.count <= perMinute) return null;
      const wait = Math.max(1, Math.ceil((window.endsAt - now) / MICROS_PER_SECOND));
      return refuse(wait);
    },
  };
}

/** Whom an address stands for: of IPv6 a client holds at least a whole /64. */
export const clientOf = (address: string): string => prefixOf(address, 4);

/** Whose network an address is in: of IPv6 a site holds a /48. */
export const siteOf = (address: string): string => prefixOf(address, 3);

function prefixOf(address: string, groupCount: number): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%', 1).join('').split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return groups
    .slice(0, groupCount)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
