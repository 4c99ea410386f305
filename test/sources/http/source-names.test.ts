/**
 * Given sources behind host names and TLS, when a name leads elsewhere from one lookup to the next, or a redirect away from
 * TLS, then only addresses that were checked are dialled, and `https` is never left (docs/design/sources.md#requests).
 */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSourceHttp } from '../../../src/sources/http/create-source-http.ts';
import type { SourceResponse } from '../../../src/sources/http/source-http.ts';
import type { Fault } from '../../../src/sources/source.ts';
import { makeAuthority, makeSelfSigned } from '../../support/certificates.ts';
import { type DnsAnswer, startDnsServer } from '../../support/dns-server.ts';
import { openWeb } from './web-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const authority = makeAuthority();
const fault = (sent: SourceResponse | Fault): string => ('fault' in sent ? sent.fault : `status ${sent.status}`);

/** A client for which loopback is public, and which asks this name server. */
async function clientOf(answer: (name: string, query: number) => DnsAnswer) {
  const queries = new Map<string, number>();
  const names = await startDnsServer((name, family) => {
    if (family === 6) return [];
    queries.set(name, (queries.get(name) ?? 0) + 1);
    return answer(name, queries.get(name) ?? 0);
  });
  const http = createSourceHttp({
    userAgent: 'DocketMonitor/9.9.9 (+https://dockets.example/docs)',
    allowPrivate: [],
    isPublic: (address) => address === '127.0.0.1',
    dnsServers: [names.address],
    extraAuthorities: [authority.cert],
  });
  closing.push(
    () => http.close(),
    () => names.close(),
  );
  return { http, queries };
}

async function web(answer: Parameters<typeof openWeb>[0]) {
  const server = await openWeb(answer);
  closing.push(() => server.close());
  return server;
}

async function tlsWeb(certificate: { readonly cert: string; readonly key: string }, location: string | null) {
  const server: Server = createServer(certificate, (_request, response) => {
    if (location === null) response.end('secure');
    else response.writeHead(302, { Location: location }).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

describe('a name', () => {
  it('is looked up once for a connection, and again for the next: what was checked is dialled', async () => {
    const server = await web((_request, response) => response.writeHead(200, { Connection: 'close' }).end('here'));
    const { http, queries } = await clientOf((_name, query) => [query === 1 ? '127.0.0.1' : '10.0.0.1']);
    const url = `http://court.example:${server.port}/`;
    expect(fault(await http.send({ url, maxBytes: 100 }))).toBe('status 200');
    expect(queries.get('court.example')).toBe(1);
    expect(fault(await http.send({ url, maxBytes: 100 }))).toBe('refused_address');
    expect(server.requests).toHaveLength(1);
  });

  it('with one private address among public ones is refused', async () => {
    const { http } = await clientOf(() => ['127.0.0.1', '192.168.0.1']);
    expect(fault(await http.send({ url: 'http://court.example:8080/', maxBytes: 100 }))).toBe('refused_address');
  });

  it('of a redirect is checked, too', async () => {
    const server = await web((_request, response) => {
      response.writeHead(302, { Location: 'http://inside.example:8080/' }).end();
    });
    const { http } = await clientOf((name) => [name === 'inside.example' ? '169.254.169.254' : '127.0.0.1']);
    expect(fault(await http.send({ url: `http://court.example:${server.port}/`, maxBytes: 100 }))).toBe(
      'refused_address',
    );
  });

  it.each<DnsAnswer>(['NXDOMAIN', 'SERVFAIL'])(
    'without an address (%s) is a fault of the connection',
    async (answer) => {
      const { http } = await clientOf(() => answer);
      expect(fault(await http.send({ url: 'http://court.example/', maxBytes: 100 }))).toBe('connection');
    },
  );

  it('whose servers are silent is a time-out', async () => {
    const { http } = await clientOf(() => 'silence');
    expect(await http.send({ url: 'http://court.example/', maxBytes: 100, connectMs: 50 })).toMatchObject({
      fault: 'timeout',
      reason: 'no connection within 50 ms',
    });
  });
});

describe('TLS', () => {
  it('needs a certificate of that name from a known authority', async () => {
    const { http } = await clientOf(() => ['127.0.0.1']);
    const good = await tlsWeb(authority.issue('court.example'), null);
    const other = await tlsWeb(authority.issue('other.example'), null);
    const own = await tlsWeb(makeSelfSigned('court.example'), null);
    const sent = async (port: number) =>
      fault(await http.send({ url: `https://court.example:${port}/`, maxBytes: 100 }));
    expect([await sent(good), await sent(other), await sent(own)]).toEqual(['status 200', 'connection', 'connection']);
  });

  it('is not left by a redirect', async () => {
    const plain = await web((_request, response) => response.end('plain'));
    const port = await tlsWeb(authority.issue('court.example'), `http://court.example:${plain.port}/`);
    const { http } = await clientOf(() => ['127.0.0.1']);
    const sent = await http.send({ url: `https://court.example:${port}/`, maxBytes: 100 });
    expect(sent).toMatchObject({ fault: 'refused_address', reason: 'a redirect from https to http' });
    expect(plain.requests).toHaveLength(0);
  });
});
