import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublicAddress, isSameAddress, readRange } from '../../../src/callbacks/outbound/public-address.ts';

/** First and last address of each range, and their neighbours outside of it if those are public. */
const EDGES: readonly (readonly [first: string, last: string, before: string | null, after: string | null])[] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', null],
  ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff::1', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', '2620:4f:7fff::', '2620:4f:8001::'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
];

describe('an address is public', () => {
  test.each(EDGES)('not from %s to %s, but on either side of it', (first, last, before, after) => {
    expect([first, last].map((address) => isPublicAddress(address))).toEqual([false, false]);
    for (const neighbour of [before, after])
      if (neighbour) expect([neighbour, isPublicAddress(neighbour)]).toEqual([neighbour, true]);
  });

  test.each([
    ['mapped', '::ffff:8.8.8.8'],
    ['mapped, in hexadecimal', '::ffff:808:808'],
    ['compatible', '::8.8.8.8'],
    ['translated (NAT64)', '64:ff9b::8.8.8.8'],
    ['translated, in a network of its own', '64:ff9b:1::8.8.8.8'],
    ['6to4', '2002:808:808::1'],
    ['Teredo', '2001:0:808:808::1'],
    ['unique local', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['with a zone', '2606:4700::1111%eth0'],
    ['not an address', 'example.com'],
    ['short', '127.1'],
    ['a number', '2130706433'],
    ['nothing', ''],
  ])('not if it is %s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test('by the same bits in every notation', () => {
    const parts = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(parts, (groups) => {
        const plain = groups.map((group) => group.toString(16)).join(':');
        const padded = groups.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':');
        const short = new URL(`http://[${plain}]/`).hostname.slice(1, -1);
        const dotted = `${plain.split(':').slice(0, 6).join(':')}:${groups
          .slice(6)
          .flatMap((g) => [g >> 8, g & 255])
          .join('.')}`;
        const judged = [plain, padded, short, dotted].map((address) => isPublicAddress(address));
        expect(new Set(judged).size).toBe(1);
        expect(isSameAddress(plain, short) && isSameAddress(padded, dotted)).toBe(true);
      }),
    );
  });

  test('as an independent implementation of the same ranges decides', () => {
    const refused = new BlockList();
    for (const [first, last] of EDGES) refused.addRange(first, last, first.includes(':') ? 'ipv6' : 'ipv4');
    const four = fc
      .array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })
      .map((bytes) => bytes.join('.'));
    const six = fc
      .tuple(
        fc.constantFrom('2001', '2002', '2620', '3fff', '2606', 'fd00', '0'),
        fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 7, maxLength: 7 }),
      )
      .map(([start, groups]) => [start, ...groups.map((group) => group.toString(16))].join(':'));
    fc.assert(
      fc.property(four, (address) => isPublicAddress(address) === !refused.check(address, 'ipv4')),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(six, (address) => isPublicAddress(address) === !refused.check(address, 'ipv6')),
      { numRuns: 2_000 },
    );
  });

  test('not if it belongs to this machine, or to a range of its network', () => {
    expect(isPublicAddress('9.9.9.9', { ownAddresses: ['9.9.9.9'] })).toBe(false);
    expect(isPublicAddress('2606:4700::1111', { ownAddresses: ['2606:4700:0:0::1111'] })).toBe(false);
    const refusedRanges = [readRange('2606:4700:64::/96')!];
    expect(isPublicAddress('2606:4700:64::7f00:1', { refusedRanges })).toBe(false);
    expect(isPublicAddress('2606:4700:65::7f00:1', { refusedRanges })).toBe(true);
  });
});

test('a range is accepted only if it is one', () => {
  expect(readRange('64:ff9b::/96')).toMatchObject({ family: 6, prefixLength: 96 });
  expect(readRange('0.0.0.0/0')).toMatchObject({ family: 4, bits: 0n, prefixLength: 0 });
  for (const text of ['64:ff9b::1/96', '64:ff9b::/129', '10.0.0.0/33', '10.0.0.0', '/8', 'x/8'])
    expect(readRange(text)).toBeNull();
});
