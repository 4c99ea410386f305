/** The published vectors, and the example receivers: run as separate programs, called through the guard. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createOutbound } from '../../src/callbacks/outbound/guarded-outbound.ts';
import {
  type CallbackKey,
  isFresh,
  signatureHeaders,
  standardSecret,
  verifySignature,
} from '../../src/callbacks/signature.ts';

const folder = join(import.meta.dirname, '../../examples/receiver');
const vectorsFile = join(folder, 'vectors.json');

interface Vector {
  readonly name: string;
  readonly refused: 'stale' | 'signature' | 'idempotency_key' | null;
  readonly now: number;
  readonly keys: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
}
const published = JSON.parse(readFileSync(vectorsFile, 'utf8')) as {
  vectors: Vector[];
  standard_secrets: Record<string, string>;
};

describe('the published vectors', () => {
  test('cover every kind', () => {
    expect(new Set(published.vectors.map(({ refused }) => refused))).toEqual(
      new Set([null, 'stale', 'signature', 'idempotency_key']),
    );
  });

  test.each(published.vectors)('$name', ({ headers, body, keys, now, refused }) => {
    const family = 'webhook-signature' in headers ? 'standard-webhooks' : 'service';
    const held = Object.entries(keys).map(([keyId, secret]) => ({ keyId, secret }));
    const named = held.filter(({ keyId }) => family !== 'service' || keyId === headers['x-service-signature-key-id']);
    const time = headers[family === 'service' ? 'x-service-timestamp' : 'webhook-timestamp'] ?? '';
    const signedBy = verifySignature({ headers, body: Buffer.from(body) }, family, named);
    const accepted = isFresh(time, now) && signedBy !== null;
    expect(accepted).toBe(refused === null || refused === 'idempotency_key');
  });

  test.each(published.vectors.filter(({ headers }) => headers['webhook-signature']))(
    'a Standard Webhooks library agrees: $name',
    ({ headers, body, keys, now, refused }) => {
      vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] });
      try {
        const verify = () =>
          Object.values(keys).some((secret) => {
            try {
              return new Webhook(standardSecret(secret)).verify(body, headers, { jsonParse: false }) === undefined;
            } catch {
              return false;
            }
          });
        expect(verify()).toBe(refused === null || refused === 'idempotency_key');
      } finally {
        vi.useRealTimers();
      }
    },
  );

  test('give the keys in the form that such a library accepts', () => {
    const secrets = Object.assign({}, ...published.vectors.map(({ keys }) => keys)) as Record<string, string>;
    for (const [keyId, secret] of Object.entries(published.standard_secrets)) {
      expect(secret).toBe(standardSecret(secrets[keyId]!));
    }
  });
});

const KEYS = [
  { keyId: 'new-key', secret: 'ab'.repeat(32) },
  { keyId: 'old-key', secret: 'cd'.repeat(32) },
] as const;

const built = mkdtempSync(join(tmpdir(), 'receiver-'));
afterAll(() => rmSync(built, { recursive: true, force: true }));

const PROGRAMS = {
  TypeScript: [process.execPath, join(built, 'receiver.js')],
  Python: ['python3', join(folder, 'receiver.py')],
} as const;

beforeAll(() => {
  const options = '--ignoreConfig --module nodenext --target es2023 --types node --strict --erasableSyntaxOnly'.split(
    ' ',
  );
  const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc');
  const compiled = spawnSync(tsc, [join(folder, 'receiver.ts'), '--outDir', built, ...options], { encoding: 'utf8' });
  expect(compiled.stdout + compiled.stderr).toBe('');
  writeFileSync(join(built, 'package.json'), '{"type":"module"}');
  const python = spawnSync('python3', ['--version'], { encoding: 'utf8' });
  if (python.status !== 0) throw new Error('python3 is not installed: examples/receiver/receiver.py cannot be tested');
});

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill();
    await once(child, 'exit');
  }
});

async function start(program: readonly [string, string]) {
  const secrets = KEYS.map(({ keyId, secret }) => `${keyId}:${secret}`).join(',');
  const child = spawn(program[0], [program[1]], {
    env: { ...process.env, SIGNING_KEYS: secrets, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  await vi.waitFor(() => expect(output).toContain('listening'), { timeout: 10_000 });
  return { port: Number(/listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1]), output: () => output };
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

describe.each(Object.entries(PROGRAMS))('the receiver in %s', (_, program) => {
  test('reproduces each published vector', () => {
    const checked = spawnSync(program[0], [program[1], 'check', vectorsFile], { encoding: 'utf8' });
    expect(checked.stdout.split('\n').filter((line) => line.startsWith('WRONG'))).toEqual([]);
    expect(checked.status).toBe(0);
    expect(checked.stdout.match(/^ok /gm)).toHaveLength(published.vectors.length);
  });

  test('reports a vector with an unexpected result', () => {
    const file = join(built, 'wrong.json');
    const vectors = published.vectors.map((vector) => ({
      ...vector,
      refused: vector.refused === null ? 'stale' : null,
    }));
    writeFileSync(file, JSON.stringify({ vectors }));
    const checked = spawnSync(program[0], [program[1], 'check', file], { encoding: 'utf8' });
    expect([checked.status, checked.stdout.match(/^WRONG /gm)?.length]).toEqual([1, vectors.length]);
  });

  test('does not start without keys', () => {
    const started = spawnSync(program[0], [program[1]], {
      encoding: 'utf8',
      env: { ...process.env, SIGNING_KEYS: '' },
    });
    expect(started.status).not.toBe(0);
    expect(started.stderr).toContain('SIGNING_KEYS is KEY_ID:SECRET');
  });

  test('acknowledges signed deliveries, processes each once, and rejects the rest', async () => {
    const { port, output } = await start(program);
    const outbound = createOutbound({ trustedPairs: [`127.0.0.1:${port}`] });
    const post = async (id: string, keys: readonly CallbackKey[], change: (body: Buffer) => Buffer = (b) => b) => {
      const body = Buffer.from(JSON.stringify({ payload: { case_name: 'Müller' }, webhook: { idempotency_key: id } }));
      const headers = signatureHeaders({ body, deliveryId: id, idempotencyKey: id, atSeconds: nowSeconds(), keys });
      const { responseCode } = await outbound.post({ url: `http://127.0.0.1:${port}/`, headers, body: change(body) });
      return responseCode;
    };
    const [current, previous] = KEYS;
    expect(await post('one', [current])).toBe(204);
    expect(await post('one', [current])).toBe(204);
    expect(await post('two', [previous])).toBe(204);
    expect(await post('three', [current, previous])).toBe(204);
    expect(await post('four', [{ keyId: 'new-key', secret: 'ef'.repeat(32) }])).toBe(401);
    expect(await post('five', [current], (body) => Buffer.from(body.toString().replace('Müller', 'Muller')))).toBe(401);
    // Deliveries are acknowledged before they are processed, concurrently, so in any order.
    const taken = () => [...(output().match(/^took .*$/gm) ?? [])].sort();
    await vi.waitFor(() => expect(taken()).toEqual(['took one', 'took three', 'took two']), { timeout: 10_000 });
    await outbound.close();
  });
});
