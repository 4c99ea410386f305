/** Given a log that somebody changed, when it is exported, then the command names the event and exits with 1, with no stack. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { PaymentSettled, paymentStream } from '../../../src/events/payment.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import * as payment from '../../commands/payment/payment.fixtures.ts';
import { NOON } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { FOUNDED } from '../verify/sample-log.ts';
import { openWrittenLog, type WrittenLog } from '../written-log.ts';

const STREAM = paymentStream('c'.repeat(64));
const NAMED = new RegExp(`^event PaymentAuthorized in stream ${STREAM}, revision 0, position 0{19}1: `);

let written: WrittenLog;
beforeEach(async () => {
  written = await openWrittenLog();
  await written.write(STREAM, NOON, ...payment.claimed, payment.settled);
  await written.write('log-identity', NOON, FOUNDED);
});
afterEach(() => written.close());

const run = (...argv: string[]) => docketInProcess(['audit', ...argv], { DATA_DIR: written.directory });

/** Changes the text of the first event's data. */
function change(of: (text: string) => string): void {
  const file = new Database(join(written.directory, 'log.sqlite'));
  const row = file.prepare('SELECT data FROM events WHERE position = 1').get() as { data: string };
  file.prepare('UPDATE events SET data = ? WHERE position = 1').run(of(row.data));
  file.close();
}

const COMMANDS = [
  ['export', 'payments'],
  ['export', 'payments', '--format', 'ndjson'],
  ['receipts', '--wallet', payment.WALLET],
  ['promises'],
];

describe('an amount that was changed', () => {
  it.each(COMMANDS)('ends %s %s', async (...argv) => {
    expect((await run(...argv)).code).toBe(EXIT.ok);
    change((text) => text.replace('"990000"', '"1"'));
    const { code, err } = await run(...argv);
    expect(code).toBe(EXIT.found);
    expect(err).toMatch(NAMED);
    expect(err).toMatch(/its hash does not match .*\n.*docket audit verify lists every one/);
  });

  it('ends an export also for another wallet, and leaves no file', async () => {
    change((text) => text.replace('"990000"', '"1"'));
    const out = join(written.directory, 'payments.csv');
    const other = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
    expect((await run('export', 'payments', '--wallet', other, '--out', out)).code).toBe(EXIT.found);
    expect(existsSync(out)).toBe(false);
  });
});

it('an event that was removed from the middle of a stream ends an export', async () => {
  const file = new Database(join(written.directory, 'log.sqlite'));
  file.prepare('DELETE FROM events WHERE revision = 1').run();
  file.close();
  const { code, err } = await run('export', 'payments');
  expect([code, err]).toEqual([EXIT.found, expect.stringContaining('revision 1 is missing before it')]);
});

it('a name that occurs twice is unreadable for the export of the log, as it is for verify', async () => {
  change((text) => text.replace('{', '{"amount":"1",'));
  const exported = await run('export', 'log');
  expect([exported.code, exported.err]).toEqual([EXIT.found, expect.stringMatching(NAMED)]);
  expect(exported.err).toContain('its data has a name twice');
  expect((await run('verify', '--no-payloads')).out).toMatch(/event_readable .*\n.*\n.*its data has a name twice/);
});

describe('data that is nested too deep', () => {
  const deep = (levels: number) => (text: string) =>
    text.replace('{', `{"deep":${'['.repeat(levels)}${']'.repeat(levels)},`);

  it.each([
    ['replay', 'payments', '--json'],
    ['replay', 'payments'],
    ['prove', `${STREAM}@0`],
    ['prove', 'c'.repeat(64)],
    ['export', 'log'],
    ['verify', '--no-payloads'],
    ...COMMANDS,
  ])('is an unreadable event for %s %s', async (...argv) => {
    for (const levels of [200, 200_000]) {
      change(deep(levels));
      const { code, out, err } = await run(...argv);
      expect([levels, code]).toEqual([levels, EXIT.found]);
      expect(out + err).toContain('more than 200 levels');
      expect(err).not.toMatch(/^\s+at |Unexpected/m);
    }
  });

  it('is read up to the limit: then its hash shows the change', async () => {
    change(deep(199));
    expect((await run('replay', 'payments')).out).toMatch(/its hash does not match/);
  });
});

it('a statement has the amount that the settlement records, not the one that was presented', async () => {
  const settled = PaymentSettled.of({ ...payment.settled.data, amount: '1' });
  await written.write(paymentStream('d'.repeat(64)), NOON, ...payment.claimed, settled);
  const { out } = await run('export', 'payments', '--format', 'ndjson');
  expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toMatchObject({
    amount: '990000',
    settled_amount: '1',
    settled_usdc: '0.000001',
  });
  const statement = await run('receipts', '--wallet', payment.WALLET);
  expect(statement.out).toMatch(/\n2 payments, 0\.990001 USDC charged\n$/);
});
