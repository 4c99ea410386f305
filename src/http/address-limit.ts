/**
 * Limits requests with an invalid payment per client address and minute (docs/design/payments.md#address-limit). The
 * limit protects only processor time, so each node counts for itself, in memory.
 */
import { isIPv6 } from 'node:net';
import { type Problem, problem } from '../errors.ts';
import { type Clock, MICROS_PER_SECOND, type Micros } from '../runtime/instant.ts';

const WINDOW: Micros = 60 * MICROS_PER_SECOND;
/** Most names kept in memory: about 10 MB. Beyond that, the oldest window is dropped. */
const MOST_NAMES = 50_000;

export interface AddressLimit {
  /**
   * Counts one request with an invalid payment.
   * @param address from `ClientAddresses`; null (no known client) is never limited
   * @returns the error if the limit is exceeded, else null
   */
  count(address: string | null): Problem | null;
}

interface Window {
  count: number;
  readonly endsAt: Micros;
}

/**
 * @param perMinute at least 1
 * @param clock a clock that is never set: setting one back would lock addresses out for that long
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
 * The same limit for anything with a name, in memory.
 * @param refuse builds the error from the seconds to wait
 */
export function createMinuteLimit(
  perMinute: number,
  clock: Clock,
  refuse: (waitSeconds: number) => Problem,
): { count(name: string): Problem | null } {
  /** In the order in which they end, because all have the same length. */
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

/** The client that an address stands for: with IPv6, a client holds at least a /64. */
export const clientOf = (address: string): string => prefixOf(address, 4);

/** The network that an address belongs to: with IPv6, a site holds a /48. */
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
