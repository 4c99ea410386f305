import { describe, expect, it } from 'vitest';
import { clientOf, createAddressLimit } from '../../src/http/address-limit.ts';
import { MICROS_PER_SECOND } from '../../src/runtime/instant.ts';

describe('the limit on invalid payments of one address', () => {
  it('admits a fixed number per minute, then says when to retry, and starts again', () => {
    let now = 1_000 * MICROS_PER_SECOND;
    const limit = createAddressLimit(2, { now: () => now });
    expect([limit.count('192.0.2.1'), limit.count('192.0.2.1')]).toEqual([null, null]);
    now += 20 * MICROS_PER_SECOND;
    expect(limit.count('192.0.2.1')).toMatchObject({
      problem: 'rate_limit_exceeded',
      details: { retry_after: 40, limit: 2, window: 'address' },
    });
    expect(limit.count('192.0.2.2')).toBeNull();
    now += 40 * MICROS_PER_SECOND;
    expect(limit.count('192.0.2.1')).toBeNull();
  });

  it('keeps every active count while a hundred thousand others arrive, unless memory runs out', () => {
    let now = 0;
    const limit = createAddressLimit(1, { now: () => now });
    for (let i = 0; i < 49_000; i++) limit.count(`client-${i}`);
    expect(limit.count('client-0')).not.toBeNull();
    now += 61 * MICROS_PER_SECOND;
    let refused = 0;
    for (let i = 0; i < 49_000; i++) refused += limit.count(`other-${i}`) ? 1 : 0;
    expect(refused).toBe(0);
    expect(limit.count('other-0')).not.toBeNull();
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('%s counts as the client %s', (address, client) => expect(clientOf(address)).toBe(client));
});
