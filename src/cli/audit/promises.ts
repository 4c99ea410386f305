/** `docket audit promises`: which promised callbacks were kept, and what the open ones wait for. */
import { Option } from 'commander';
import { GROUPINGS, type PromiseReport, readPromises } from '../../audit/promises/promise-book.ts';
import { openJson, reportLines } from '../../audit/promises/report.ts';
import { type Instant, systemClock, toInstant } from '../../runtime/instant.ts';
import { type AddCommand, printable } from '../command.ts';
import { readLimit } from '../list-limit.ts';
import { STDOUT, writeOutput } from '../output-file.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';
import { type PeriodOptions, readPeriod } from './selection.ts';

interface PromisesOptions extends PeriodOptions {
  readonly by: keyof typeof GROUPINGS;
  readonly limit?: string;
  readonly json?: true;
}

/** Lines that a person still reads; a service may have a million wallets. */
const TEXT_LIMIT = 1000;

const HELP = `
A callback is promised when its payment settles. Each promise is acknowledged, failed, cancelled by an operator, rolled back
with its payment before it was scheduled, or open; these five add up to the promised ones. "attempts" counts interrupted
attempts and redeliveries too. Open callbacks are listed with what they wait for, and whether their host is paused.

Text shows the first ${TEXT_LIMIT} groups and open callbacks, and says how many more there are; JSON has all. Totals cover all.

Examples:
  $ docket audit promises
  $ docket audit promises --by day --from 2026-03-01T00:00:00Z
  $ docket audit promises --by wallet --limit 50
  $ docket audit promises --json | jq -c 'select(.kind == "open")'`;

export const addAuditPromisesCommand: AddCommand = (audit, context) => {
  audit
    .command('promises')
    .description('Compare promised callbacks with attempts and acknowledgements.')
    .addOption(new Option('--by <group>', 'one line for each').choices(Object.keys(GROUPINGS)).default('host'))
    .option('--from <time>', 'promised at or after this time')
    .option('--to <time>', 'promised at or before this time')
    .option(
      '--limit <count>',
      `maximum of groups and of open callbacks; 0 for all (default: ${TEXT_LIMIT} as text, else all)`,
    )
    .option('--json', 'one JSON object per line, of the kinds group, open and total')
    .addHelpText('after', HELP)
    .action(async ({ by, limit: most, json, ...times }: PromisesOptions) => {
      const asked = { by, ...readPeriod(times) };
      const limit = most === undefined ? null : readLimit(most);
      await withStorage(openServiceLog, context, async ({ log }) => {
        const progress = startReadingProgress(context, log);
        const report = await readPromises(progress.log, asked).finally(progress.end);
        const now = toInstant(systemClock.now());
        try {
          const lines = json
            ? jsonLines(report, by, now, limit ?? 0)
            : reportLines(report, by, now, limit ?? TEXT_LIMIT);
          await writeOutput(context, STDOUT, printableLines(lines));
        } finally {
          report.close();
        }
      });
    });
};

function* jsonLines(report: PromiseReport, by: string, now: Instant, limit: number): Iterable<string> {
  for (const [group, counts] of report.groups(limit)) yield JSON.stringify({ kind: 'group', by, group, ...counts });
  for (const promise of report.open(limit)) {
    yield JSON.stringify({ kind: 'open', ...openJson(promise, now, report.pauseOf(promise)) });
  }
  yield JSON.stringify({ kind: 'total', ...report.total });
}

async function* printableLines(lines: Iterable<string>): AsyncIterable<string> {
  for (const line of lines) yield `${printable(line)}\n`;
}
