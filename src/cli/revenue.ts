/** `docket revenue`: what the service earned, what that cost in network fees, and what was not earned. */
import { Option } from 'commander';
import { csv } from '../audit/export/csv.ts';
import { column, type RowOf } from '../audit/export/table.ts';
import { revenue } from '../projections/revenue.ts';
import { type Figures, NO_COURT, NOT_RECORDED } from '../projections/revenue-shares.ts';
import { type Days, REVENUE_GROUPS, type RevenueGroup, type RevenueRow } from '../queries/revenue.ts';
import { RevenueSums } from '../queries/revenue-sums.ts';

import { solText, usdcText } from '../solana/decimal-amount.ts';
import { pinnedTo } from '../storage/pinned-generation.ts';
import type { Storage } from '../storage/storage.ts';
import { type AddCommand, type CliContext, CliError, note, printable } from './command.ts';
import { CATCH_UP_HINT, showsEverything } from './list-completeness.ts';
import { readLimit } from './list-limit.ts';
import { STDOUT, writeOutput } from './output-file.ts';
import { openServiceStorage, withStorage } from './service-storage.ts';
import { pagedTable } from './text-table.ts';

/** Rows that a person still reads; a service may have a million wallets. */
const TEXT_LIMIT = 1000;
const ROWS_AT_ONCE = 200;

const HELP = `
Days are UTC. A payment counts on the day on which its transfer was confirmed, also if that came late. If the chain rolls
it back, it moves out of USDC into a column of its own on the same day. Network fees are those that the service paid for
callers (sponsored payments), in SOL. So the figures agree with docket audit receipts.

Answers sold by versions of the service that did not record the court are listed as ${NOT_RECORDED}, and calls that
concern no case as ${NO_COURT}. CSV has no totals, so that a program can add up its rows.

Text shows the first ${TEXT_LIMIT} rows and says how many more there are; CSV and JSON have all of them. With --limit, all
three have that many. Totals always cover every row. "rows_left" in JSON counts the rows that --limit leaves out.

Reads the state in DATA_DIR, or in the configured engines. The service may be running or stopped.

Examples:
  $ docket revenue
  $ docket revenue --by court --from 2026-03-01 --to 2026-03-31
  $ docket revenue --by wallet --limit 20
  $ docket revenue --by wallet --csv > revenue.csv
  $ docket revenue --by day --from 2026-03-01 --json`;

interface RevenueOptions {
  readonly by: RevenueGroup;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly csv?: true;
  readonly json?: true;
}

export const createRevenueCommand =
  (open: (environment: NodeJS.ProcessEnv) => Promise<Storage>): AddCommand =>
  (program, context) => {
    program
      .command('revenue')
      .description('Show revenue: answers, USDC, network fees; rolled back and failed payments apart.')
      .addOption(new Option('--by <group>', 'what each row is for').choices(REVENUE_GROUPS).default('day'))
      .option('--from <day>', 'from this UTC day on, for example 2026-03-01')
      .option('--to <day>', 'up to and including this UTC day')
      .option('--limit <count>', `maximum number of rows; 0 for all (default: ${TEXT_LIMIT} as text, else all)`)
      .addOption(new Option('--csv', 'rows as CSV').conflicts('json'))
      .option('--json', 'one JSON object')
      .addHelpText('after', HELP)
      .action((options: RevenueOptions) => {
        const days = readDays(options);
        const limit = options.limit === undefined ? null : readLimit(options.limit);
        return withStorage(open, context, (storage) => show(storage, context, days, { ...options, limit }));
      });
  };

/** The command on the storage that the service uses. */
export const addRevenueCommand: AddCommand = createRevenueCommand((environment) =>
  openServiceStorage(environment, 'Set DATA_DIR to the data folder of the service.'),
);

/** @throws CliError for a text that is no day */
function readDays({ from, to }: { readonly from?: string; readonly to?: string }): Days {
  const days = { from: readDay('from', from), to: readDay('to', to) };
  if (days.from !== null && days.to !== null && days.from > days.to) {
    throw new CliError('--from is later than --to.', 'Give the earlier day as --from.');
  }
  return days;
}

function readDay(option: 'from' | 'to', text: string | undefined): string | null {
  if (text === undefined) return null;
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Date.parse takes 30 February for a day in March.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw new CliError(
    `--${option} is not a day: ${JSON.stringify(text)}`,
    'Give a UTC day as YYYY-MM-DD, for example 2026-03-01.',
  );
}

type Asked = Pick<RevenueOptions, 'by' | 'csv' | 'json'> & { readonly limit: number | null };

async function show(storage: Storage, context: CliContext, days: Days, asked: Asked): Promise<void> {
  const { by, limit } = asked;
  const complete = await showsEverything(storage, revenue);
  // Its pages come from one generation, though a rebuilt one may become active meanwhile.
  const generation = await storage.readStore.activeGeneration(revenue.name);
  const sums = await RevenueSums.read(pinnedTo(storage.readStore, generation), by, days);
  try {
    const shown = asked.json
      ? jsonReport(sums, limit ?? 0, { by, ...days, complete })
      : asked.csv
        ? csv(columnsOf(by), csvRows(sums.rows('all', limit ?? 0), by))
        : textLines(sums, limit ?? TEXT_LIMIT, by, days);
    await writeOutput(context, STDOUT, shown);
  } finally {
    sums.close();
  }
  if (!complete) {
    note(
      context,
      `These figures are incomplete: the read model ${revenue.name} is behind the log, as it is while it is built after an upgrade. ${CATCH_UP_HINT}`,
    );
  }
}

/** Figures for programs: exact texts in the usual unit, and the same in the smallest. */
export const jsonFigures = (figures: Figures) => ({
  payments: figures.payments,
  late: figures.late,
  answers: figures.answers,
  usdc: usdcText(figures.usdc),
  usdc_base_units: String(figures.usdc),
  network_fees_sol: solText(figures.fees),
  network_fees_lamports: String(figures.fees),
  rolled_back: figures.rolledBack,
  rolled_back_usdc: usdcText(figures.rolledBackUsdc),
  rolled_back_usdc_base_units: String(figures.rolledBackUsdc),
  failed: figures.failed,
  failed_fees_sol: solText(figures.failedFees),
  failed_fees_lamports: String(figures.failedFees),
  failed_queries: figures.failedQueries,
});

/** One object on one line, written in pieces: a string of all rows would have no bound. */
async function* jsonReport(
  sums: RevenueSums,
  limit: number,
  { by, ...facts }: Days & { readonly by: RevenueGroup; readonly complete: boolean },
): AsyncIterable<string> {
  yield `${JSON.stringify({ by, ...facts }).slice(0, -1)},"rows":[`;
  let written = 0;
  for (const page of pagesOf(sums.rows('all', limit))) {
    const rows = page.map((row) => JSON.stringify({ [by]: row.key, ...jsonFigures(row) }));
    yield `${written === 0 ? '' : ','}${printable(rows.join(','))}`;
    written += page.length;
  }
  yield `],"rows_left":${sums.count('all') - written},"total":${JSON.stringify(jsonFigures(sums.total))}}\n`;
}

function* pagesOf(rows: Iterable<RevenueRow>): Iterable<readonly RevenueRow[]> {
  let page: RevenueRow[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < ROWS_AT_ONCE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

const COLUMNS = {
  payments: column('integer', 'Payments that settled.'),
  late: column('integer', 'Of these, how many after they had counted as expired.'),
  answers: column('integer', 'Cases and other queries answered for them.'),
  usdc_base_units: column('base_units', 'What they paid, in base units (1 USDC = 1,000,000).'),
  usdc: column('usdc', 'The same in USDC.'),
  network_fees_lamports: column('base_units', 'Network fees that the service paid for them, in lamports.'),
  network_fees_sol: column('text', 'The same in SOL.'),
  rolled_back: column('integer', 'Payments that the chain rolled back; not in the columns before.'),
  rolled_back_usdc_base_units: column('base_units', 'Their amount, in base units.'),
  rolled_back_usdc: column('usdc', 'The same in USDC.'),
  failed: column('integer', 'Payments that failed on the chain or expired.'),
  failed_fees_lamports: column('base_units', 'Network fees that the service paid for those on the chain, in lamports.'),
  failed_fees_sol: column('text', 'The same in SOL.'),
  failed_queries: column('integer', 'Queries without an answer, whose payment was never sent.'),
} as const;

const columnsOf = (by: RevenueGroup) => ({ [by]: column('text', 'What the row is for.'), ...COLUMNS });

async function* csvRows(
  rows: Iterable<RevenueRow>,
  by: RevenueGroup,
): AsyncIterable<RowOf<ReturnType<typeof columnsOf>>> {
  for (const row of rows) {
    yield {
      [by]: row.key,
      ...jsonFigures(row),
      usdc_base_units: row.usdc,
      usdc: row.usdc,
      network_fees_lamports: row.fees,
      rolled_back_usdc_base_units: row.rolledBackUsdc,
      rolled_back_usdc: row.rolledBackUsdc,
      failed_fees_lamports: row.failedFees,
    };
  }
}

async function* textLines(sums: RevenueSums, limit: number, by: RevenueGroup, days: Days): AsyncIterable<string> {
  for (const lines of textParts(sums, limit, by, days)) {
    yield lines.map((line) => `${printable(line)}\n`).join('');
  }
}

function* textParts(
  sums: RevenueSums,
  limit: number,
  by: RevenueGroup,
  { from, to }: Days,
): Iterable<readonly string[]> {
  const { total } = sums;
  const period = `${from ?? 'the first payment'} to ${to ?? 'now'}, days in UTC`;
  if (sums.count('all') === 0) {
    yield [`Nothing was sold: ${period}.`];
    return;
  }
  yield [`Revenue by ${by}, ${period}`, ''];
  yield* tableParts('all', ['PAYMENTS', 'LATE', 'ANSWERS', 'USDC', 'FEES SOL'], earned);
  if (total.rolledBack + total.failed + total.failedQueries > 0) {
    yield [
      '',
      'Not in the above: payments rolled back (returned by the chain); payments that failed on the chain or',
      'expired; queries without an answer, whose payment was never sent',
      '',
    ];
    yield* tableParts('not_earned', ['RETURNED', 'USDC', 'FAILED', 'FEES SOL', 'UNSENT'], notEarned);
  }
  if (sums.countsTwice) yield ['', 'A payment for several courts counts in each of them; the total counts it once.'];

  function* tableParts(
    of: 'all' | 'not_earned',
    names: readonly string[],
    cellsOf: (row: RevenueRow) => readonly string[],
  ): Iterable<readonly string[]> {
    const totalCells = cellsOf({ key: 'total', ...total });
    const table = pagedTable([by.toUpperCase(), ...names], totalCells);
    let shown = 0;
    for (const page of pagesOf(sums.rows(of, limit))) {
      yield table(page.map(cellsOf));
      shown += page.length;
    }
    const left = sums.count(of) - shown;
    if (left > 0) yield [`… and ${left} more rows, which the total contains: --limit 0 shows all`];
    yield table([totalCells]);
  }
}

const earned = ({ key, payments, late, answers, usdc, fees }: RevenueRow): readonly string[] => [
  key,
  String(payments),
  String(late),
  String(answers),
  usdcText(usdc),
  solText(fees),
];

const notEarned = (row: RevenueRow): readonly string[] => [
  row.key,
  String(row.rolledBack),
  usdcText(row.rolledBackUsdc),
  String(row.failed),
  solText(row.failedFees),
  String(row.failedQueries),
];
