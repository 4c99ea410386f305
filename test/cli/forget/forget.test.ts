/**
 * Given a stopped service with sales, callbacks and dockets,
 * when an operator runs docket forget,
 * then it shows what goes, asks, removes it so that no file holds the bytes, and the log verifies as before.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRedactions } from '../../../src/backup/redactions.ts';
import { type CliContext, CliError, EXIT } from '../../../src/cli/command.ts';
import { createForgetCommand } from '../../../src/cli/forget/forget.ts';
import { continueOrders, forget } from '../../../src/cli/forget/run.ts';
import { createImportCommand } from '../../../src/cli/import/import.ts';
import { giveOrder, openOrders } from '../../../src/commands/forget/forget.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openSqlite, type SqliteStorage } from '../../../src/storage/sqlite/open.ts';
import { found } from '../../backup/source.ts';
import { ADA, HOOK, sell } from '../../commands/forget/sold.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'docket-forget-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = async () => openSqlite({ directory: join(folder, 'data') });
async function using<Result>(act: (storage: SqliteStorage) => Promise<Result>): Promise<Result> {
  const storage = await open();
  try {
    return await act(storage);
  } finally {
    await storage.close();
  }
}

async function run(argv: readonly string[], input = '', isTerminal = false) {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal });
  stdin.end(input);
  const context: CliContext = { environment: {}, stdin, stdout, stderr, interactive: false };
  const program = new Command().exitOverride();
  createForgetCommand(open)(program, context);
  createImportCommand(open)(program, context);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return { code: EXIT.ok as number, out: stdout.text, err: stderr.text, error: null };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: error.exitCode, out: stdout.text, err: stderr.text, error };
  }
}

/** Every byte of the databases and of their write-ahead logs. */
const bytes = (data = 'data'): string =>
  readdirSync(join(folder, data), { withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ name }) => readFileSync(join(folder, data, name), 'latin1'))
    .join('\n');
const SECRET = 'Xaver Quillfeder';
const REASON = ['--reason', 'request of 2 March', '--by', 'Ann Lee', '--yes'] as const;

async function importDocket(...argv: readonly string[]) {
  const path = join(folder, 'docket.json');
  const raw = rawDocket([rawEntry(1, '2024-02-01', `NOTICE naming ${SECRET}`)], { case_name: `${SECRET} v. Muster` });
  writeFileSync(path, JSON.stringify(raw));
  return run(['import', path, ...argv]);
}

describe('docket forget callback-url', () => {
  it('removes the URL and its envelopes from every file, and names neither in the log', async () => {
    await using((storage) => sell(storage, systemClock, { case: 1 }));
    expect(bytes()).toContain('s3cr3t-7d1f');
    const dry = await run(['forget', 'callback-url', HOOK, '--dry-run', '--json']);
    expect(JSON.parse(dry.out)).toMatchObject({
      dry_run: true,
      would_remove: { docket: 0, answer: 0, target: 1, envelope: 1 },
      open_deliveries: [expect.any(String)],
    });
    expect(bytes()).toContain('s3cr3t-7d1f');
    const done = await run(['forget', 'callback-url', '-', ...REASON, '--json'], `${HOOK}\n`);
    expect(JSON.parse(done.out)).toMatchObject({ removed: { docket: 0, answer: 0, target: 2, envelope: 1 } });
    expect(bytes()).not.toContain('s3cr3t-7d1f');
    expect((await run(['forget', 'list'])).out).toMatch(
      /completed {2}a callback URL of https:\/\/receiver.example {2}by Ann Lee/,
    );
  });

  it('removes nothing without a reason, without an answer, or if there is nothing to remove', async () => {
    await using((storage) => sell(storage, systemClock, { case: 1 }));
    const url = ['forget', 'callback-url', HOOK];
    expect(await run(url)).toMatchObject({ code: EXIT.usage, error: { message: expect.stringContaining('--reason') } });
    expect(await run([...url, '--reason', 'why'])).toMatchObject({ code: EXIT.usage, error: { hint: /--yes/ } });
    for (const answer of ['no\n', '']) {
      expect(await run([...url, '--reason', 'why'], answer, true)).toMatchObject({ code: EXIT.usage });
    }
    expect(await run(['forget', 'callback-url', 'receiver', ...REASON])).toMatchObject({ code: EXIT.usage });
    expect(await run(['forget', 'callback-url', 'https://receiver.example/', ...REASON])).toMatchObject({
      code: EXIT.found,
    });
    expect(await run(['forget', 'wallet', 'me', ...REASON])).toMatchObject({ code: EXIT.usage });
    expect((await run(['forget', 'list'])).out).toBe('0 orders\n');
    expect(bytes()).toContain('s3cr3t-7d1f');
  });

  it('asks on a terminal', async () => {
    await using((storage) => sell(storage, systemClock, { case: 1 }));
    const done = await run(['forget', 'callback-url', HOOK, '--reason', 'why'], 'forget\n', true);
    expect(done).toMatchObject({ code: EXIT.ok, error: null });
    expect(done.err).toContain('This cannot be undone.');
  });
});

describe('docket forget wallet', () => {
  it('leaves no byte of its answers, and writes the list that a restore needs', async () => {
    const { answer } = await using((storage) => sell(storage, systemClock, { text: 'bought by ada 0815' }));
    expect(bytes()).toContain('bought by ada');
    const list = join(folder, 'forgotten.ndjson');
    const done = await run(['forget', 'wallet', ADA, ...REASON, '--redactions', list]);
    expect(done.out).toMatch(/stored answers: 1\n/);
    expect(bytes()).not.toMatch(/bought by ada|s3cr3t-7d1f/);
    const { listed } = readRedactions(readFileSync(list, 'utf8'));
    expect(listed).toHaveLength(3);
    expect(listed).toContainEqual(expect.objectContaining({ name: answer, by: 'Ann Lee', filingIds: [] }));
    expect(await run(['forget', 'wallet', ADA, ...REASON])).toMatchObject({ code: EXIT.found });
  });

  it('is completed after a kill, by docket forget continue or by the same command', async () => {
    await using(async (storage) => {
      await sell(storage, systemClock, { text: 'bought by ada 0815' });
      const order = {
        forgetId: 'a1b2c3d4-1111-4222-8333-444455556666',
        subject: { kind: 'wallet', wallet: ADA },
        by: 'Ann Lee',
        reason: 'first',
      } as const;
      await giveOrder({ ...storage, clock: systemClock }, order);
    });
    expect((await run(['forget', 'list'])).out).toContain('open');
    const done = await run(['forget', 'wallet', ADA, '--reason', 'again']);
    expect([done.code, done.err]).toEqual([EXIT.ok, expect.stringContaining('Continuing the order')]);
    expect(done.out).toContain('forgotten by Ann Lee: first');
    expect(bytes()).not.toContain('bought by ada');
    expect((await run(['forget', 'continue'])).out).toBe('no order is open\n');
  });
});

describe('a backup that was taken before', () => {
  it('is restored without what was forgotten since, by the list', async () => {
    await using(async (storage) => {
      await found(storage);
      await sell(storage, systemClock, { text: 'bought by ada 0815' });
    });
    const [backup, list] = [join(folder, 'backup'), join(folder, 'forgotten.ndjson')];
    const [data, restored] = [{ DATA_DIR: join(folder, 'data') }, { DATA_DIR: join(folder, 'restored') }];
    const taken = await docketInProcess(['backup', backup, '--without-keys'], data);
    expect(taken, taken.err).toMatchObject({ code: EXIT.ok });
    await run(['forget', 'wallet', ADA, ...REASON, '--redactions', list]);
    const back = await docketInProcess(['restore', backup, '--redactions', list], restored);
    expect(back, back.err).toMatchObject({ code: EXIT.ok });
    expect(bytes('restored')).not.toMatch(/bought by ada|s3cr3t-7d1f/);
    const verified = await docketInProcess(['audit', 'verify', '--json'], restored);
    expect(verified.out).not.toMatch(/"rule":"(?:forg|redact|payload|hash)/);
  });
});

describe('docket forget docket', () => {
  const context = (): CliContext & { readonly stdout: Collected } => ({
    environment: {},
    stdin: process.stdin,
    stdout: new Collected(),
    stderr: new Collected(),
    interactive: false,
  });
  const wanted = { kind: 'docket', docket: 'docket-cand-3:24-cv-01234' } as const;
  const options = { reason: 'sealing order', by: 'J. Muster', yes: true, json: true } as const;

  it('leaves no byte of it in any file, a log that verifies, and an import that is refused', async () => {
    await importDocket();
    expect(bytes()).toContain(SECRET);
    const io = context();
    await using((storage) => forget(storage, io, wanted, options, { queriesMs: 0 }));
    expect(JSON.parse(io.stdout.text)).toMatchObject({ removed: { docket: 2, answer: 0 } });
    expect(bytes()).not.toContain('Quillfeder');

    for (const reimported of [await importDocket(), await importDocket('--partial')]) {
      expect(reimported).toMatchObject({ code: EXIT.found, out: expect.stringContaining('was forgotten') });
    }
    const verified = await docketInProcess(['audit', 'verify', '--json'], { DATA_DIR: join(folder, 'data') });
    expect(verified, verified.out).toMatchObject({ code: EXIT.ok });
    expect(bytes()).not.toContain('Quillfeder');
    expect(await run(['forget', 'docket', 'cand', '3:24-cv-1234', ...REASON])).toMatchObject({
      code: EXIT.found,
      error: { message: expect.stringContaining('forgotten already, by J. Muster') },
    });
  });

  it('fails until the read model shows it, and is then completed', async () => {
    await importDocket();
    await using(async (storage) => {
      const lease = await storage.readStore.acquireLease(
        'projection/cases@1',
        'stuck',
        Date.now() * 1000,
        3_600_000_000,
      );
      const first = forget(storage, context(), wanted, options, { queriesMs: 0, shownWithinMs: 50 });
      await expect(first).rejects.toMatchObject({ exitCode: EXIT.unavailable, hint: /run this command again/ });
      expect(await openOrders(storage.log)).toHaveLength(1);
      await storage.readStore.releaseLease(lease!);
      await continueOrders(storage, context(), { json: true }, { queriesMs: 0 });
      expect(await openOrders(storage.log)).toEqual([]);
    });
    expect(bytes()).not.toContain('Quillfeder');
  });
});
