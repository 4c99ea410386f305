import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { main } from '../../../src/cli/main.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { openWorld, type World } from '../../http/world.ts';

const MAIN = { case_id: '3:24-cv-01234', court_code: 'cand' };
const UNKNOWN = { case_id: '3:24-cv-99998', court_code: 'cand' };

let world: World;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'query-batch-'));
  world = await openWorld();
  await world.importDocket(rawDocket([rawEntry(1, '2024-02-01', 'COMPLAINT')]));
});
afterAll(async () => {
  await world.close();
  await rm(directory, { recursive: true, force: true });
});

async function docket(argv: readonly string[], stdin = '') {
  const written = { out: '', err: '' };
  const stream = (to: 'out' | 'err') =>
    new Writable({
      write(chunk, _encoding, done) {
        written[to] += chunk;
        done();
      },
    });
  const code = await main(argv, {
    environment: { DATA_DIR: join(directory, 'data') },
    stdin: Readable.from([stdin]),
    stdout: stream('out'),
    stderr: stream('err'),
    interactive: false,
  });
  return { code, ...written };
}

const batch = (file: string, more: readonly string[] = [], stdin = '') =>
  docket(['query', '--batch', file, '--url', world.url, '--rpc-url', world.rpcUrl, ...more], stdin);

async function fileOf(content: unknown): Promise<string> {
  const file = join(directory, 'queries.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function payer() {
  const wallet = await world.wallet();
  const file = join(directory, `${wallet.publicKey.toBase58()}.json`);
  await writeFile(file, JSON.stringify([...wallet.secretKey]));
  return { wallet, options: ['--keypair', file] };
}

describe('docket query --batch', () => {
  it.each(['v2', 'v1', 'self'])('pays for all of them at once in dialect %s', async (dialect) => {
    const { wallet, options } = await payer();
    const file = await fileOf([MAIN, { ...MAIN, last_checked: '2020-01-01T00:00:00Z' }, MAIN]);
    const { code, out, err } = await batch(file, [...options, '--dialect', dialect, '--json']);
    expect([code, err]).toEqual([EXIT.ok, '']);
    expect(await world.balance(wallet)).toBe(20_000_000n - 2_970_000n);
    const shown = JSON.parse(out);
    expect(shown).toMatchObject({ charged_usd: 2.97, failed: 0, answer: { meta: { batch_size: 3 } } });
    expect((await fetch(shown.result_url)).status).toBe(200);
  });

  it('prints readable results and says what failed', async () => {
    const { options } = await payer();
    const file = await fileOf({ queries: [{ ...MAIN, last_checked: '2020-01-01T00:00:00Z' }, UNKNOWN] });
    const { code, out, err } = await batch(file, options);
    expect(code).toBe(EXIT.found);
    expect(out).toMatch(/^3:24-cv-01234 {2}Sample Person v\. Example Corporation {2}\(.*Northern District/);
    expect(out).toMatch(
      /\n {2}1 new filing\n {4}1 {2}2024-02-01 {2}complaint {2}COMPLAINT\n {2}Next time: last_checked 2/,
    );
    expect(out).toMatch(/\ncand {2}3:24-cv-99998 {2}case_not_found: No such case is known\.\n/);
    expect(out).toMatch(/\nPaid 1\.98 USDC from \w+, transaction \w{80,}\nFetch this answer again for free: http/);
    expect(err).toMatch(/1 of 2 queries failed; one payment covers the whole batch/);
  });

  it('is charged nothing if all fail', async () => {
    const { wallet, options } = await payer();
    const { code, out, err } = await batch('-', options, JSON.stringify([UNKNOWN]));
    expect([code, out.includes('Paid')]).toEqual([EXIT.found, false]);
    expect(err).toMatch(/nothing was charged/);
    expect(await world.balance(wallet)).toBe(20_000_000n);
  });

  it('may cost 1 USD per case, and no more than the limit', async () => {
    const { wallet, options } = await payer();
    const { code, err } = await batch(await fileOf([MAIN, MAIN]), [...options, '--max-usd', '1.97']);
    expect([code, err]).toEqual([EXIT.found, expect.stringContaining('more than $1.97')]);
    expect(await world.balance(wallet)).toBe(20_000_000n);
  });

  it('gives its test wallet enough for a large batch', async () => {
    const { code, err } = await batch(await fileOf(Array(50).fill(MAIN)), ['--json']);
    expect([code, err]).toEqual([EXIT.ok, expect.stringContaining('50 test USDC')]);
  });

  it.each([
    ['a file that is not there', 'nowhere.json', '', /cannot be read/],
    ['what is not JSON', '-', '{', /not valid JSON/],
    ['what is no batch', '-', '7', /not a batch/],
  ])('gives a hint for %s', async (_, file, stdin, expected) => {
    const { code, err } = await batch(file, [], stdin);
    expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(expected)]);
  });

  it('shows every error that the service reports', async () => {
    const { options } = await payer();
    const { code, err } = await batch(await fileOf([{ ...MAIN, last_cheked: 'x' }]), options);
    expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(/queries\[0\]\.last_cheked/)]);
  });

  it('excludes the options of a single case', async () => {
    const both = await batch('-', ['--case-id', '3:24-cv-01234', '--court-code', 'cand']);
    expect([both.code, both.err]).toEqual([EXIT.usage, expect.stringMatching(/cannot be used/)]);
    const neither = await docket(['query']);
    expect([neither.code, neither.err]).toEqual([
      EXIT.usage,
      expect.stringMatching(/--court-code and --case-id are missing/),
    ]);
  });
});
