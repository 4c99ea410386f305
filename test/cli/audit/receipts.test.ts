/** `docket audit receipts`, on a data folder that a service left. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { LOG_IDENTITY_STREAM, LogFounded } from '../../../src/events/log-identity.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { openWrittenLog, type WrittenLog } from '../../audit/written-log.ts';
import * as payment from '../../commands/payment/payment.fixtures.ts';
import { NOON } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

const { WALLET } = payment;
let written: WrittenLog;
beforeAll(async () => {
  written = await openWrittenLog();
  const { network, mint, payTo } = payment.authorization;
  const logId = '2f0e6a5e-3a3c-4f0a-9d41-2a8f5f6f7a11';
  const founded = { logId, network, genesisHash: 'G', mint, receiver: payTo, version: '2.0.1' };
  await written.write(LOG_IDENTITY_STREAM, NOON, LogFounded.of(founded));
  await written.write(paymentStream('1'.repeat(64)), NOON, ...payment.claimed, payment.settled);
});
afterAll(() => written.close());

const receipts = (...argv: string[]) =>
  docketInProcess(['audit', 'receipts', ...argv], { DATA_DIR: written.directory });

describe('docket audit receipts', () => {
  it('prints a statement', async () => {
    const { code, out, err } = await receipts('--wallet', WALLET);
    expect([code, err]).toEqual([EXIT.ok, '']);
    expect(out).toMatch(/Log +2f0e6a5e.*\nReceiver +3yFw.*\nToken +USDC, mint 4zMM.*\n/);
    expect(out).toMatch(/\n1 payment, 0\.99 USDC charged\n$/);
  });

  it('prints rows that a program can add up', async () => {
    const { out } = await receipts('--wallet', WALLET, '--format', 'csv');
    expect(out.split('\r\n').map((line) => line.split(',').slice(4, 7))).toEqual([
      ['amount', 'amount_usdc', 'status'],
      ['990000', '0.99', 'settled'],
      [],
    ]);
  });

  it('writes a page to a file', async () => {
    const out = join(written.directory, 'statement.html');
    expect((await receipts('--wallet', WALLET, '--format', 'html', '--out', out)).code).toBe(EXIT.ok);
    expect(await readFile(out, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect((await receipts('--wallet', WALLET, '--out', out)).code).toBe(EXIT.usage);
  });

  it.each([
    ['no wallet', [], /required option '--wallet <address>'/],
    ['a wallet that is no address', ['--wallet', 'me'], /"me" is not a Solana address/],
    ['a time that is none', ['--wallet', WALLET, '--to', 'now'], /--to is not a timestamp/],
    ['another format', ['--wallet', WALLET, '--format', 'pdf'], /Allowed choices are text, csv, html/],
  ])('rejects %s', async (_what, argv, expected) => {
    const { code, out, err } = await receipts(...argv);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toMatch(expected);
  });
});
