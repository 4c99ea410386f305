import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../../src/callbacks/outbound/public-address.ts';
import { checkTarget, readTrustedPair, type TargetRules } from '../../../src/callbacks/outbound/target.ts';

const RULES: TargetRules = {
  ownHosts: ['dockets.example.com', '93.184.215.14'],
  ownPorts: [8402, 8403],
  trustedPairs: new Set(['127.0.0.1:9000', '[::1]:9001']),
  isPublic: (address) => isPublicAddress(address),
};

const judge = (url: string) => {
  const checked = checkTarget(url, RULES);
  return 'target' in checked ? 'allowed' : checked.refused.failureClass;
};

describe('a URL may be called', () => {
  test.each([
    'https://example.com/hook?a=1',
    'http://example.com',
    'https://example.com:8443/',
    'https://example.com./',
    'https://xn--bcher-kva.example.com/',
    'https://bücher.example.com/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]:1024/',
    'https://local.example.com/',
    'https://notlocalhost.com/',
    'HTTPS://EXAMPLE.COM/',
    '  https://example.com/ ',
  ])('%s', (url) => expect(judge(url)).toBe('allowed'));

  test('and is called by host, port, path and query, without the fragment', () => {
    expect(checkTarget('https://EXAMPLE.com.:8443/a%20b?c=d#e', RULES)).toEqual({
      target: {
        secure: true,
        host: 'example.com',
        port: 8443,
        literal: false,
        origin: 'https://example.com:8443',
        path: '/a%20b?c=d',
        trusted: false,
      },
    });
    expect(checkTarget('http://[2606:4700:0::1111]', RULES)).toMatchObject({
      target: { host: '2606:4700::1111', literal: true, origin: 'http://[2606:4700::1111]:80', path: '/' },
    });
  });
});

describe('a URL is not allowed', () => {
  test.each([
    ['another scheme', 'ftp://example.com/'],
    ['a file', 'file:///etc/passwd'],
    ['a script', 'javascript:alert(1)'],
    ['gopher', 'gopher://example.com:6379/_x'],
    ['no scheme', 'example.com/hook'],
    ['nothing', ''],
    ['a user', 'https://user@example.com/'],
    ['a user and a password', 'https://user:password@example.com/'],
    ['an empty user and a password', 'https://:password@example.com/'],
    ['port 0', 'https://example.com:0/'],
    ['a low port', 'https://example.com:22/'],
    ['the last low port', 'https://example.com:1023/'],
    ['a port of ours', 'https://example.com:8402/'],
    ['one label', 'https://intranet/'],
    ['one label and a dot', 'https://intranet./'],
    ['localhost', 'http://localhost:9000/'],
    ['localhost with a dot', 'http://LOCALHOST.:9000/'],
    ['a name under localhost', 'http://a.localhost/'],
    ['mDNS', 'http://printer.local/'],
    ['a cloud name', 'http://metadata.google.internal/'],
    ['a home network', 'http://router.home.arpa/'],
    ['the apex of a home network', 'http://home.arpa/'],
    ['onion', 'http://expyuzz4wqqyqhjn.onion/'],
    ['test', 'http://a.test/'],
    ['invalid', 'http://no-such-host.invalid/x'],
    ['two dots at the end', 'https://example.com../'],
    ['an empty label', 'https://a..example.com/'],
    ['a long label', `https://${'a'.repeat(64)}.example.com/`],
    ['a long name', `https://${'a.'.repeat(130)}example.com/`],
    ['our own host', 'https://DOCKETS.example.com/v2/case'],
    ['our own host and a dot', 'https://dockets.example.com./v2/case'],
    ['a long URL', `https://example.com/${'a'.repeat(2_029)}`],
  ])('with %s', (_, url) => expect(judge(url)).toBe('url_not_allowed'));

  test.each([
    1433, 1521, 2049, 2113, 2375, 2377, 2380, 3306, 3389, 5432, 5900, 6379, 7001, 9200, 10250, 11211, 27017, 27019,
    50000,
  ])('with port %i, regardless of the host', (port) => {
    expect(judge(`https://example.com:${port}/`)).toBe('url_not_allowed');
    expect(judge(`http://8.8.8.8:${port}/`)).toBe('url_not_allowed');
  });

  test('only if it is at least one character too long', () => {
    expect(judge(`https://example.com/${'a'.repeat(2_028)}`)).toBe('allowed');
  });
});

describe('a literal address is checked in every notation that a URL parser accepts', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '0x7F.0x0.0x0.0x1',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
    '１２７.０.０.１',
    '127。0。0。1',
    '127%2e0%2e0%2e1',
    '①②⑦.⓪.⓪.①',
    '0x7f.0.0.0x1',
    '0',
    '0.0.0.0',
    '10.1',
    '0xa9fea9fe',
    '169.254.169.254',
    '2852039166',
    '192.168.0.1',
    '4294967295',
    '93.184.215.14',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::8.8.8.8]',
    '[2002:7f00:1::]',
    '[2001::7f00:1]',
    '[fe80::1]',
    '[fd00::1]',
    '[ff02::1]',
  ])('http://%s/', (host) => expect(judge(`http://${host}/`)).toBe('address_not_public'));

  test.each([
    '[fe80::1%25eth0]',
    '[::1%lo]',
    '256.1.1.1',
    '1.2.3.4.5',
    '0x1ffffffff',
    '[127.0.0.1]',
    '[::1',
    '09.1.1.1',
  ])('and an invalid address is an invalid URL: http://%s/', (host) =>
    expect(judge(`http://${host}/`)).toBe('url_not_allowed'),
  );

  test('and never leads to a private one, however it is written', () => {
    const notations = fc.constantFrom(
      (n: number) => String(n),
      (n: number) => `0x${n.toString(16)}`,
      (n: number) => `0${n.toString(8)}`,
      (n: number) => [n >>> 24, (n >>> 16) & 255, n & 65_535].join('.'),
      (n: number) => `0x${(n >>> 24).toString(16)}.${n & 0xffffff}`,
      (n: number) => `[::ffff:${(n >>> 16).toString(16)}:${(n & 65_535).toString(16)}]`,
    );
    const loopback = fc.integer({ min: 0x7f000000, max: 0x7fffffff });
    fc.assert(
      fc.property(loopback, notations, (n, written) => judge(`http://${written(n)}:8080/`) === 'address_not_public'),
    );
  });
});

describe('an operator', () => {
  test('opens a host and a port, and nothing else', () => {
    expect(judge('http://127.0.0.1:9000/x')).toBe('allowed');
    expect(judge('http://2130706433:9000/x')).toBe('allowed');
    expect(judge('https://[0::1]:9001/x')).toBe('allowed');
    expect(judge('http://127.0.0.1:9001/')).toBe('address_not_public');
    expect(judge('http://127.0.0.2:9000/')).toBe('address_not_public');
    expect(judge('http://localhost:9000/')).toBe('url_not_allowed');
    expect(judge('http://user@127.0.0.1:9000/')).toBe('url_not_allowed');
    expect(judge('ftp://127.0.0.1:9000/')).toBe('url_not_allowed');
  });

  test.each([
    ['127.0.0.1:22', '127.0.0.1:22'],
    ['127.0.0.1:80', '127.0.0.1:80'],
    ['[0:0::1]:5432', '[::1]:5432'],
    ['127.1:9000', null],
    ['localhost:9000', null],
    ['127.0.0.1', null],
    ['127.0.0.1:0', null],
    ['user@127.0.0.1:9000', null],
    ['127.0.0.1:9000/path', null],
    ['256.0.0.1:9000', null],
  ])('writes a pair %s: %s', (text, read) => expect(readTrustedPair(text)).toBe(read));
});

test('no reason repeats a part of the URL', () => {
  for (const url of [
    'https://s3cr3t:s3cr3t@example.com/s3cr3t?s3cr3t',
    'http://s3cr3t/?s3cr3t',
    's3cr3t',
    'http://127.0.0.1/s3cr3t',
  ]) {
    expect(JSON.stringify(checkTarget(url, RULES))).not.toContain('s3cr3t');
  }
});
