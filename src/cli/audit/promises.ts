/** `docket audit promises`: which promised callbacks were kept, and what the open ones wait for. */
import { Option } from 'commander';
import { GROUPINGS, readPromises } from '../../audit/promises/promise-book.ts';
import { openJson, reportLines, sortedGroups, totalOf } from '../../audit/promises/report.ts';
import { systemClock, toInstant } from '../../runtime/instant.ts';
import { type AddCommand, print, printJson } from '../command.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';
import { type PeriodOptions, readPeriod } from './selection.ts';

interface PromisesOptions extends PeriodOptions {
  readonly by: keyof typeof GROUPINGS;
  readonly json?: true;
}

const HELP = `
A callback is promised when its payment settles. Each promise is acknowledged, failed, rolled back with its payment before
it was scheduled, or open; these four add up to the promised ones. "attempts" counts interrupted attempts and redeliveries
too. Every open callback is listed with what it waits for.

Examples:
  $ docket audit promises
  $ docket audit promises --by day --from 2026-03-01T00:00:00Z
  $ docket audit promises --json | jq -c 'select(.kind == "open")'`;

export const addAuditPromisesCommand: AddCommand = (audit, context) => {
  audit
    .command('promises')
    .description('Compare promised callbacks with attempts and acknowledgements.')
    .addOption(new Option('--by <group>', 'one line for each').choices(Object.keys(GROUPINGS)).default('host'))
    .option('--from <time>', 'promised at or after this time')
    .option('--to <time>', 'promised at or before this time')
    .option('--json', 'one JSON object per line, of the kinds group, open and total')
    .addHelpText('after', HELP)
    .action(async ({ by, json, ...times }: PromisesOptions) => {
      const asked = { by, ...readPeriod(times) };
      await withStorage(openServiceLog, context, async ({ log }) => {
        const progress = startReadingProgress(context, log);
        const report = await readPromises(progress.log, asked).finally(progress.end);
        const now = toInstant(systemClock.now());
        if (!json) {
          for (const line of reportLines(report, by, now)) print(context, line);
          return;
        }
        for (const [group, counts] of sortedGroups(report)) {
          printJson(context, { kind: 'group', by, group, ...counts });
        }
        for (const promise of report.open) printJson(context, { kind: 'open', ...openJson(promise, now) });
        printJson(context, { kind: 'total', ...totalOf(report) });
      });
    });
};
