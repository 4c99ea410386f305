/** `docket audit export`: one table of the log as a file for a spreadsheet, a script or a database. */
import { Option } from 'commander';
import { csv } from '../../audit/export/csv.ts';
import { ndjson } from '../../audit/export/ndjson.ts';
import { OutOfRange, parquet } from '../../audit/export/parquet.ts';
import type { Columns, Row } from '../../audit/export/table.ts';
import { TABLES, type TableName } from '../../audit/export/tables.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note } from '../command.ts';
import { isStdout, isTerminal, writeOutput } from '../output-file.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';
import { type PeriodOptions, readPeriod, readWallet } from './selection.ts';

const FORMATS = { csv, ndjson, parquet } as const satisfies Record<
  string,
  (columns: Columns, rows: AsyncIterable<Row>) => AsyncIterable<Buffer>
>;
type Format = keyof typeof FORMATS;

interface ExportOptions extends PeriodOptions {
  readonly format: Format;
  readonly out?: string;
  readonly force?: true;
  readonly wallet?: string;
}

const HELP = `
Columns, types and the order of rows are in docs/auditing.md, "Export". Times are UTC; amounts are given in base units
and in USDC. --from and --to select payments by when they were presented, callbacks by when their attempt ended, keys by
when they were created, and docket events by when they were recorded; both ends are included.

Examples:
  $ docket audit export payments --out payments.csv
  $ docket audit export payments --wallet ADDRESS --from 2026-03-01T00:00:00Z --to 2026-03-31T23:59:59.999999Z
  $ docket audit export deliveries --format ndjson | jq -c 'select(.outcome == "failed")'
  $ docket audit export payments --format parquet --out payments.parquet`;

export const addAuditExportCommand: AddCommand = (audit, context) => {
  audit
    .command('export')
    .description('Write payments, callbacks, keys or dockets as flat rows, or the whole log (export log --help).')
    .argument('<table>', `which rows: ${Object.keys(TABLES).join(', ')}`)
    .addOption(new Option('--format <format>', 'how').choices(Object.keys(FORMATS)).default('csv'))
    .option('--out <file>', 'write to this file, which appears once it is complete (default: stdout)')
    .option('--force', 'replace the file if it exists')
    .option('--wallet <address>', 'only rows of this wallet; dockets have none')
    .option('--from <time>', 'rows at or after this time')
    .option('--to <time>', 'rows at or before this time')
    .addHelpText('after', HELP)
    .action((word: string, options: ExportOptions) => exportTable(context, word, options));
};

async function exportTable(context: CliContext, word: string, options: ExportOptions): Promise<void> {
  if (!Object.hasOwn(TABLES, word)) {
    throw new CliError(
      `Unknown table: ${word}.`,
      `Use one of ${Object.keys(TABLES).join(', ')}; log is the whole log.`,
    );
  }
  const table = TABLES[word as TableName];
  if (options.wallet !== undefined && word === 'dockets') {
    throw new CliError('--wallet does not apply to dockets: they belong to no wallet.', 'Leave it out.');
  }
  const selection = {
    wallet: options.wallet === undefined ? null : readWallet(options.wallet),
    ...readPeriod(options),
  };
  const out = options.out ?? null;
  if (options.format === 'parquet' && isStdout(out) && isTerminal(context)) {
    throw new CliError('Parquet is binary, and stdout is a terminal.', 'Give --out FILE, or another format.');
  }
  await withStorage(openServiceLog, context, async ({ log }) => {
    const progress = startReadingProgress(context, log);
    let count = 0;
    async function* counted(): AsyncIterable<Row> {
      for await (const row of table.rows(progress.log, selection)) {
        count += 1;
        yield row;
      }
    }
    try {
      const chunks = FORMATS[options.format](table.columns, counted());
      await writeOutput(context, { out, force: options.force === true }, chunks);
    } catch (error) {
      if (!(error instanceof OutOfRange)) throw error;
      throw new CliError(
        `${error.message}.`,
        'Use --format csv; docket audit verify shows whether it is sound.',
        EXIT.found,
      );
    } finally {
      progress.end();
    }
    if (!isStdout(out)) note(context, `${count} ${count === 1 ? 'row' : 'rows'} written to ${out}.`);
  });
}
