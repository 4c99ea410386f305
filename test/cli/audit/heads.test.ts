/**
 * What an auditor sees of heads and anchors: given a log with heads, when a head is kept and checked later, then the
 * command says whether the log still leads to it; and an anchor is put on the chain at a stated cost.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readMasterKeys } from '../../../src/callbacks/master-keys.ts';
import { handle } from '../../../src/commands/handle.ts';
import { logIdentity } from '../../../src/commands/log-identity/log-identity.ts';
import { LOG_IDENTITY_STREAM } from '../../../src/events/log-identity.ts';
import { parseSignedNote } from '../../../src/events/log-note.ts';
import { createLogHeads } from '../../../src/processes/log-heads.ts';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { SolanaKey } from '../../../src/solana/keys.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { authorized } from '../../commands/payment/payment.fixtures.ts';
import { openChain, type TestChain } from '../../solana/local/harness.ts';
import { type DocketRun, docketInProcess } from '../../support/docket-in-process.ts';

let chain: TestChain;
let genesisHash: string;
beforeAll(async () => {
  chain = await openChain({ slotMs: 25 });
  genesisHash = (await chain.rpc('getGenesisHash')).result as string;
});
afterAll(() => chain.dispose());

let directory: string;
let logId: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'audit-heads-'));
  logId = randomUUID();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const docket = (...argv: readonly string[]): Promise<DocketRun> =>
  docketInProcess(argv, { DATA_DIR: directory, SOLANA_RPC_URL: chain.url });

const contextOf = (commandId: string) => ({
  commandId,
  requestId: null,
  correlationId: commandId,
  causationId: null,
  actor: 'test',
});

/** Founds the log if it is new, records payments, and a head over everything. */
async function head(payments: number, { master = 1, isWritten = true } = {}): Promise<void> {
  const storage = openSqlite({ directory });
  const { log } = storage;
  const { caip2, usdcMint } = NETWORKS.local;
  const named = { network: caip2, genesisHash, mint: usdcMint, receiver: 'receiver', version: '1' };
  const found = { type: 'Found', logId, ...named } as const;
  await handle({ log, clock: systemClock }, logIdentity, LOG_IDENTITY_STREAM, found, contextOf('found'));
  for (let count = 0; count < payments; count++) {
    const stream = `payment-${randomUUID()}`;
    const recordedAt = toInstant(0);
    const context = contextOf(stream);
    await log.append(prepareAppend({ stream, head: NO_STREAM, events: [authorized], context, recordedAt }));
  }
  const masterKeys = readMasterKeys(`${master}:${`${master}${master}`.repeat(32)}`);
  const logger = pino({ level: 'silent' });
  if (isWritten)
    await createLogHeads({ ...storage, masterKeys, logId, clock: systemClock, logger, owner: 'o' }).round();
  await storage.close();
}

/** Keeps the newest head in a file. */
async function kept(): Promise<string> {
  const file = join(directory, 'kept.txt');
  writeFileSync(file, (await docket('audit', 'head')).out);
  return file;
}

const change = (sql: string): void => {
  const database = new Database(join(directory, 'log.sqlite'));
  database.prepare(sql).run();
  database.close();
};

describe('docket audit head', () => {
  it('prints the newest head as a signed note, and with --json the key beside it', async () => {
    await head(3);
    const { code, out } = await docket('audit', 'head');
    expect(code).toBe(0);
    expect(parseSignedNote(out)).toMatchObject({ logId, size: 4 });
    const json = JSON.parse((await docket('audit', 'head', '--json')).out);
    expect(json).toMatchObject({ logId, size: 4, masterVersion: 1, note: out });
    expect(json.verifierKey).toMatch(new RegExp(`^docket-log/${logId}\\+[0-9a-f]{8}\\+`));
  });

  it('finds that a kept head still holds, also after the log grew and the key was rotated', async () => {
    await head(3);
    const file = await kept();
    await head(5, { master: 2 });
    const { code, out } = await docket('audit', 'head', '--verify', file);
    expect([code, out]).toEqual([0, expect.stringContaining("The log's first 4 events are those of the kept head")]);
    expect(JSON.parse((await docket('audit', 'head', '--verify', file, '--json')).out)).toMatchObject({
      holds: true,
      size: 4,
      masterVersion: 1,
    });
  });

  it('reads a note that an editor or a mail program saved', async () => {
    await head(3);
    const file = await kept();
    const { out } = await docket('audit', 'head');
    writeFileSync(file, out.trimEnd().replaceAll('\n', '\r\n'));
    expect((await docket('audit', 'head', '--verify', file)).code).toBe(0);
  });

  it.each([
    ['an event removed', 'DELETE FROM events WHERE position = 3', 'root_differs'],
    ['the log cut', 'DELETE FROM events WHERE position > 2', 'unknown_key'],
    ['two events removed', 'DELETE FROM events WHERE position IN (3, 4)', 'root_differs'],
    ['an event that cannot be read', "UPDATE events SET data = '{' WHERE position = 2", 'unreadable_event'],
    [
      'changed content whose hash was left',
      `UPDATE events SET data = replace(data, '"amount":"', '"amount":"1') WHERE position = 3`,
      'content_differs',
    ],
  ])('finds %s', async (_, sql, reason) => {
    await head(3);
    const file = await kept();
    change(sql);
    const { code, out, err } = await docket('audit', 'head', '--verify', file, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ holds: false, reason, size: 4 });
    expect(err).not.toContain('    at ');
  });

  it('finds a tail that was cut together with its heads', async () => {
    await head(3);
    await head(5);
    const file = await kept();
    change('DELETE FROM events WHERE position > 6');
    const { code, out } = await docket('audit', 'head', '--verify', file, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ reason: 'events_missing', found: 'the log has only 6 events' });
  });

  it('finds a head of another log, and one that no key of this log signed', async () => {
    await head(3);
    const file = await kept();
    const { out } = await docket('audit', 'head');
    writeFileSync(file, out.replaceAll(logId, randomUUID()));
    const other = await docket('audit', 'head', '--verify', file, '--json');
    expect([other.code, JSON.parse(other.out).reason]).toEqual([1, 'another_log']);
    writeFileSync(file, out.replace('\n4\n', '\n3\n'));
    const forged = await docket('audit', 'head', '--verify', file, '--json');
    expect([forged.code, JSON.parse(forged.out).reason]).toEqual([1, 'unknown_key']);
  });

  it.each([
    ['is missing', null],
    ['is no note', 'no note'],
    ['is too large', 'x'.repeat(200_000)],
  ])('explains a file that %s', async (_, text) => {
    await head(1);
    const file = join(directory, 'note.txt');
    if (text !== null) writeFileSync(file, text);
    const { code, err } = await docket('audit', 'head', '--verify', file);
    expect([code, err]).toEqual([2, expect.stringContaining('docket audit head')]);
  });

  it('says how to get a head where there is none', async () => {
    await head(1, { isWritten: false });
    for (const command of ['head', 'anchor']) {
      const { code, err } = await docketInProcess(['audit', command], {
        DATA_DIR: directory,
        SOLANA_RPC_URL: chain.url,
        FEE_PAYER_KEY: keyText(await funded(1_000_000_000)),
      });
      expect([code, err]).toEqual([3, expect.stringContaining('AUDIT_HEADS')]);
    }
  });
});

const keyText = (seed: Uint8Array): string => {
  const key = SolanaKey.fromSeed(seed);
  return JSON.stringify([...seed, ...key.publicKey]);
};

/** The seed of a key that holds lamports. */
async function funded(lamports: number): Promise<Uint8Array> {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  if (lamports > 0) await chain.fund(new PublicKey(SolanaKey.fromSeed(seed).address), lamports, 0);
  return seed;
}

describe('docket audit anchor', () => {
  const anchor = (seed: Uint8Array, ...argv: readonly string[]): Promise<DocketRun> =>
    docketInProcess(['audit', 'anchor', ...argv], {
      DATA_DIR: directory,
      SOLANA_RPC_URL: chain.url,
      FEE_PAYER_KEY: keyText(seed),
    });

  it('states its cost, puts the newest root on the chain, and does nothing the second time', async () => {
    await head(2);
    const seed = await funded(1_000_000_000);
    const first = await anchor(seed, '--by', 'Ann Lee', '--json');
    expect([first.code, first.err]).toEqual([0, expect.stringMatching(/costs \w+ 5000 lamports/)]);
    const json = JSON.parse(first.out);
    expect(json).toMatchObject({ logId, size: 3, fee: 5_000, by: 'Ann Lee', new: true });
    const listed = (await chain.rpc('getSignaturesForAddress', SolanaKey.fromSeed(seed).address)).result;
    expect(listed).toContainEqual(
      expect.objectContaining({ signature: json.transaction, memo: `[${json.memo.length}] ${json.memo}` }),
    );
    const second = await anchor(seed);
    expect([second.code, second.err]).toEqual([0, '']);
    expect(second.out).toContain('nothing was sent');
  });

  it('compares the anchors with the chain: clean, and after the log was cut', async () => {
    await head(2);
    const seed = await funded(1_000_000_000);
    await anchor(seed);
    const clean = await anchor(seed, '--verify');
    expect([clean.code, clean.out]).toEqual([0, expect.stringContaining('the first 3 events are proven by the chain')]);
    const verified = await docket('audit', 'verify', '--chain', '--json');
    const breaches = (out: string) => out.split('\n').filter((line) => line.includes('"anchor_on_chain","stream"'));
    expect(breaches(verified.out), verified.out).toEqual([]);
    expect(verified.out).toMatch(/"anchored_up_to":\{"size":3,/);
    change('DELETE FROM events WHERE position > 3');
    const cut = await anchor(seed, '--verify', '--json');
    expect(cut.code).toBe(1);
    expect(JSON.parse(cut.out)).toMatchObject({ recorded: 0, onChain: 1, faults: [{ revision: null }], proven: null });
    // An auditor has the address and not the key.
    const { address } = SolanaKey.fromSeed(seed);
    expect(await docket('audit', 'anchor', '--verify', '--fee-payer', address)).toMatchObject({ code: 1 });
    expect(await docket('audit', 'anchor', '--fee-payer', address)).toMatchObject({ code: 2 });
  });

  it('explains a fee payer without funds, a missing key, another chain, and a chain that does not answer', async () => {
    await head(2);
    const poor = await funded(0);
    expect(await anchor(poor)).toMatchObject({ code: 1, err: expect.stringContaining('Send SOL to the fee payer.') });
    expect(await docket('audit', 'anchor')).toMatchObject({ code: 2, err: expect.stringContaining('FEE_PAYER_KEY') });
    const other = await openChain();
    const environment = { DATA_DIR: directory, FEE_PAYER_KEY: keyText(poor) };
    const elsewhere = await docketInProcess(['audit', 'anchor'], { ...environment, SOLANA_RPC_URL: other.url });
    expect(elsewhere).toMatchObject({ code: 2, err: expect.stringContaining('another chain') });
    await other.dispose();
    const silent = await docketInProcess(['audit', 'anchor'], { ...environment, SOLANA_RPC_URL: other.url });
    expect(silent).toMatchObject({ code: 3, err: expect.stringContaining('does not answer') });
  });
});
