import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Keypair } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { main } from '../../../src/cli/main.ts';
import { problem } from '../../../src/errors.ts';
import { ChainUnavailable } from '../../../src/solana/chain.ts';
import { asksFor } from '../../clients/dear-service.ts';
import { openWorld, USDC, type World } from '../../payments/world.ts';

const REFUSALS = new Map([
  ['several', problem('ambiguous_case_id', { pattern: '^.*$', example: '3:24-cv-01234' })],
  ['closed', problem('court_unavailable', { retry_after: 7 })],
  ['down', problem('service_unavailable', { component: 'read_store', retry_after: 2 })],
]);

let world: World;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'query-'));
  world = await openWorld({
    patience: { settlementMs: 1_000 },
    answer: async (caseId, call) => {
      const refusal = REFUSALS.get(caseId);
      if (refusal) return refusal;
      if (caseId === 'nowhere') return problem('case_not_found', { enqueued: false });
      const filing = {
        entry_number: 12,
        filed_at: '2026-03-01T00:00:00-08:00',
        filing_type: 'motion',
        description: 'MOTION to Seal filed by Sample Person',
      };
      const body = {
        meta: {
          request_id: call.requestId,
          queried_at: '2026-03-02T10:00:00.000000Z',
          query_cost_usd: call.costUsd,
        },
        case: { case_number: caseId, case_name: 'Sample v. Example', court_name: 'Sample Court' },
        delta: { changed: true, change_count: 1, new_filings: [filing] },
      };
      return { body: Buffer.from(JSON.stringify(body)), answeredCases: 1 };
    },
  });
});
afterAll(async () => {
  await world.close();
  await rm(directory, { recursive: true, force: true });
});
afterEach(() => world.disturb());

async function keyFile(wallet: Keypair): Promise<string> {
  const file = join(directory, `${wallet.publicKey.toBase58()}.json`);
  await writeFile(file, JSON.stringify([...wallet.secretKey]));
  return file;
}

async function docket(...argv: readonly string[]) {
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
    stdin: process.stdin,
    stdout: stream('out'),
    stderr: stream('err'),
    interactive: false,
  });
  return { code, ...written };
}

const query = (caseId: string, ...more: readonly string[]) =>
  docket('query', '--court-code', 'cand', '--case-id', caseId, '--url', world.url, '--rpc-url', world.rpcUrl, ...more);

describe('docket query', () => {
  it.each(['v2', 'v1', 'self'])('pays in dialect %s and shows what it bought', async (dialect) => {
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, async () =>
      query('3:24-cv-01234', '--dialect', dialect, '--keypair', await keyFile(wallet), '--json'),
    );
    expect(result.err).toBe('');
    expect([result.code, spent]).toEqual([EXIT.ok, 990_000n]);
    const shown = JSON.parse(result.out);
    expect(shown).toMatchObject({
      wallet: wallet.publicKey.toBase58(),
      charged_usd: 0.99,
      change_count: 1,
      queried_at: '2026-03-02T10:00:00.000000Z',
      answer: { case: { case_number: '3:24-cv-01234' } },
    });
    expect(await world.chain.signatureStatus(shown.transaction)).toMatchObject({ error: null });
    expect((await fetch(shown.result_url)).status).toBe(200);
  });

  it('prints readable output', async () => {
    const wallet = await world.wallet();
    const { out } = await query('3:24-cv-01234', '--keypair', await keyFile(wallet));
    const [title, paid, count, filing, next, again] = out.split('\n');
    expect(title).toBe('3:24-cv-01234  Sample v. Example  (Sample Court)');
    expect(paid).toMatch(/^Paid 0\.99 USDC from \w+, transaction \w{80,}$/);
    expect(count).toBe('1 new filing');
    expect(filing).toBe('  12  2026-03-01  motion  MOTION to Seal filed by Sample Person');
    expect(next).toBe('Next time: --last-checked 2026-03-02T10:00:00.000000Z');
    expect(again).toMatch(/^Fetch this answer again for free: http.*\/v2\/results\/r1-[\w-]{43}$/);
  });

  it('creates and funds a test wallet on the local chain', async () => {
    const first = await query('1:24-cv-00001', '--json');
    expect([first.code, first.err]).toEqual([EXIT.ok, expect.stringContaining('20 test USDC')]);
    const second = await query('1:24-cv-00002', '--json');
    expect([second.code, second.err]).toEqual([EXIT.ok, '']);
    expect(JSON.parse(second.out).wallet).toBe(JSON.parse(first.out).wallet);
  });

  it('waits at the result URL while the chain is silent, and never pays again', async () => {
    const wallet = await world.wallet();
    const silent = async (): Promise<never> => {
      throw new ChainUnavailable('silent');
    };
    world.disturb({
      // Silent from the broadcast on, with which the first check is sent.
      signatureStatus: silent,
      blockHeight: silent,
      send: async (wire) => {
        const outcome = await world.chain.send(wire);
        setTimeout(async () => {
          world.disturb();
          await world.recoverLater().round();
        }, 3_000);
        return outcome;
      },
    });
    const { result, spent } = await world.moved(wallet, async () =>
      query('3:24-cv-01234', '--keypair', await keyFile(wallet), '--json'),
    );
    expect(result.err).toContain('is not settled yet');
    expect([result.code, spent]).toEqual([EXIT.ok, 990_000n]);
    expect(await world.chain.signatureStatus(JSON.parse(result.out).transaction)).toMatchObject({ error: null });
  });
});

describe('docket query explains an error and what to do', () => {
  it.each([
    ['v2', 'costs more than $0.5', '--max-usd'],
    ['v1', 'costs more than $0.5', '--max-usd'],
    ['self', 'costs more than $0.5', '--max-usd'],
  ])('%s: a call above the spending cap', async (dialect, message, hint) => {
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, async () =>
      query('a', '--dialect', dialect, '--keypair', await keyFile(wallet), '--max-usd', '0.5'),
    );
    expect([result.code, spent]).toEqual([EXIT.found, 0n]);
    expect(result.err).toContain(message);
    expect(result.err).toContain(hint);
  });

  it('a token other than USDC, without signing anything for it', async () => {
    const dear = await asksFor(world.url, { asset: 'So11111111111111111111111111111111111111112' });
    const wallet = ['--keypair', await keyFile(await world.wallet()), '--url', dear.url];
    const { code, err } = await query('a', ...wallet, '--dialect', 'self');
    dear.close();
    expect([code, err, dear.payments]).toEqual([EXIT.found, expect.stringContaining('not USDC'), []]);
  });

  it('an unknown case, which costs nothing', async () => {
    const wallet = await world.wallet();
    const { result, spent } = await world.moved(wallet, async () =>
      query('nowhere', '--keypair', await keyFile(wallet)),
    );
    expect([result.code, spent]).toEqual([EXIT.found, 0n]);
    expect(result.err).toContain('case_not_found: No such case is known.');
    expect(result.out).toBe('');
  });

  it.each([
    [
      'several',
      EXIT.found,
      /^ambiguous_case_id: .* Nothing was charged\.\nSend the complete case number, including its office; see \^\.\*\$ and 3:24-cv-01234\.$/m,
    ],
    ['closed', EXIT.unavailable, /^Retry after 7 seconds; /m],
    ['down', EXIT.unavailable, /^service_unavailable \(read_store\): .* Nothing was charged\.$/m],
  ])('with details filled into the text: %s', async (caseId, expected, words) => {
    const { code, err } = await query(caseId, '--keypair', await keyFile(await world.wallet()));
    expect([code, err]).toEqual([expected, expect.stringMatching(words)]);
    expect(err).not.toMatch(/details\./);
  });

  it('also in JSON, for an error of the service and a wrong option: one object on stdout', async () => {
    const wallet = await world.wallet();
    const refused = await query('nowhere', '--keypair', await keyFile(wallet), '--json');
    expect(refused.code).toBe(EXIT.found);
    expect(JSON.parse(refused.out)).toEqual({
      error: {
        message: 'case_not_found: No such case is known. Nothing was charged.',
        hint: expect.stringContaining('Check the number'),
        code: 'case_not_found',
        status: 404,
        details: { charged: false, enqueued: false },
      },
    });
    const wrong = await docket('query', '--court-code', 'cand', '--json');
    expect(wrong.code).toBe(EXIT.usage);
    expect(JSON.parse(wrong.out)).toEqual({
      error: { message: expect.stringContaining('--case-id'), hint: expect.stringContaining('--batch') },
    });
  });

  it('a wallet without enough funds', async () => {
    const poor = await world.wallet(USDC / 2n);
    const { code, err } = await query('a', '--keypair', await keyFile(poor));
    expect(code).toBe(EXIT.found);
    expect(err).toContain('short of 0.49 USDC');
    expect(err).toContain(`docket wallet fund ${poor.publicKey.toBase58()}`);
  });

  it('a wallet without SOL for its own fee', async () => {
    const { Keypair } = await import('@solana/web3.js');
    const poor = Keypair.generate();
    const { err } = await query('a', '--keypair', await keyFile(poor), '--dialect', 'self');
    expect(err).toContain(`docket wallet fund ${poor.publicKey.toBase58()} --sol`);
  });

  it.each([
    ['--url', 'nonsense', EXIT.usage],
    ['--url', 'ftp://127.0.0.1', EXIT.usage],
    ['--rpc-url', 'nonsense', EXIT.usage],
    // Not a chain: the service itself, with a wallet of its own and with one that was named.
    ['--rpc-url', 'the service', EXIT.usage],
    ['--rpc-url', 'the service, and a wallet', EXIT.unavailable],
    ['--payment-id', 'short', EXIT.usage],
  ])('never with a stack: %s %s', async (option, value, expected) => {
    const wallet = value.endsWith('a wallet') ? ['--keypair', await keyFile(await world.wallet())] : [];
    const given = value.startsWith('the service') ? world.url : value;
    const { code, err } = await query('a', ...wallet, option, given);
    expect([code, err]).toEqual([expected, expect.not.stringContaining('Unexpected')]);
    expect(err.trim().split('\n'), 'what is wrong, and what to do').toHaveLength(2);
  });

  it('a service that is not running', async () => {
    const wallet = await world.wallet();
    const { code, err } = await query('a', '--keypair', await keyFile(wallet), '--url', 'http://127.0.0.1:9');
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringContaining('docket serve')]);
  });

  it('a chain that is not running', async () => {
    const wallet = await world.wallet();
    const { code, err } = await query('a', '--keypair', await keyFile(wallet), '--rpc-url', 'http://127.0.0.1:9');
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringContaining('--rpc-url')]);
  });

  it('a missing or invalid key file', async () => {
    const missing = await query('a', '--keypair', join(directory, 'none.json'));
    expect([missing.code, missing.err]).toEqual([EXIT.usage, expect.stringContaining('docket wallet new')]);
    const file = join(directory, 'bad.json');
    await writeFile(file, 'secret');
    const bad = await query('a', '--keypair', file);
    expect([bad.code, bad.err]).toEqual([EXIT.usage, expect.stringContaining('solana-keygen')]);
  });

  it('a wrong option', async () => {
    for (const amount of ['lots', '0.1234567', '99999999999999', '-1', '1e3'])
      expect((await query('a', `--max-usd=${amount}`)).code, amount).toBe(EXIT.usage);
    expect((await query('a', '--dialect', 'v3')).code).toBe(EXIT.usage);
    expect((await docket('query', '--court-code', 'cand')).code).toBe(EXIT.usage);
  });
});
