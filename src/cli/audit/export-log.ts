/** `docket audit export log`: the whole event log for programs that check it without this service. */
import type { Command } from 'commander';
import { rawLog } from '../../audit/proof/raw-log.ts';
import { systemClock, toInstant } from '../../runtime/instant.ts';
import type { RawEventLog } from '../../storage/raw-events.ts';
import { type AddCommand, CliError } from '../command.ts';
import { writeOutput } from '../output-file.ts';
import { countReading } from '../reading-progress.ts';
import { openServiceRawLog, withStorage } from '../service-storage.ts';

/** Options of `audit export`, which commander reads even behind `log`. */
interface ExportLogOptions {
  readonly out?: string;
  readonly force?: true;
}

const HELP = `
The first line names the log, each further line is one event, and the last line has the number of events, the root of
their tree and the newest signed head. The log ends with its newest event at the start; the service may be running.

Examples:
  $ docket audit export log --out log.ndjson
  $ docket audit export log | gzip > log.ndjson.gz
  $ docket audit export log | python3 examples/verifier/verify.py -`;

/** Extends `audit export`, which must be there. */
export const addAuditExportLogCommand: AddCommand = (audit, context) => {
  audit.commands
    .find((command) => command.name() === 'export')
    ?.command('log')
    .description('Write the whole event log as NDJSON, for the verifiers in examples/verifier.')
    .option('--out <file>', 'write to this file, which appears once it is complete (default: stdout)')
    .option('--force', 'replace the file if it exists')
    .addHelpText('after', HELP)
    .action(async (_: ExportLogOptions, command: Command) => {
      rejectSelection(command);
      const { out, force } = command.optsWithGlobals<ExportLogOptions>();
      await withStorage(openServiceRawLog, context, async (log) => {
        const until = await log.head();
        const progress = countReading(context);
        try {
          const counted: Pick<RawEventLog, 'read' | 'find'> = {
            read: (after, upTo) => progress.counted(log.read(after, upTo)),
            find: (stream, revision) => log.find(stream, revision),
          };
          const lines = rawLog(counted, until, toInstant(systemClock.now()));
          await writeOutput(context, { out: out ?? null, force: force === true }, lines);
        } finally {
          progress.end();
        }
      });
    });
};

/** A part of a log proves nothing about the rest, so nothing can be selected. @throws CliError */
function rejectSelection({ parent }: Command): void {
  const given = ['format', 'wallet', 'from', 'to'].find((name) => parent?.getOptionValueSource(name) === 'cli');
  if (given)
    throw new CliError(`--${given} does not apply to the log.`, 'It is exported whole, as NDJSON. Leave it out.');
}
