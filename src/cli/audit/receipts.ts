/** `docket audit receipts`: a statement of what a wallet was charged for. */
import { Option } from 'commander';
import { csv } from '../../audit/export/csv.ts';
import { statementHtml } from '../../audit/receipts/html.ts';
import {
  STATEMENT_COLUMNS,
  type StatementHead,
  type StatementLine,
  statementLines,
} from '../../audit/receipts/statement.ts';
import { statementText } from '../../audit/receipts/text.ts';
import { loadLogIdentity } from '../../commands/log-identity/log-identity.ts';
import { type AddCommand, note } from '../command.ts';
import { isStdout, writeOutput } from '../output-file.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';
import { type PeriodOptions, readPeriod, readWallet } from './selection.ts';

const FORMATS = {
  text: statementText,
  csv: (_head: StatementHead, lines: AsyncIterable<StatementLine>) => csv(STATEMENT_COLUMNS, lines),
  html: statementHtml,
} as const;

interface ReceiptsOptions extends PeriodOptions {
  readonly wallet: string;
  readonly format: keyof typeof FORMATS;
  readonly out?: string;
  readonly force?: true;
}

const HELP = `
Lists every payment that settled, with its request and its transaction on the chain. A payment that the chain rolled back
is listed and not added up. CSV has no totals, so that a program can add up its rows.

Examples:
  $ docket audit receipts --wallet ADDRESS
  $ docket audit receipts --wallet ADDRESS --from 2026-03-01T00:00:00Z --to 2026-03-31T23:59:59.999999Z
  $ docket audit receipts --wallet ADDRESS --format html --out statement.html`;

export const addAuditReceiptsCommand: AddCommand = (audit, context) => {
  audit
    .command('receipts')
    .description('Write a statement of what a wallet was charged for.')
    .requiredOption('--wallet <address>', 'the wallet that paid')
    .option('--from <time>', 'paid at or after this time')
    .option('--to <time>', 'paid at or before this time')
    .addOption(new Option('--format <format>', 'how').choices(Object.keys(FORMATS)).default('text'))
    .option('--out <file>', 'write to this file, which appears once it is complete (default: stdout)')
    .option('--force', 'replace the file if it exists')
    .addHelpText('after', HELP)
    .action(async (options: ReceiptsOptions) => {
      const asked = { wallet: readWallet(options.wallet), ...readPeriod(options) };
      const out = options.out ?? null;
      await withStorage(openServiceLog, context, async ({ log }) => {
        const head = { ...asked, log: await loadLogIdentity(log) };
        const progress = startReadingProgress(context, log);
        try {
          const chunks = FORMATS[options.format](head, statementLines(progress.log, asked));
          await writeOutput(context, { out, force: options.force === true }, chunks);
        } finally {
          progress.end();
        }
        if (!isStdout(out)) note(context, `Statement written to ${out}.`);
      });
    });
};
