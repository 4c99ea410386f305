/** `docket audit export`, on the data folder of a service that sold answers. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { main } from '../../../src/cli/main.ts';
import { DocketOpened } from '../../../src/events/docket.ts';
import { PaymentAuthorized, paymentStream } from '../../../src/events/payment.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { hashEvent, prepareAppend } from '../../../src/storage/prepare-append.ts';
import { openWrittenLog, type WrittenLog } from '../../audit/written-log.ts';
import { authorization } from '../../commands/payment/payment.fixtures.ts';
import { openWorld, type World } from '../../payments/world.ts';
import { contextOf, NOON } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

let world: World;
let environment: NodeJS.ProcessEnv;
let wallet: string;
let transaction: string;
beforeAll(async () => {
  world = await openWorld({ paidBefore: true });
  environment = { DATA_DIR: join(world.directory, 'data') };
  const keypair = await world.wallet();
  wallet = keypair.publicKey.toBase58();
  const answer = await world.get('/v2/case?q=one', world.pay(keypair));
  expect(answer.status).toBe(200);
  expect((await world.get('/v2/case?q=unknown', world.pay(keypair))).status).toBe(404);
  transaction = String((await world.events()).find(({ type }) => type === 'PaymentSubmitted')?.data.transaction);
});
afterAll(() => world.close());

const audit = (...argv: string[]) => docketInProcess(['audit', 'export', ...argv], environment);
const file = (name: string): string => join(world.directory, name);
const leftovers = async () => (await readdir(world.directory)).filter((name) => name.endsWith('.partial'));

describe('docket audit export', () => {
  it('prints one line for each payment as CSV', async () => {
    const { code, out, err } = await audit('payments');
    const [header = '', ...lines] = out.trimEnd().split('\r\n');
    const rows = lines.map((line) => {
      const cells = line.split(',');
      return Object.fromEntries(header.split(',').map((name, index) => [name, cells[index]]));
    });
    expect([code, err]).toEqual([EXIT.ok, '']);
    expect(rows).toEqual([
      expect.objectContaining({
        status: 'settled',
        charged: 'true',
        wallet,
        transaction,
        amount: '990000',
        amount_usdc: '0.99',
        queries: '1',
      }),
      expect.objectContaining({ status: 'released', charged: 'false', transaction: '', query_error: 'case_not_found' }),
    ]);
  });

  it('prints one JSON object a line', async () => {
    const { out } = await audit('payments', '--format', 'ndjson', '--wallet', wallet);
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.map(({ status, amount_usdc }) => [status, amount_usdc])).toEqual([
      ['settled', '0.99'],
      ['released', '0.99'],
    ]);
  });

  it('writes a Parquet file that another program reads', async () => {
    const out = file('payments.parquet');
    expect((await audit('payments', '--format', 'parquet', '--out', out)).err).toBe(`2 rows written to ${out}.\n`);
    const { buffer, byteOffset, byteLength } = await readFile(out);
    const rows = await parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer });
    expect(rows.map(({ status, amount, transaction: sent }) => [status, amount, sent])).toEqual([
      ['settled', 990_000n, transaction],
      ['released', 990_000n, null],
    ]);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    expect(await leftovers()).toEqual([]);
  });

  it.each(['deliveries', 'keys', 'dockets'])('writes the header of %s if there are no rows', async (table) => {
    const { code, out } = await audit(table);
    expect([code, out.split('\r\n').length]).toEqual([EXIT.ok, 2]);
  });

  it('keeps an existing file, unless --force is given', async () => {
    const out = file('existing.csv');
    await writeFile(out, 'mine');
    const refused = await audit('payments', '--out', out);
    expect([refused.code, await readFile(out, 'utf8')]).toEqual([EXIT.usage, 'mine']);
    expect(refused.err).toMatch(/exists already\.\n.*--force/);
    expect((await audit('payments', '--out', out, '--force')).code).toBe(EXIT.ok);
    expect(await readFile(out, 'utf8')).toMatch(/^request_id,/);
    expect(await leftovers()).toEqual([]);
  });

  it.each([
    ['an unknown table', ['secrets'], /Unknown table: secrets\.\nUse one of payments, deliveries, keys, dockets/],
    ['an unknown format', ['payments', '--format', 'xlsx'], /Allowed choices are csv, ndjson, parquet/],
    ['a wallet that is no address', ['payments', '--wallet', 'me'], /"me" is not a Solana address/],
    ['a wallet for dockets', ['dockets', '--wallet', authorization.wallet], /they belong to no wallet/],
    ['a time without offset', ['payments', '--from', '2026-03-01'], /--from is not a timestamp/],
    [
      'a period that ends before it begins',
      ['payments', '--from', '2026-03-02T00:00:00Z', '--to', '2026-03-01T00:00:00Z'],
      /--from is later than --to/,
    ],
  ])('rejects %s', async (_what, argv, expected) => {
    const { code, out, err } = await audit(...argv);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toMatch(expected);
  });

  it.each(['/dev/null', 'link.csv'])('never replaces %s, which is not a regular file', async (name) => {
    if (name === 'link.csv') await symlink('/dev/null', file(name));
    const { code, err } = await audit('payments', '--out', name.startsWith('/') ? name : file(name), '--force');
    expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(/is not a regular file/)]);
  });

  it('rejects a folder as the file, and a file in a folder that does not exist', async () => {
    expect(await audit('payments', '--out', world.directory, '--force')).toMatchObject({ code: EXIT.usage });
    const { code, err } = await audit('payments', '--out', file('nowhere/payments.csv'));
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringMatching(/cannot be written.*ENOENT/)]);
  });

  it.skipIf(process.getuid?.() === 0)('rejects a folder that may not be written', async () => {
    await mkdir(file('closed'));
    await chmod(file('closed'), 0o500);
    const { code, err } = await audit('payments', '--out', file('closed/payments.csv'));
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringMatching(/cannot be written.*EACCES/)]);
  });

  it('writes no Parquet to a terminal', async () => {
    const stdout = Object.assign(new Writable(), { isTTY: true });
    const context = { environment, stdin: process.stdin, stdout, stderr: new PassThrough(), interactive: false };
    expect(await main(['audit', 'export', 'payments', '--format', 'parquet'], context)).toBe(EXIT.usage);
  });

  it('waits for a slow reader instead of filling the memory', async () => {
    let [chunks, most] = [0, 0];
    const stdout = new Writable({
      highWaterMark: 1,
      write(chunk, _encoding, done) {
        chunks += 1;
        setImmediate(() => {
          most = Math.max(most, stdout.writableLength - chunk.length);
          done();
        });
      },
    });
    const context = { environment, stdin: process.stdin, stdout, stderr: new PassThrough(), interactive: false };
    expect(await main(['audit', 'export', 'payments'], context)).toBe(EXIT.ok);
    expect([chunks, most]).toEqual([2, 0]);
  });
});

describe('a log with values that a caller chose', () => {
  let written: WrittenLog;
  beforeAll(async () => {
    written = await openWrittenLog();
    const opened = DocketOpened.of({ court: 'cand', caseNumber: '=cmd|" /C calc"!A0' });
    await written.write('docket-cand-@SUM(1)', NOON, opened);
  });
  afterAll(() => written.close());

  it('gives a spreadsheet no formula', async () => {
    const { out } = await docketInProcess(['audit', 'export', 'dockets'], { DATA_DIR: written.directory });
    expect(out).toContain(`,"'=cmd|"" /C calc""!A0",docket-cand-@SUM(1),`);
  });

  it('ends at an event that fits no schema, and leaves no file', async () => {
    const stream = paymentStream('e'.repeat(64));
    const append = prepareAppend({
      stream,
      head: NO_STREAM,
      events: [PaymentAuthorized.of(authorization)],
      context: contextOf(),
      recordedAt: NOON,
    });
    const [event] = append.events;
    const broken = { ...event!, data: { ...event!.data, amount: '-1' } };
    const metadata = { ...broken.metadata, hash: hashEvent('', broken) };
    await written.log.append({ ...append, events: [{ ...broken, metadata }] });
    const out = join(written.directory, 'broken.csv');
    const { code, err } = await docketInProcess(['audit', 'export', 'payments', '--out', out], {
      DATA_DIR: written.directory,
    });
    expect([code, existsSync(out)]).toEqual([EXIT.found, false]);
    expect(err).toMatch(/PaymentAuthorized in stream payment-e+, revision 0.*amount/);
    expect((await readdir(written.directory)).filter((name) => name.includes('partial'))).toEqual([]);
  });
});
