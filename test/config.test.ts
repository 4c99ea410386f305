import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { maskUrl, shownConfig, sourcedConfig } from '../src/cli/config.ts';
import { ConfigurationError } from '../src/config/configuration-error.ts';
import { SECRET_VARIABLES } from '../src/config/secrets.ts';
import { readConfig } from '../src/config.ts';

const faultsOf = (environment: NodeJS.ProcessEnv): Record<string, string> => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return Object.fromEntries(error.faults.map(({ variable, problem }) => [variable, problem]));
    }
    throw error;
  }
  throw new Error('the configuration was accepted');
};

describe('the configuration', () => {
  it('repeats no secret of an invalid variable', () => {
    const wrong = [...SECRET_VARIABLES].map((variable) => [variable, 'ftp//user:S3CR3T@host/S3CR3T?key=S3CR3T']);
    expect(wrong).not.toHaveLength(0);
    expect(JSON.stringify(faultsOf(Object.fromEntries(wrong)))).not.toContain('S3CR3T');
    expect(JSON.stringify(faultsOf({ SOLANA_RPC_URL: 'https://one,htp:/key.S3CR3T' }))).not.toContain('S3CR3T');
  });

  describe('a secret in a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'docket-secrets-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const fileWith = (text: string | Buffer): string => {
      const path = join(folder, randomUUID());
      writeFileSync(path, text);
      return path;
    };

    it.each([...SECRET_VARIABLES])('is read as if it were in %s, without its line break', (variable) => {
      const values: Record<string, string> = {
        EVENTSTORE_URL: 'esdb://one:2113?tls=false',
        MONGODB_URL: 'mongodb://one:27017/docket',
        MASTER_KEY: `1:${'ab'.repeat(32)}`,
        SOLANA_RPC_URL: 'https://rpc.example/key',
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20key',
        COURTLISTENER_TOKEN: 'ab'.repeat(20),
        COURTLISTENER_WEBHOOK_SECRET: 'ab'.repeat(20),
      };
      const value = values[variable] ?? 'a value of any form';
      const engines = { EVENTSTORE_URL: values.EVENTSTORE_URL, MONGODB_URL: values.MONGODB_URL };
      const others: NodeJS.ProcessEnv = {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
        ...(variable in engines ? engines : {}),
      };
      const direct = readConfig({ ...others, [variable]: value });
      for (const end of ['', '\n', '\r\n']) {
        const environment = { ...others, [variable]: '', [`${variable}_FILE`]: fileWith(value + end) };
        expect(readConfig(environment)).toEqual(direct);
        expect(JSON.stringify(sourcedConfig(readConfig(environment), environment))).toContain(`"${variable}_FILE"`);
      }
    });

    it('is missing, empty, unreadable, too large, or given twice: each is a fault that names the variable', () => {
      const fault = (path: string, more: NodeJS.ProcessEnv = {}) => faultsOf({ MASTER_KEY_FILE: path, ...more });
      const missing = join(folder, 'missing');
      expect(fault(missing)).toEqual({
        MASTER_KEY_FILE: 'there is no such file; the path of a file is expected (not shown here)',
      });
      // The secret itself in the place of a path, even one that no path can be.
      for (const secret of ['1:S3CR3T', 'S3CR3T\0', 'S3CR3T'.repeat(1_000)]) {
        const told = fault(secret);
        expect(Object.keys(told)).toEqual(['MASTER_KEY_FILE']);
        expect(told.MASTER_KEY_FILE).not.toContain('S3CR3T');
      }
      expect(fault(fileWith('\n')).MASTER_KEY_FILE).toContain('empty');
      expect(fault(folder).MASTER_KEY_FILE).toContain('folder');
      if (process.platform !== 'win32') {
        const pipe = join(folder, 'pipe');
        execFileSync('mkfifo', [pipe]);
        for (const path of [pipe, '/dev/zero']) expect(fault(path).MASTER_KEY_FILE).toContain('device or a pipe');
      }
      expect(fault(fileWith(Buffer.alloc(70_000, 'a'))).MASTER_KEY_FILE).toContain('at most 65536 bytes');
      expect(fault(fileWith('1:aa'), { MASTER_KEY: 'x' }).MASTER_KEY_FILE).toContain('MASTER_KEY is set as well');
      const wrong = fault(fileWith('S3CR3T'));
      expect(Object.keys(wrong)).toEqual(['MASTER_KEY']);
      expect(JSON.stringify(wrong)).not.toContain('S3CR3T');
    });
  });

  it('needs no settings: everything runs on the embedded defaults', () => {
    expect(readConfig({})).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 8402,
      adminPort: 8403,
      dataDirectory: './data',
      solana: { network: 'local', rpcUrls: [], localPort: 8899, localSlotMs: 400 },
    });
  });

  it('exports traces only where a collector is named, as OpenTelemetry names it', () => {
    expect(readConfig({}).tracing).toBeNull();
    expect(readConfig({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'x' }).tracing).toBeNull();
    expect(
      readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'TRUE' }).tracing,
    ).toBe(null);
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }).tracing).toEqual({
      url: 'http://127.0.0.1:4318/v1/traces',
      headers: {},
      serviceName: '',
      resource: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
    });
    expect(
      readConfig({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=a%2Cb, tenant=courts',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
        OTEL_SERVICE_NAME: 'dockets',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.05',
      }).tracing,
    ).toEqual({
      url: 'https://traces.example/in',
      headers: { 'api-key': 'a,b', tenant: 'courts' },
      serviceName: 'dockets',
      resource: { 'deployment.environment.name': 'staging' },
      sampler: 'parentbased_traceidratio',
      ratio: 0.05,
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:S3CR3T@collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'https://collector/v1/traces?key=S3CR3T'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'S3CR3T'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key=S3CR3T%0D%0Ax: y'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key=%S3CR3T'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'staging'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'NaN'],
    ['OTEL_SDK_DISABLED', 'yes'],
  ])('refuses %s=%s', (variable, value) => {
    const faults = faultsOf({ [variable]: value });
    expect(Object.keys(faults)).toEqual([variable]);
    expect(JSON.stringify(faults)).not.toContain('S3CR3T');
  });

  it('masks the key of the collector', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=S3CR3T',
    };
    const shown = sourcedConfig(readConfig(environment), environment);
    expect(JSON.stringify(shown)).not.toContain('S3CR3T');
    expect(shown['tracing.headers']).toEqual({ value: ['api-key: (masked)'], source: 'OTEL_EXPORTER_OTLP_HEADERS' });
    expect(shown['tracing.url']?.source).toBe('OTEL_EXPORTER_OTLP_ENDPOINT');
  });

  it('limits the invalid payments of an address by default', () => {
    expect(readConfig({}).addressLimitPerMinute).toBe(120);
    expect(readConfig({ ADDRESS_LIMIT_PER_MINUTE: '0' }).addressLimitPerMinute).toBeNull();
    expect(readConfig({ ADDRESS_LIMIT_PER_MINUTE: '600' }).addressLimitPerMinute).toBe(600);
    expect(Object.keys(faultsOf({ ADDRESS_LIMIT_PER_MINUTE: '-1' }))).toEqual(['ADDRESS_LIMIT_PER_MINUTE']);
  });

  it('trusts only the configured proxies, by their ranges', () => {
    expect(readConfig({}).trustedProxies).toEqual([]);
    expect(readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,2001:DB8::/32' }).trustedProxies).toEqual([
      '10.0.0.0/8',
      '192.0.2.1/32',
      '2001:db8::/32',
    ]);
    for (const wrong of ['proxy.example', '10.0.0.1/8', '0.0.0.0/0', '::/0', '10.0.0.0/8;192.0.2.1']) {
      expect(Object.keys(faultsOf({ TRUSTED_PROXIES: wrong }))).toEqual(['TRUSTED_PROXIES']);
    }
  });

  it('records heads of the log by default, and anchors them only if configured', () => {
    expect(readConfig({}).audit).toEqual({ heads: true, anchor: null });
    expect(readConfig({ AUDIT_HEADS: 'off' }).audit).toEqual({ heads: false, anchor: null });
    expect(readConfig({ AUDIT_ANCHOR: 'daily' }).audit).toEqual({ heads: true, anchor: 'daily' });
    expect(faultsOf({ AUDIT_HEADS: 'off', AUDIT_ANCHOR: 'hourly' }).AUDIT_ANCHOR).toContain('requires AUDIT_HEADS=on');
    expect(Object.keys(faultsOf({ AUDIT_HEADS: 'yes', AUDIT_ANCHOR: 'weekly' }))).toEqual([
      'AUDIT_HEADS',
      'AUDIT_ANCHOR',
    ]);
    expect(sourcedConfig(readConfig({}), {})['audit.anchor']).toEqual({ value: null, source: 'default' });
    const environment = { AUDIT_ANCHOR: 'hourly' };
    const shown = sourcedConfig(readConfig(environment), environment);
    expect(shown['audit.anchor']).toEqual({ value: 'hourly', source: 'AUDIT_ANCHOR' });
  });

  it('treats an empty variable as not set', () => {
    expect(readConfig({ PORT: '', PAY_TO: '', SOLANA_RPC_URL: '' })).toEqual(readConfig({}));
  });

  it('reports every error at once, with the value received', () => {
    const faults = faultsOf({ PORT: '99999', LOG_LEVEL: 'loud', SOLANA_RPC_URL: 'ftp://x', PAY_TO: '0' });
    expect(Object.keys(faults).sort()).toEqual(['LOG_LEVEL', 'PAY_TO', 'PORT', 'SOLANA_RPC_URL']);
    // Base58 of 44 bytes: no address has these.
    expect(Object.keys(faultsOf({ PAY_TO: '1'.repeat(44) }))).toEqual(['PAY_TO']);
    expect(faults.PORT).toContain('99999');
  });

  it('requires keys and endpoints on a chain that is not local', () => {
    expect(Object.keys(faultsOf({ SOLANA_NETWORK: 'devnet' })).sort()).toEqual([
      'FEE_PAYER_KEY',
      'PAY_TO',
      'SOLANA_RPC_URL',
    ]);
  });

  it('rejects production on the local chain and on the embedded engine', () => {
    const faults = faultsOf({ NODE_ENV: 'production', SOLANA_NETWORK: 'local' });
    expect(faults.SOLANA_NETWORK).toContain('test money');
    expect(faults.EVENTSTORE_URL).toContain('production');
    expect(faults.MONGODB_URL).toContain('production');
    expect(faults.MASTER_KEY).toContain('production');
  });

  it('accepts production on both engines and a real chain', () => {
    const config = readConfig({
      NODE_ENV: 'production',
      EVENTSTORE_URL: 'esdb+discover://user:secret@events.example',
      MONGODB_URL: 'mongodb://user:secret@a.example,b.example/docket?replicaSet=rs0',
      SOLANA_NETWORK: 'devnet',
      SOLANA_RPC_URL: 'https://rpc.example',
      FEE_PAYER_KEY: 'key',
      MASTER_KEY: `1:${'ab'.repeat(32)}`,
      PAY_TO: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
      PUBLIC_URL: 'https://dockets.example',
    });
    expect(config.production).toBe(true);
    expect(config.engines?.eventStore).toContain('events.example');
  });

  it('requires both engines or none', () => {
    expect(readConfig({}).engines).toBeNull();
    const eventStore = 'esdb://localhost:2113?tls=false';
    const mongo = 'mongodb://localhost:27017';
    expect(readConfig({ EVENTSTORE_URL: eventStore, MONGODB_URL: mongo }).engines).toEqual({ eventStore, mongo });
    expect(faultsOf({ EVENTSTORE_URL: eventStore })).toEqual({
      MONGODB_URL: expect.stringContaining('EVENTSTORE_URL'),
    });
    expect(faultsOf({ MONGODB_URL: mongo })).toEqual({ EVENTSTORE_URL: expect.stringContaining('MONGODB_URL') });
  });

  it.each([
    ['EVENTSTORE_URL', 'http://user:geheim@localhost:2113'],
    ['EVENTSTORE_URL', 'esdb://user:geheim@localhost:2113?unknownOption=geheim'],
    ['EVENTSTORE_URL', 'esdb://user:ge:heim@localhost'],
    ['MONGODB_URL', 'postgres://user:geheim@localhost'],
  ])('rejects a malformed %s without repeating it', (variable, value) => {
    const problem = faultsOf({ EVENTSTORE_URL: 'esdb://h', MONGODB_URL: 'mongodb://h', [variable]: value })[variable];
    expect(problem).toBeDefined();
    expect(problem).not.toMatch(/ge:?heim|unknownOption/);
  });

  it('shows where the engines are, without their credentials', () => {
    const config = readConfig({
      EVENTSTORE_URL: 'esdb://root:geheim@a.example:2113,b.example?tls=true&tlsCAFile=/etc/geheim.pem',
      MONGODB_URL: 'mongodb+srv://root:geheim@cluster.example/dockets?authSource=geheim',
    });
    const shown = JSON.stringify(shownConfig(config));
    expect(shown).toContain('esdb://(masked)@a.example:2113,b.example:2113?tls=true');
    expect(shown).toContain('mongodb+srv://(masked)@cluster.example/dockets');
    expect(shown).not.toMatch(/geheim|root/);
  });

  it('shows the values in use and the source of each', () => {
    const unset = sourcedConfig(readConfig({ DATA_DIR: '/nowhere' }), { DATA_DIR: '/nowhere' });
    expect(unset).toMatchObject({
      publicUrl: { value: 'http://127.0.0.1:8402', source: 'default' },
      dataDirectory: { value: '/nowhere', source: 'DATA_DIR' },
      masterKey: { value: '(generated at the first start)', source: '/nowhere/keys/master-key' },
      'solana.rpcUrls': { value: ['http://127.0.0.1:8899'], source: 'default' },
      'solana.payTo': { value: '(generated at the first start)', source: '/nowhere/keys/receiver.json' },
    });
    const environment = { MASTER_KEY: `2:${'ab'.repeat(32)}`, SOLANA_RPC_URL: 'https://rpc.example/geheim' };
    const set = sourcedConfig(readConfig(environment), environment);
    expect(set).toMatchObject({
      masterKey: { value: '(set, masked)', source: 'MASTER_KEY' },
      'solana.rpcUrls': { value: ['https://rpc.example/(masked)'], source: 'SOLANA_RPC_URL' },
    });
    expect(JSON.stringify(set)).not.toMatch(/abab|geheim/);
  });

  it('never shows a secret', () => {
    const secret = JSON.stringify(Array.from({ length: 64 }, (_, i) => i));
    const shown = JSON.stringify(
      shownConfig(readConfig({ FEE_PAYER_KEY: secret, SOLANA_RPC_URL: 'https://user:pass@rpc.example/v1/key?k=1' })),
    );
    expect(shown).not.toContain('1,2,3');
    const masterKey = JSON.stringify(
      shownConfig(readConfig({ MASTER_KEY: `2:${'ab'.repeat(32)},1:${'cd'.repeat(32)}` })),
    );
    expect(masterKey).toContain('masterKey');
    expect(masterKey).not.toMatch(/abab|cdcd/);
    expect(shown).not.toMatch(/pass|key\?|k=1/);
    expect(maskUrl('http://127.0.0.1:8899')).toBe('http://127.0.0.1:8899');
    expect(faultsOf({ FEE_PAYER_KEY: secret, PORT: 'x' })).not.toHaveProperty('FEE_PAYER_KEY');
  });
});

describe('the targets of callbacks', () => {
  it('are public only, unless an operator names a private one, in any notation', () => {
    expect(readConfig({})).toMatchObject({ callbackAllowPrivate: [], callbackNat64Prefixes: [] });
    const pairs = '127.0.0.1:9000, [::1]:9001,[0:0::0001]:9001';
    expect(readConfig({ CALLBACK_ALLOW_PRIVATE: pairs }).callbackAllowPrivate).toEqual([
      '127.0.0.1:9000',
      '[::1]:9001',
      '[::1]:9001',
    ]);
    expect(readConfig({ CALLBACK_NAT64_PREFIXES: '2001:db8:64::/96' }).callbackNat64Prefixes).toEqual([
      '2001:db8:64::/96',
    ]);
  });

  it.each([
    'localhost:9000',
    '127.0.0.1',
    '127.0.0.1:0',
    '127.0.0.1:70000',
    'http://127.0.0.1:9000',
    '10.0.0.0/8',
    'x',
  ])('never accepts %s as an address with a port', (pair) => {
    expect(Object.keys(faultsOf({ CALLBACK_ALLOW_PRIVATE: `127.0.0.1:1,${pair}` }))).toEqual([
      'CALLBACK_ALLOW_PRIVATE',
    ]);
  });

  it.each(['64:ff9b::', '10.0.0.0/8', '2001:db8:64::1/96', '2001:db8::/129'])(
    'never accept %s as a prefix',
    (prefix) => {
      expect(Object.keys(faultsOf({ CALLBACK_NAT64_PREFIXES: prefix }))).toEqual(['CALLBACK_NAT64_PREFIXES']);
    },
  );

  it('are rejected in production, with the reason', () => {
    const faults = faultsOf({ NODE_ENV: 'production', CALLBACK_ALLOW_PRIVATE: '127.0.0.1:9000' });
    expect(faults.CALLBACK_ALLOW_PRIVATE).toContain('any caller');
  });
});

describe('MCP_ALLOWED_ORIGINS', () => {
  it('accepts origins of web pages in the form that browsers send', () => {
    expect(readConfig({}).mcpAllowedOrigins).toEqual([]);
    const pages = 'https://App.example, http://10.0.0.7:8080/ ,*';
    expect(readConfig({ MCP_ALLOWED_ORIGINS: pages }).mcpAllowedOrigins).toEqual([
      'https://app.example',
      'http://10.0.0.7:8080',
      '*',
    ]);
    for (const page of ['app.example', 'https://app.example/path', 'ftp://app.example', 'https://me@app.example']) {
      expect(Object.keys(faultsOf({ MCP_ALLOWED_ORIGINS: page }))).toEqual(['MCP_ALLOWED_ORIGINS']);
    }
  });
});

describe('the listening addresses', () => {
  it.each(['HOST', 'ADMIN_HOST'])('%s accepts addresses of either family and names', (variable) => {
    const read = (value: string) => {
      const { host, adminHost } = readConfig({ [variable]: value });
      return variable === 'HOST' ? host : adminHost;
    };
    const given = ['::1', '::', '[::1]', '[::]', '0.0.0.0', 'localhost', 'node-1.example', ''];
    const meant = ['::1', '::', '::1', '::', '0.0.0.0', 'localhost', 'node-1.example', '127.0.0.1'];
    expect(given.map(read)).toEqual(meant);
    for (const wrong of ['127.0.0.1:80', '[::1]:80', 'localhost:8402']) {
      expect(() => read(wrong)).toThrow(`the port belongs in ${variable === 'HOST' ? 'PORT' : 'ADMIN_PORT'}`);
    }
    for (const wrong of ['http://localhost', '[127.0.0.1]', '1.2.3', '300.1.1.1', 'a b', ':::', '[::1', '-x']) {
      expect(() => read(wrong)).toThrow('an IP address or a host name is expected');
    }
  });

  it('keep the admin port, which has no login, on this machine', () => {
    expect(readConfig({ HOST: '0.0.0.0' })).toMatchObject({ host: '0.0.0.0', adminHost: '127.0.0.1' });
  });
});

describe('PUBLIC_URL', () => {
  it.each(['https://dockets.example', 'https://dockets.example/', 'http://[::1]:8402'])('accepts %s', (url) => {
    expect(readConfig({ PUBLIC_URL: url }).publicUrl).toBe(url.replace(/\/$/, ''));
  });

  it.each([
    ['https://API.example', 'https://api.example'],
    ['HTTPS://api.example:443//', 'https://api.example'],
    ['http://api.example:80', 'http://api.example'],
    ['http://[0:0::1]:8402/', 'http://[::1]:8402'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('gives %s the same spelling on every node', (url, normal) => {
    expect(readConfig({ PUBLIC_URL: url }).publicUrl).toBe(normal);
  });

  it.each([
    ['https://dockets.example/api', 'a path'],
    ['https://dockets.example/?x=1', 'a query'],
    ['https://dockets.example?', 'a query'],
    ['https://dockets.example/#top', 'a fragment'],
    ['https://user:pass@dockets.example', 'credentials'],
    ['https://u@dockets.example/a?b#c', 'credentials, a path, a query, a fragment'],
  ])('rejects %s and says why', (url, parts) => {
    expect(() => readConfig({ PUBLIC_URL: url })).toThrow(`without ${parts}`);
  });

  describe('live sources', () => {
    it('are none by default, and each is opened by one variable', () => {
      expect(readConfig({}).sources).toMatchObject({
        courtListener: { token: null, webhookSecret: null, url: 'https://www.courtlistener.com/api/rest/v4/' },
        rss: { courts: [], url: null, keepsAll: false },
        scotus: { isOn: false, url: null },
        allowPrivate: [],
        watchDays: 30,
      });
      const set = readConfig({
        COURTLISTENER_TOKEN: 'ab'.repeat(20),
        RSS_COURTS: 'cand, NYSD',
        RSS_KEEP: 'all',
        SCOTUS: 'on',
        COURTLISTENER_RATES: '1400/day,25/min',
      }).sources;
      expect(set.rss).toEqual({ courts: ['cand', 'nysd'], url: null, keepsAll: true });
      expect(set.scotus.isOn).toBe(true);
      expect(set.courtListener.rates).toEqual([
        { requests: 25, micros: 60_000_000 },
        { requests: 1400, micros: 86_400_000_000 },
      ]);
    });

    it.each([
      ['COURTLISTENER_TOKEN', 'Token abcdefgh'],
      ['COURTLISTENER_RATES', '5/min,5/min'],
      ['COURTLISTENER_RATES', '0/day'],
      ['COURTLISTENER_RATES', '5/week'],
      ['COURTLISTENER_URL', 'ftp://one.example/'],
      ['COURTLISTENER_WEBHOOK_SECRET', 'short'],
      ['COURTLISTENER_WEBHOOK_SECRET', '/'.repeat(40)],
      ['RSS_COURTS', 'cand,nowhere'],
      ['RSS_URL', 'https://feeds.example/rss'],
      ['RSS_KEEP', 'some'],
      ['SCOTUS', 'yes'],
      ['SCOTUS_URL', '{number}'],
      ['SOURCES_ALLOW_PRIVATE', '127.0.0.1'],
      ['WATCH_DAYS', '-1'],
    ])('refuse %s=%s', (variable, value) => {
      expect(Object.keys(faultsOf({ [variable]: value }))).toEqual([variable]);
    });

    it.each([
      ['COURTLISTENER_URL', 'https://user:S3CR3T@one.example/'],
      ['RSS_URL', 'https://user:S3CR3T@feeds.example/{court}'],
      ['SCOTUS_URL', 'https://S3CR3T@files.example/{number}'],
    ])('refuse a password in %s, and do not repeat it', (variable, value) => {
      const faults = faultsOf({ [variable]: value });
      expect(Object.keys(faults)).toEqual([variable]);
      expect(JSON.stringify(faults)).not.toContain('S3CR3T');
    });

    it('send no token unencrypted in production', () => {
      const url = 'http://one.example/api/rest/v4/';
      const production = { NODE_ENV: 'production', COURTLISTENER_URL: url };
      expect(faultsOf({ ...production, COURTLISTENER_TOKEN: 'ab'.repeat(20) }).COURTLISTENER_URL).toContain('https');
      expect(faultsOf(production).COURTLISTENER_URL).toBeUndefined();
    });

    it('refuse private addresses in production', () => {
      const faults = faultsOf({ NODE_ENV: 'production', SOURCES_ALLOW_PRIVATE: '127.0.0.1:9000' });
      expect(faults.SOURCES_ALLOW_PRIVATE).toContain('no real source');
    });
  });
});
