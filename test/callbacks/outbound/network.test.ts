/** How the guard handles names, addresses, connections and TLS, with a name server and receivers of the test. */
import { networkInterfaces } from 'node:os';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../../src/callbacks/outbound/guarded-outbound.ts';
import type { Outbound } from '../../../src/callbacks/outbound/outbound.ts';
import { isPublicAddress } from '../../../src/callbacks/outbound/public-address.ts';
import { makeAuthority, makeSelfSigned } from '../../support/certificates.ts';
import { type DnsAnswer, startDnsServer } from '../../support/dns-server.ts';
import { BODY, DEADLINE_MS, type Hostile, sends, startHostile, type Temper } from './hostile.ts';

const OK = sends('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close();
});
const keep = <T extends { close(): Promise<void> }>(thing: T): T => {
  opened.unshift(thing);
  return thing;
};

/** The receiver's address, which is public only in tests. */
const RECEIVER = '127.0.0.1';
const receiverIsPublic = (address: string) => address === RECEIVER || isPublicAddress(address);

interface Setting {
  readonly outbound: Outbound;
  readonly receiver: Hostile;
  readonly asked: readonly string[];
  post(host: string, scheme?: 'http' | 'https'): ReturnType<Outbound['post']>;
}

async function setting(
  answer: (name: string, family: 4 | 6) => DnsAnswer,
  options: OutboundOptions & { readonly tls?: TlsOptions; readonly temper?: Temper } = {},
): Promise<Setting> {
  const { tls, temper = OK, ...outboundOptions } = options;
  const dns = keep(await startDnsServer(answer));
  const receiver = keep(await startHostile(temper, tls));
  const outbound = keep(createOutbound({ deadlineMs: 10_000, dnsServers: [dns.address], ...outboundOptions }));
  return {
    outbound,
    receiver,
    asked: dns.asked,
    post: (host, scheme = tls ? 'https' : 'http') =>
      outbound.post({ url: `${scheme}://${host}:${receiver.port}/hook?key=s3cr3t`, headers: {}, body: BODY }),
  };
}

describe('a name', () => {
  test('that resolves to a public address is called there, by its own name', async () => {
    const { post, receiver } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: null, responseCode: 200 });
    expect(receiver.received()).toContain(`host: hook.example.com:${receiver.port}\r\n`);
  });

  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::1',
    '::',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    '2620:4f:8000::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
  ])('that resolves to %s is not called', async (address) => {
    const { post, receiver } = await setting(() => [address]);
    expect(await post('hook.example.com')).toMatchObject({ responseCode: null, failureClass: 'address_not_public' });
    expect(receiver.connections).toBe(0);
  });

  test("that resolves to this machine's own addresses is not called", async () => {
    const own = Object.values(networkInterfaces())
      .flat()
      .flatMap((entry) => (entry && !entry.address.includes('%') ? entry.address : []));
    const { post, receiver } = await setting(() => own.slice(0, 8));
    expect(own.length).toBeGreaterThan(0);
    expect(await post('hook.example.com')).toMatchObject({ failureClass: 'address_not_public' });
    expect(receiver.connections).toBe(0);
  });

  test.each([
    ['of one family', [RECEIVER, '10.0.0.1']],
    ['in another order', ['10.0.0.1', RECEIVER]],
    ['of both families', [RECEIVER, '::1']],
  ])('with one private address among public ones is not called: %s', async (_, addresses) => {
    const { post, receiver } = await setting(() => addresses, { isPublic: receiverIsPublic });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: 'address_not_public' });
    expect(receiver.connections).toBe(0);
  });

  test('with sixteen addresses is called, with seventeen not', async () => {
    const addresses = Array.from({ length: 17 }, (_, index) => `127.0.0.${index + 1}`);
    const isPublic = (address: string) => address.startsWith('127.0.0.');
    const most = await setting(() => addresses.slice(0, 16), { isPublic });
    expect(await most.post('hook.example.com')).toMatchObject({ failureClass: null });
    const more = await setting(() => addresses, { isPublic });
    expect(await more.post('hook.example.com')).toMatchObject({ failureClass: 'address_not_public' });
    expect(more.receiver.connections).toBe(0);
  });

  test('that resolves to an address which an operator has opened is not called: only the address itself is', async () => {
    const dns = keep(await startDnsServer(() => [RECEIVER]));
    const receiver = keep(await startHostile(OK));
    const trustedPairs = [`${RECEIVER}:${receiver.port}`];
    const outbound = keep(createOutbound({ dnsServers: [dns.address], trustedPairs }));
    const post = (host: string) => outbound.post({ url: `http://${host}:${receiver.port}/`, headers: {}, body: BODY });
    expect(await post(RECEIVER)).toMatchObject({ failureClass: null });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: 'address_not_public' });
    expect(receiver.connections).toBe(1);
  });

  test('is resolved again for each connection: after a rebind it is not called again', async () => {
    let answer = [RECEIVER];
    const { post, receiver, asked } = await setting(() => answer, {
      isPublic: receiverIsPublic,
      temper: sends('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
    });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
    answer = ['127.0.0.2'];
    expect(await post('hook.example.com')).toMatchObject({ failureClass: 'address_not_public' });
    expect(receiver.connections).toBe(1);
    expect(asked).toHaveLength(4);
  });

  test('that is rebound within one attempt is called at the address that was checked', async () => {
    let questions = 0;
    const { post, receiver } = await setting(() => (questions++ < 2 ? [RECEIVER] : ['127.0.0.2']), {
      isPublic: receiverIsPublic,
    });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
    expect(receiver.connections).toBe(1);
    expect(questions).toBe(2);
  });

  test('whose IPv6 addresses cannot be looked up is called over IPv4', async () => {
    const { post } = await setting((_, family) => (family === 4 ? [RECEIVER] : 'SERVFAIL'), {
      isPublic: receiverIsPublic,
    });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
  });

  test('with one unreachable address is called at the next', async () => {
    const isPublic = (address: string) => address.startsWith('127.') || address === '2606:4700::1111';
    // Nothing listens on the second loopback address: it refuses the connection.
    const { post } = await setting(() => ['127.0.0.2', '2606:4700::1111', RECEIVER], { isPublic });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
  });

  test.each([
    ['does not exist', 'NXDOMAIN', 'dns_not_found'],
    ['has no address', [], 'dns_not_found'],
    ['has servers that fail', 'SERVFAIL', 'dns_timeout'],
  ] as const)('that %s: %s gives %s', async (_, answer, failureClass) => {
    const { post } = await setting(() => answer);
    expect(await post('hook.example.com')).toMatchObject({ responseCode: null, failureClass });
  });

  test('whose servers do not answer ends at the deadline of the whole attempt', async () => {
    const { post } = await setting(() => 'silence', { deadlineMs: DEADLINE_MS });
    const outcome = await post('hook.example.com');
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'dns_timeout' });
    expect(outcome.durationMs).toBeLessThan(DEADLINE_MS + 3_000);
  });

  test.each(['localhost', 'a.localhost', 'metadata.google.internal', 'intranet', 'x.test', 'x.invalid'])(
    'for special use is not even looked up: %s',
    async (host) => {
      const { post, asked, receiver } = await setting(() => [RECEIVER], { isPublic: () => true });
      expect(await post(host)).toMatchObject({ failureClass: 'url_not_allowed' });
      expect([asked.length, receiver.connections]).toEqual([0, 0]);
    },
  );
});

describe('an address', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
  ])('of this machine is not called in any notation: %s', async (host) => {
    const { post, receiver, asked } = await setting(() => [RECEIVER]);
    expect(await post(host)).toMatchObject({ responseCode: null, failureClass: 'address_not_public' });
    expect([receiver.connections, asked.length]).toEqual([0, 0]);
  });
});

describe('a connection', () => {
  test('that is refused: connect_refused', async () => {
    const closed = await startHostile(OK);
    await closed.close();
    const outbound = keep(createOutbound({ trustedPairs: [`127.0.0.1:${closed.port}`] }));
    expect(await outbound.post({ url: closed.url, headers: {}, body: BODY })).toMatchObject({
      responseCode: null,
      failureClass: 'connect_refused',
    });
  });
});

describe('over IPv6', () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((entries) =>
    entries?.some(({ address }) => address === '::1'),
  );
  test.skipIf(!hasIpv6)('to a trusted pair is made, with brackets where they belong', async () => {
    const receiver = keep(await startHostile(OK, undefined, '::1'));
    const outbound = keep(createOutbound({ trustedPairs: [`[::1]:${receiver.port}`] }));
    const url = `http://[0:0::1]:${receiver.port}/`;
    expect(await outbound.post({ url, headers: {}, body: BODY })).toMatchObject({ failureClass: null });
    expect(receiver.received()).toContain(`host: [::1]:${receiver.port}\r\n`);
  });
});

describe('TLS', () => {
  const authority = makeAuthority();
  const host = 'hook.example.com';
  const trusting = { isPublic: receiverIsPublic, extraAuthorities: [authority.cert] };
  const outcomeWith = async (tls: TlsOptions, options: OutboundOptions = trusting, name = host) => {
    const { post, receiver } = await setting(() => [RECEIVER], { ...options, tls });
    return { outcome: await post(name), received: receiver.received() };
  };
  const day = 86_400_000;

  test('with a certificate for the host is accepted', async () => {
    let asked: string | undefined;
    const certificate = authority.issue(host);
    const { outcome } = await outcomeWith({
      ...certificate,
      SNICallback: (name, done) => {
        asked = name;
        done(null);
      },
    });
    expect(outcome).toMatchObject({ failureClass: null, responseCode: 200 });
    expect(asked).toBe(host);
  });

  test('with a certificate for an address is accepted at that address', async () => {
    const { outcome } = await outcomeWith(authority.issue(RECEIVER), trusting, RECEIVER);
    expect(outcome).toMatchObject({ failureClass: null, responseCode: 200 });
  });

  test.each([
    ['for another host', () => authority.issue('other.example.com')],
    ['for the address, where a name was called', () => authority.issue(RECEIVER)],
    [
      'that has expired',
      () => authority.issue(host, { from: new Date(Date.now() - 2 * day), until: new Date(Date.now() - day) }),
    ],
    [
      'that is not valid yet',
      () => authority.issue(host, { from: new Date(Date.now() + day), until: new Date(Date.now() + 2 * day) }),
    ],
    ['that it signed itself', () => makeSelfSigned(host)],
    ['of an unknown authority', () => makeAuthority('Another').issue(host)],
  ])('with a certificate %s fails: tls_invalid, and no request is sent', async (_, certificate) => {
    const { outcome, received } = await outcomeWith(certificate());
    expect(outcome).toMatchObject({ responseCode: null, failureClass: 'tls_invalid' });
    expect(received).toBe('');
  });

  test('checks certificates even if the environment disables that', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const { outcome, received } = await outcomeWith(makeSelfSigned(host));
      expect(outcome).toMatchObject({ failureClass: 'tls_invalid' });
      expect(received).toBe('');
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  test('version 1.1 is not supported', async () => {
    const old = {
      ...authority.issue(host),
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL:@SECLEVEL=0',
    } as const;
    expect((await outcomeWith(old)).outcome).toMatchObject({ responseCode: null, failureClass: 'tls_invalid' });
  });

  test('does not use parameters whose size the receiver chooses', async () => {
    const tls = { ...authority.issueRsa(host), maxVersion: 'TLSv1.2', dhparam: 'auto' } as const;
    const ephemeral = { ...tls, ciphers: 'DHE-RSA-AES128-GCM-SHA256' };
    expect((await outcomeWith(ephemeral)).outcome).toMatchObject({ responseCode: null, failureClass: 'tls_invalid' });
    const field = { ...authority.issue(host), ecdhCurve: 'ffdhe8192' };
    expect((await outcomeWith(field)).outcome).toMatchObject({ responseCode: null, failureClass: 'tls_invalid' });
    const elliptic = { ...tls, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' };
    expect((await outcomeWith(elliptic)).outcome).toMatchObject({ failureClass: null });
  });

  test('version 1.2 is not renegotiated: each handshake would cost us more than the receiver', async () => {
    let renegotiated = 0;
    const temper: Temper = (socket) => {
      const again = () =>
        (socket as TLSSocket).renegotiate({}, (error) => {
          if (error || socket.destroyed) return;
          renegotiated++;
          again();
        });
      again();
    };
    const tls = { ...authority.issue(host), maxVersion: 'TLSv1.2' } as const;
    const { post } = await setting(() => [RECEIVER], { ...trusting, tls, temper, deadlineMs: DEADLINE_MS });
    expect((await post(host)).failureClass).not.toBeNull();
    expect(renegotiated).toBe(0);
  });

  test('to a receiver of plain text fails: tls_invalid', async () => {
    const { post } = await setting(() => [RECEIVER], {
      isPublic: receiverIsPublic,
      temper: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
    });
    expect(await post(host, 'https')).toMatchObject({ responseCode: null, failureClass: 'tls_invalid' });
  });

  test.each([
    ['reset', 'reset', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['ended', 'reset', (socket) => socket.once('data', () => socket.end())],
    ['never answered', 'timeout', () => undefined],
  ] as const satisfies [string, string, Temper][])('whose handshake is %s: %s', async (_, failureClass, temper) => {
    const { post } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic, temper, deadlineMs: 1_000 });
    expect(await post(host, 'https')).toMatchObject({ responseCode: null, failureClass });
  });

  test('to a receiver that asks for a client certificate fails: tls_invalid', async () => {
    const demanding = { ...authority.issue(host), requestCert: true, rejectUnauthorized: true, ca: authority.cert };
    expect((await outcomeWith(demanding)).outcome).toMatchObject({ responseCode: null, failureClass: 'tls_invalid' });
  });

  test('reached by plain http fails: protocol_error or a refusal, never success', async () => {
    const { post } = await setting(() => [RECEIVER], { ...trusting, tls: authority.issue(host) });
    expect(['protocol_error', 'reset']).toContain((await post(host, 'http')).failureClass);
  });
});

describe('proxies of the environment', () => {
  test('are not used', async () => {
    const proxy = keep(await startHostile(OK));
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    try {
      const { post, receiver } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic });
      expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
      expect([proxy.connections, receiver.connections]).toEqual([0, 1]);
    } finally {
      for (const name of names) delete process.env[name];
    }
  });
});

describe('kept connections', () => {
  /** How long the first connection must have been idle before it is reused. */
  const settled = () => new Promise((done) => setTimeout(done, 40));

  test('serve the next attempt to the same origin, and to no other', async () => {
    // Kept as long as possible: on a busy machine a second may pass between two attempts.
    const answer = 'HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=60\r\n\r\n';
    const temper: Temper = (socket) => socket.on('data', () => socket.write(answer));
    const { post, receiver, asked } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic, temper });
    await post('hook.example.com');
    await settled();
    for (let i = 0; i < 5; i++) expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
    expect([receiver.connections, asked.length]).toEqual([1, 2]);
    await post('other.example.com');
    expect([receiver.connections, asked.length]).toEqual([2, 4]);
  });

  test('are kept for a second if the receiver does not say how long', async () => {
    let [answeredAt, closedAt] = [0, 0];
    const temper: Temper = (socket) => {
      socket.on('data', () => {
        answeredAt = performance.now();
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      });
      socket.on('close', () => {
        closedAt = performance.now();
      });
    };
    const { post } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic, temper });
    await post('hook.example.com');
    await vi.waitFor(() => expect(closedAt).toBeGreaterThan(0));
    expect(closedAt - answeredAt).toBeGreaterThan(500);
  });

  test('still have their URL checked', async () => {
    const { outbound, receiver, post } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic });
    await post('hook.example.com');
    await settled();
    const url = `http://user:s3cr3t@hook.example.com:${receiver.port}/`;
    expect(await outbound.post({ url, headers: {}, body: BODY })).toMatchObject({ failureClass: 'url_not_allowed' });
  });

  test('are not kept if the receiver says so, or has sent more than it should', async () => {
    for (const bytes of [
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    ]) {
      const { post, receiver } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic, temper: sends(bytes) });
      expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
      await settled();
      expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
      expect([bytes, receiver.connections]).toEqual([bytes, 2]);
    }
  });

  test('cost nothing if the receiver closes them although it had promised to keep them', async () => {
    let requests = 0;
    const temper: Temper = (socket) =>
      socket.on('data', () => {
        requests++;
        socket.end('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n');
      });
    const { post, receiver } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic, temper });
    for (let i = 0; i < 20; i++) expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
    expect([requests, receiver.connections]).toEqual([20, 20]);
  });

  test('cost one attempt if they close on reuse, and are not kept from then on', async () => {
    let requests = 0;
    const temper: Temper = (socket) => {
      let first = true;
      socket.on('data', () => {
        requests++;
        if (first) socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 0\r\n\r\n');
        else socket.resetAndDestroy();
        first = false;
      });
    };
    const { post, receiver } = await setting(() => [RECEIVER], { isPublic: receiverIsPublic, temper });
    expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
    await settled();
    // One attempt is one POST, never two: this one counts, and the process repeats it.
    expect(await post('hook.example.com')).toMatchObject({ failureClass: 'reset' });
    for (let i = 0; i < 3; i++) expect(await post('hook.example.com')).toMatchObject({ failureClass: null });
    expect([requests, receiver.connections]).toEqual([5, 4]);
  });
});
