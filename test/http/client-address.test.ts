import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClientAddresses, isInternal, readProxyRange } from '../../src/http/client-address.ts';

const TRUSTED = ['10.0.0.0/8', '2001:db8:ffff::/48'];
const PROXY = '10.1.2.3';

const from = (remoteAddress: string, headers: IncomingHttpHeaders = {}) => ({
  socket: { remoteAddress } as Socket,
  headers,
});
const seen = (remoteAddress: string, forwarded?: string, trustedProxies: readonly string[] = TRUSTED) =>
  createClientAddresses({ trustedProxies }).of(
    from(remoteAddress, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
  );

describe('an internal address', () => {
  it.each(['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fe80::1', 'fd00::1'])(
    'is one that no caller from the internet has: %s',
    (address) => expect(isInternal(address)).toBe(true),
  );

  it.each(['192.0.2.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2001:db8::1'])('is not %s', (address) =>
    expect(isInternal(address)).toBe(false),
  );
});

describe('the client of a request', () => {
  it.each([
    ['that connects directly is the peer', '192.0.2.1', undefined, '192.0.2.1'],
    ['that connects directly and forges the header is the peer', '192.0.2.1', '198.51.100.9', '192.0.2.1'],
    ['behind a trusted proxy is the one that the proxy names', PROXY, '198.51.100.9', '198.51.100.9'],
    ['behind a trusted proxy that is written in IPv6', '::ffff:10.1.2.3', '198.51.100.9', '198.51.100.9'],
    ['behind a trusted proxy with IPv6', '2001:db8:ffff::7', '2001:db8::9', '2001:db8::9'],
    ['that forges hops is the rightmost that is not trusted', PROXY, '203.0.113.5, 198.51.100.9', '198.51.100.9'],
    ['behind two trusted proxies', PROXY, '203.0.113.5, 198.51.100.9, 10.9.9.9', '198.51.100.9'],
    ['with a port', PROXY, '198.51.100.9:4711', '198.51.100.9'],
    ['with brackets', PROXY, '[2001:db8::9]', '2001:db8::9'],
    ['with brackets and a port', PROXY, '[2001:db8::9]:4711', '2001:db8::9'],
    ['with a zone', PROXY, 'fe80::1%eth0', 'fe80::1'],
    ['mapped into IPv6', PROXY, '::ffff:198.51.100.9', '198.51.100.9'],
    ['mapped into IPv6, in hexadecimal', PROXY, '::ffff:c633:6409', '198.51.100.9'],
    ['in capitals', PROXY, '2001:DB8::9', '2001:db8::9'],
  ])('%s', (_what, peer, forwarded, client) => expect(seen(peer, forwarded)).toBe(client));

  it.each([
    ['a trusted proxy names no address', PROXY, undefined],
    ['a trusted proxy names only trusted ones', PROXY, '10.4.4.4, 10.5.5.5'],
    ['the last hop is not an address', PROXY, '198.51.100.9, unknown'],
    ['the last hop is hidden (RFC 7239)', PROXY, '198.51.100.9, _hidden'],
    ['the last hop is empty', PROXY, '198.51.100.9,'],
    ['the hop is a name with a port', PROXY, 'localhost:80'],
    ['an internal peer that is not trusted forwards', '192.168.1.1', '198.51.100.9'],
    ['an internal IPv6 peer that is not trusted forwards', 'fd00::1', '198.51.100.9'],
    ['the connection is gone', '', '198.51.100.9'],
  ])('is unknown if %s', (_what, peer, forwarded) => expect(seen(peer, forwarded)).toBeNull());

  it('is not read from Forwarded, which a proxy that writes X-Forwarded-For passes on unchanged', () => {
    const forged = { forwarded: 'for=203.0.113.5', 'x-forwarded-for': '198.51.100.9' };
    expect(createClientAddresses({ trustedProxies: TRUSTED }).of(from(PROXY, forged))).toBe('198.51.100.9');
    expect(createClientAddresses().of(from('192.0.2.1', { forwarded: 'for=203.0.113.5' }))).toBe('192.0.2.1');
  });

  it('reports a forwarding peer that is not trusted', () => {
    const peers: string[] = [];
    const addresses = createClientAddresses({ trustedProxies: TRUSTED, onUntrusted: (peer) => peers.push(peer) });
    addresses.of(from('192.168.1.1', { 'x-forwarded-for': '198.51.100.9' }));
    addresses.of(from('192.168.1.1'));
    addresses.of(from(PROXY, { 'x-forwarded-for': '198.51.100.9' }));
    expect(peers).toEqual(['192.168.1.1']);
  });

  it('is never chosen by the caller, whatever it sends before the entries of a trusted proxy', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), fc.ipV6(), (sent, four, six) => {
        for (const real of [four, six].filter((each) => seen(each) === each)) {
          expect(seen(PROXY, `${sent}, ${real}`)).toBe(seen(real));
        }
      }),
    );
  });
});

describe('a range of proxies', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['192.0.2.1', '192.0.2.1/32'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['::1', '::1/128'],
    ['10.0.0.1/8', null],
    ['0.0.0.0/0', null],
    ['::/0', null],
    ['10.0.0.0/33', null],
    ['proxy.example', null],
    ['10.0.0.0/255.0.0.0', null],
    ['fe80::1%eth0', null],
  ])('%s is parsed as %s', (text, range) => expect(readProxyRange(text)).toBe(range));
});
