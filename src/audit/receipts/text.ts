/** A statement as text for a terminal: two lines a payment, because a signature alone fills one. */
import { usdcText } from '../../solana/decimal-amount.ts';
import { NO_TOTALS, plusLine, type StatementHead, type StatementLine, type Totals } from './statement.ts';

export async function* statementText(head: StatementHead, lines: AsyncIterable<StatementLine>): AsyncIterable<string> {
  yield `${headLines(head)
    .map(([name, value]) => `${name.padEnd(9)} ${value}`)
    .join('\n')}\n\n`;
  let totals = NO_TOTALS;
  for await (const line of lines) {
    totals = plusLine(totals, line);
    const { paid_at, amount, status, queries, endpoint, transaction, request_id } = line;
    const cost = usdcText(amount ?? 0n).padStart(12);
    yield `${second(paid_at)}  ${cost} USDC  ${(status ?? '').padEnd(11)} ${queriesOf(queries).padEnd(11)} ${endpoint}\n`;
    yield `    request ${request_id}  transaction ${transaction}\n`;
  }
  yield `${totalLines(totals).join('\n')}\n`;
}

/** The heading, as names and values. */
export const headLines = ({ wallet, from, to, log }: StatementHead): readonly (readonly [string, string])[] => [
  ['Wallet', wallet],
  [
    'Period',
    `${from === null ? 'the first payment' : second(from)} to ${to === null ? 'the last payment' : second(to)}`,
  ],
  ...(log === null
    ? ([['Log', 'has no id']] as const)
    : ([
        ['Log', log.logId],
        ['Receiver', log.receiver],
        ['Token', `USDC, mint ${log.mint}`],
        ['Network', log.network],
      ] as const)),
];

/** What the statement adds up to. */
export function totalLines({ charged, amount, rolledBack, returned }: Totals): readonly string[] {
  const sums = [`${counted(charged, 'payment')}, ${usdcText(amount)} USDC charged`];
  if (rolledBack > 0)
    sums.push(`${counted(rolledBack, 'payment')}, ${usdcText(returned)} USDC rolled back by the chain and not charged`);
  return sums;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const queriesOf = (queries: number | null): string =>
  queries === null ? '' : queries === 1 ? '1 query' : `${queries} queries`;

/** A time to the second, as people read it; the other formats have every digit. */
export const second = (instant: string | null): string =>
  instant === null ? '' : `${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC`;
