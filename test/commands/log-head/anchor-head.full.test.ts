/**
 * Given recorded heads and a local chain, when the newest is anchored, then a final transaction of the fee payer has its
 * root in a memo, the log names that transaction, and a check of the chain finds what the log says and what it lacks.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AnchorHistory, anchorsOnChain, checkAnchor, checkAnchors } from '../../../src/audit/anchors.ts';
import { readMasterKeys } from '../../../src/callbacks/master-keys.ts';
import { AnchorFailed, type AnchorPorts, anchorNewestHead } from '../../../src/commands/log-head/anchor-head.ts';
import type { LogAnchor } from '../../../src/commands/log-head/log-head.ts';
import { loadNewestHeads } from '../../../src/commands/log-head/newest-heads.ts';
import { LOG_HEAD_STREAM } from '../../../src/events/log-head.ts';
import { createLogAnchors } from '../../../src/processes/log-anchors.ts';
import { createLogHeads } from '../../../src/processes/log-heads.ts';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { anchorMemo, composeAnchor, readAnchorMemo } from '../../../src/solana/anchor-transaction.ts';
import { CallBudget } from '../../../src/solana/call-budget.ts';
import { SolanaKey } from '../../../src/solana/keys.ts';
import { createRpcChain, type RpcChain } from '../../../src/solana/rpc-chain.ts';
import { RpcHistory } from '../../../src/solana/rpc-history.ts';
import { decodeTransaction } from '../../../src/solana/verify-transaction-wire.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { openChain, silent, type TestChain } from '../../solana/local/harness.ts';
import { authorized } from '../payment/payment.fixtures.ts';

const LOG_ID = '6f1f7a52-0c3f-4b0e-9a54-1d6a2f5e8c11';
const FUNDS = 1_000_000_000;

let test: TestChain;
let chain: RpcChain;
let history: RpcHistory;
beforeAll(async () => {
  test = await openChain({ slotMs: 10 });
  chain = createRpcChain({ urls: [test.url], logger: silent });
  history = new RpcHistory({ urls: [test.url], budget: new CallBudget({ perSecond: null, inAll: null }) });
});
afterAll(async () => {
  chain.close();
  history.close();
  await test.dispose();
});

let directory: string;
let storage: Storage;
let feePayer: SolanaKey;
let logId: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'anchors-'));
  storage = openSqlite({ directory });
  feePayer = SolanaKey.generate();
  logId = randomUUID();
  await test.fund(new PublicKey(feePayer.address), FUNDS, 0);
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const ports = (): AnchorPorts => ({ ...storage, chain, feePayer, logId, clock: systemClock, lookEveryMs: 20 });
const context = () => ({
  commandId: randomUUID(),
  requestId: null,
  correlationId: 'c',
  causationId: null,
  actor: 'test',
});
const anchor = (more: { readonly signal?: AbortSignal; readonly ports?: Partial<AnchorPorts> } = {}) =>
  anchorNewestHead({ ...ports(), ...more.ports }, { by: 'ann', context: context(), ...more });

let payments = 0;
/** Records an event, and a head over it. */
async function head(): Promise<void> {
  const stream = `payment-${String(++payments).padStart(64, '0')}`;
  const recordedAt = toInstant(0);
  await storage.log.append(
    prepareAppend({ stream, head: NO_STREAM, events: [authorized], context: context(), recordedAt }),
  );
  const master = readMasterKeys(`1:${'11'.repeat(32)}`);
  const logger = pino({ level: 'silent' });
  await createLogHeads({ ...storage, masterKeys: master, logId, clock: systemClock, logger, owner: 'o' }).round();
}

const recorded = async () =>
  (await storage.log.read(LOG_HEAD_STREAM)).flatMap(({ type, data }) =>
    type === 'LogHeadAnchored' ? [data as unknown as LogAnchor] : [],
  );
const balance = () => chain.balance(feePayer.address);

describe('a memo', () => {
  const memo = { logId: LOG_ID, size: 7, root: 'ab'.repeat(32) };

  it('names the log, the size and the root', () => {
    const text = `docket-log ${LOG_ID} 7 ${Buffer.from(memo.root, 'hex').toString('base64')}`;
    expect(anchorMemo(memo)).toBe(text);
    expect(readAnchorMemo(text)).toEqual(memo);
  });

  it.each([
    ['a leading zero', anchorMemo(memo).replace(' 7 ', ' 07 ')],
    ['more after it', `${anchorMemo(memo)} `],
    ['another word', anchorMemo(memo).replace('docket-log', 'docket')],
    ['nothing', ''],
  ])('is none with %s', (_, text) => {
    expect(readAnchorMemo(text)).toBeNull();
  });
});

describe('an anchor', () => {
  it('is a final transaction that costs 5,000 lamports, and is recorded', async () => {
    await head();
    const outcome = await anchor();
    expect(await recorded()).toEqual([outcome.anchored]);
    expect(await balance()).toBe(BigInt(FUNDS - 5_000));
    const [anchored] = await recorded();
    if (!anchored) return;
    expect(anchored).toMatchObject({ size: 1, fee: 5_000, by: 'ann' });
    expect(await chain.signatureStatus(anchored.transaction)).toMatchObject({
      commitment: 'finalized',
      error: null,
      slot: anchored.slot,
    });
    expect(await checkAnchor(history, logId, anchored)).toEqual({ holds: true, signer: feePayer.address });
  });

  it('is written once for each head', async () => {
    await head();
    await anchor();
    expect(await anchor()).toMatchObject({ isNew: false });
    expect(await balance()).toBe(BigInt(FUNDS - 5_000));
    await head();
    expect(await anchor()).toMatchObject({ isNew: true });
    expect((await recorded()).map(({ size }) => size)).toEqual([1, 5]);
  });

  it('is not written without a head, or without funds', async () => {
    expect(await anchor()).toEqual({ anchored: null });
    await head();
    const poor = SolanaKey.generate();
    await expect(anchor({ ports: { feePayer: poor } })).rejects.toMatchObject({ code: 'fee_payer_funds' });
    expect(await recorded()).toEqual([]);
  });

  it('costs its fee once more if the process dies before it is recorded', async () => {
    await head();
    const died = AbortSignal.abort();
    const { blockhash } = await chain.latestBlockhash();
    await expect(anchor({ signal: died })).rejects.toBeInstanceOf(AnchorFailed);
    // Within one blockhash it would be the same transaction.
    await vi.waitUntil(async () => (await chain.latestBlockhash()).blockhash !== blockhash);
    const { blockhash: later } = await chain.latestBlockhash();
    await vi.waitUntil(async () => (await chain.latestBlockhash()).blockhash !== later);
    await anchor();
    expect(await recorded()).toHaveLength(1);
    expect(await balance()).toBe(BigInt(FUNDS - 10_000));
  });

  it('is found on the chain without the log, the newest first', async () => {
    await head();
    await anchor();
    await head();
    await anchor();
    const found = [];
    for await (const each of anchorsOnChain(history, logId)) found.push(each);
    expect(found.map(({ transaction }) => transaction)).toEqual(
      (await recorded()).map(({ transaction }) => transaction).reverse(),
    );
    expect(found.map(({ size, signer }) => [size, signer])).toEqual([
      [5, feePayer.address],
      [1, feePayer.address],
    ]);
  });
});

describe('the check of an anchor', () => {
  it.each<[string, (anchored: LogAnchor) => LogAnchor, RegExp]>([
    ['another root', (anchored) => ({ ...anchored, root: 'cd'.repeat(32) }), /^docket-log /],
    ['another size', (anchored) => ({ ...anchored, size: 2 }), /^docket-log /],
    ['another slot', (anchored) => ({ ...anchored, slot: anchored.slot + 1 }), /^slot /],
    [
      'a transaction that never was',
      (anchored) => ({ ...anchored, transaction: bs58.encode(Buffer.alloc(64, 7)) }),
      /^no such transaction/,
    ],
    ['what is no signature', (anchored) => ({ ...anchored, transaction: 'NOTATRANSACTION' }), /^another text/],
  ])('does not hold for %s', async (_, change, found) => {
    await head();
    const { anchored } = await anchor();
    if (!anchored) throw new Error('not anchored');
    expect(await checkAnchor(history, logId, change(anchored))).toEqual({
      holds: false,
      expected: expect.any(String),
      found: expect.stringMatching(found),
    });
  });

  it('does not hold for a transaction of somebody else', async () => {
    await head();
    const { anchored } = await anchor();
    if (!anchored) throw new Error('not anchored');
    expect(await checkAnchor(history, logId, anchored, new Set(['somebody']))).toMatchObject({ holds: false });
    expect(await checkAnchor(history, randomUUID(), anchored)).toMatchObject({ holds: false });
  });
});

describe('the check of all anchors', () => {
  const check = (...payers: readonly string[]) => checkAnchors(storage.log, history, logId, payers);

  it('holds for those that the log and the chain have, also if one was never recorded', async () => {
    await head();
    await anchor();
    await head();
    // As after a kill between the broadcast and the record.
    await expect(anchor({ signal: AbortSignal.abort() })).rejects.toBeInstanceOf(AnchorFailed);
    const root = (await loadNewestHeads(storage.log)).state.head?.root;
    await vi.waitUntil(async () => (await check()).onChain === 2);
    expect(await check()).toEqual({
      recorded: 1,
      held: 1,
      notKept: 0,
      listedNotKept: 0,
      otherSigner: 0,
      signersFrom: 'log',
      onChain: 2,
      foreign: 0,
      proven: { logId, size: 5, root },
      faults: [],
    });
  });

  it('finds a tail that was cut together with its head and its anchor', async () => {
    await head();
    const { anchored } = await anchor();
    await storage.close();
    const database = new Database(join(directory, 'log.sqlite'));
    database.exec('DELETE FROM events WHERE position > 1');
    database.close();
    storage = openSqlite({ directory });
    // The memo counts because the auditor knows the fee payer.
    expect(await check(feePayer.address)).toMatchObject({
      recorded: 0,
      onChain: 1,
      proven: null,
      faults: [{ transaction: anchored?.transaction, revision: null, found: 'no such head in the log' }],
    });
  });

  it('is not misled by memos that somebody else signed', async () => {
    await head();
    await anchor();
    const somebody = SolanaKey.generate();
    await test.fund(new PublicKey(somebody.address), FUNDS, 0);
    const { blockhash } = await chain.latestBlockhash();
    await chain.send(composeAnchor(somebody, { logId, size: 9, root: 'cd'.repeat(32) }, blockhash));
    await vi.waitUntil(async () => (await check()).foreign === 1);
    expect(await check()).toMatchObject({ held: 1, onChain: 1, faults: [] });
  });

  it('proves nothing by anchors of a signer that only a rewritten log names', async () => {
    await head();
    await anchor();
    expect(await check(SolanaKey.generate().address)).toMatchObject({
      held: 1,
      otherSigner: 1,
      signersFrom: 'given',
      onChain: 0,
      foreign: 1,
      proven: null,
    });
    expect(await check(SolanaKey.generate().address, feePayer.address)).toMatchObject({ proven: { size: 1 } });
  });

  it('reads on behind a short page, and counts what the endpoint lists and no longer keeps', async () => {
    await head();
    await anchor();
    await head();
    await anchor();
    const oneAtATime: AnchorHistory = {
      async signatures(account, range) {
        const page = await history.signatures(account, range);
        return { ...page, signatures: page.signatures.slice(0, 1) };
      },
      transaction: (signature, options) => history.transaction(signature, options),
    };
    expect(await checkAnchors(storage.log, oneAtATime, logId, [])).toMatchObject({ recorded: 2, onChain: 2 });
    const [oldest] = await recorded();
    const pruned: AnchorHistory = {
      signatures: (account, range) => history.signatures(account, range),
      transaction: async (signature, options) =>
        signature === oldest?.transaction
          ? { found: false, keptFrom: oldest.slot + 1 }
          : history.transaction(signature, options),
    };
    expect(await checkAnchors(storage.log, pruned, logId, [])).toMatchObject({
      held: 1,
      notKept: 1,
      listedNotKept: 1,
      onChain: 1,
      faults: [],
    });
  });
});

describe('hourly anchors', () => {
  it('are written when an hour has passed and there is a new head, whichever node does so', async () => {
    let now = systemClock.now();
    const node = () =>
      createLogAnchors({ ...ports(), clock: { now: () => now }, logger: pino({ level: 'silent' }), every: 'hourly' });
    const [one, two] = [node(), node()];
    const never = new AbortController().signal;
    await head();
    for (const each of [one, one, two]) await each(never);
    expect(await recorded()).toHaveLength(1);
    await head();
    now += 3_599 * MICROS_PER_SECOND;
    for (const each of [one, two]) await each(never);
    expect(await recorded()).toHaveLength(1);
    now += 2 * MICROS_PER_SECOND;
    for (const each of [two, one]) await each(never);
    expect((await recorded()).map(({ by }) => by)).toEqual(['log-anchors', 'log-anchors']);
  });

  it.each(['the same', 'a new'])(
    'continue on %s node after a clock ran ahead by a year and was set back',
    async (which) => {
      const year = 365 * 86_400 * MICROS_PER_SECOND;
      let now = systemClock.now() + year;
      const node = () =>
        createLogAnchors({ ...ports(), clock: { now: () => now }, logger: pino({ level: 'silent' }), every: 'hourly' });
      const running = node();
      const never = new AbortController().signal;
      await head();
      await running(never);
      now -= year;
      await head();
      const later = which === 'a new' ? node() : running;
      for (const each of [later, later]) await each(never);
      expect(await recorded()).toHaveLength(2);
      await head();
      await later(never);
      expect(await recorded()).toHaveLength(2);
    },
  );

  it('that fail raise an alarm, and are tried again later', async () => {
    let now = systemClock.now();
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    let key = SolanaKey.generate();
    const given = { ...ports(), clock: { now: () => now }, logger, every: 'daily' as const };
    const anchors = createLogAnchors({
      ...given,
      get feePayer() {
        return key;
      },
    });
    const never = new AbortController().signal;
    await head();
    await anchors(never);
    key = feePayer;
    await anchors(never);
    expect(lines).toMatchObject([{ alarm: 'log_anchor_failed', code: 'fee_payer_funds' }]);
    now += 301 * MICROS_PER_SECOND;
    await anchors(never);
    expect(await recorded()).toHaveLength(1);
  });
});

it('signs what it says: the transaction is one that a cluster decodes', () => {
  const memo = { logId: LOG_ID, size: 1, root: 'ab'.repeat(32) };
  const decoded = decodeTransaction(composeAnchor(feePayer, memo, bs58.encode(Buffer.alloc(32, 5))));
  expect(decoded).toMatchObject({ version: 'legacy', requiredSignatures: 1 });
});
