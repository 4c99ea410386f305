/** The statement of a wallet. Given its payments, when it is written, then it lists what was charged and adds up. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statementHtml } from '../../../src/audit/receipts/html.ts';
import {
  NO_TOTALS,
  plusLine,
  type StatementHead,
  type StatementLine,
  statementLines,
} from '../../../src/audit/receipts/statement.ts';
import { statementText } from '../../../src/audit/receipts/text.ts';
import { PaymentAuthorized, paymentStream } from '../../../src/events/payment.ts';
import * as payment from '../../commands/payment/payment.fixtures.ts';
import { all, openWrittenLog, type WrittenLog } from '../written-log.ts';

const { WALLET } = payment;
const OTHER_WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const at = (minute: number): string => `2026-06-01T12:${String(minute).padStart(2, '0')}:00.000000Z`;

let written: WrittenLog;
beforeEach(async () => {
  written = await openWrittenLog();
  const stream = (digit: string) => paymentStream(digit.repeat(64));
  const others = PaymentAuthorized.of({ ...payment.authorization, wallet: OTHER_WALLET });
  await written.write(stream('1'), at(1), ...payment.claimed);
  await written.write(stream('2'), at(2), ...payment.claimed, payment.settled);
  await written.write(stream('3'), at(3), ...payment.givenBack);
  await written.write(stream('4'), at(4), ...payment.claimed, payment.expired, payment.settledLate);
  await written.write(stream('5'), at(5), others, payment.answered, payment.submitted, payment.settled);
  await written.write(stream('6'), at(6), ...payment.claimed, payment.expired);
  await written.write(stream('7'), at(7), ...payment.claimed, payment.settled, payment.rolledBack);
  await written.write(stream('1'), at(8), payment.settled, payment.finalized);
});
afterEach(() => written.close());

const lines = (over: Partial<StatementHead> = {}) =>
  all(statementLines(written.log, { wallet: WALLET, from: null, to: null, ...over }));
const shown = async (over: Partial<StatementHead> = {}) =>
  (await lines(over)).map(({ paid_at, status }) => `${paid_at?.slice(14, 16)} ${status}`);

describe('the lines of a statement', () => {
  it('are the payments of the wallet that settled, in the order of the requests', async () => {
    expect(await shown()).toEqual(['08 settled', '02 settled', '04 late', '07 rolled_back']);
  });

  it('are selected by when they were paid, not by when the request came', async () => {
    expect(await shown({ from: at(7), to: at(8) })).toEqual(['08 settled', '07 rolled_back']);
    expect(await shown({ from: at(9) })).toEqual([]);
    expect(await shown({ wallet: OTHER_WALLET })).toEqual(['05 settled']);
  });

  it('add up to what was charged; what was rolled back is shown apart', async () => {
    expect((await lines()).reduce(plusLine, NO_TOTALS)).toEqual({
      charged: 3,
      amount: 2_970_000n,
      rolledBack: 1,
      returned: 990_000n,
    });
  });
});

describe('a written statement', () => {
  const head: StatementHead = {
    wallet: WALLET,
    from: null,
    to: at(30),
    log: { logId: '2f0e6a5e-3a3c-4f0a-9d41-2a8f5f6f7a10', receiver: 'RECEIVER', mint: 'MINT', network: 'solana:x' },
  };
  async function* given(...found: readonly StatementLine[]): AsyncIterable<StatementLine> {
    yield* found;
  }
  const textOf = async (chunks: AsyncIterable<string>) => (await all(chunks)).join('');

  it('as text names the wallet, the period, the log and the sum', async () => {
    const text = await textOf(statementText(head, given(...(await lines()))));
    expect(text).toMatch(
      new RegExp(`^Wallet +${WALLET}\nPeriod +the first payment to 2026-06-01 12:30:00 UTC\nLog +2f0e6a5e`),
    );
    expect(text).toMatch(
      /2026-06-01 12:02:00 UTC {2} +0\.99 USDC {2}settled +1 query +GET \/v2\/case\n {4}request 2f0e.*transaction 2{88}\n/,
    );
    expect(text).toMatch(
      /\n3 payments, 2\.97 USDC charged\n1 payment, 0\.99 USDC rolled back by the chain and not charged\n$/,
    );
  });

  it('as text says so if nothing was paid, and if the log has no id', async () => {
    expect(await textOf(statementText({ ...head, log: null }, given()))).toMatch(
      /Log +has no id\n\n0 payments, 0\.00 USDC charged\n$/,
    );
  });

  it('as a page has every value escaped, runs no script and loads nothing', async () => {
    const [line] = await lines();
    const hostile = { ...line!, endpoint: '<script>alert(1)</script>"\'&', transaction: '</td><img src=x>' };
    const page = await textOf(statementHtml({ ...head, wallet: '<b>' }, given(hostile)));
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;');
    expect(page).not.toMatch(/<script|<img|<b>|https?:|url\(|@import/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).toMatch(/<p class="total">1 payment, 0\.99 USDC charged<\/p>\n<\/body>\n<\/html>\n$/);
  });
});
