/** `docket migrate`: moves an embedded installation to EventStoreDB and MongoDB. */
import { cancelMigration, migrate } from '../../backup/migrate.ts';
import { type Config, readConfig } from '../../config.ts';
import { systemClock } from '../../runtime/instant.ts';
import { openStorage } from '../../service/open-storage.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import type { Storage } from '../../storage/storage.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from '../command.ts';
import { hasEventLog } from '../service-storage.ts';
import { reportingRefusals } from './copy-failure.ts';
import { startCopyProgress } from './copy-progress.ts';

interface MigrateOptions {
  readonly cancel?: true;
  readonly json?: true;
}

const HELP = `
Copies the log in DATA_DIR, its content and its case clocks to EVENTSTORE_URL and MONGODB_URL, which must be empty. Events
keep their ids, revisions, metadata, hashes and order; read models are rebuilt by the next start. Stop the service
first. The old storage is left as it is, but from then on no service starts on it.

A migration that is interrupted continues when it is run again. At the end the copied log is read back and compared.
The keys stay in DATA_DIR: keep it for this node, and set MASTER_KEY on every node to the content of keys/master-key.

Examples:
  $ export EVENTSTORE_URL='esdb://…' MONGODB_URL='mongodb://…'
  $ docket migrate && docket serve
  $ docket migrate --cancel          give it up; the service can use DATA_DIR again without the two variables

Exit codes: 0 migrated; 1 the storages do not allow it; 2 wrong usage; 3 storage unavailable.`;

export const addMigrateCommand: AddCommand = (program, context) => {
  program
    .command('migrate')
    .description('Move an embedded installation to EventStoreDB and MongoDB.')
    .option('--cancel', 'give up a migration that has not ended')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((options: MigrateOptions) => run(options, context));
};

async function run({ cancel, json }: MigrateOptions, context: CliContext): Promise<void> {
  const config = readConfig(context.environment);
  if (config.engines === null) {
    throw new CliError(
      'EVENTSTORE_URL and MONGODB_URL are not set.',
      'Set them to the new storage, and DATA_DIR to the folder of the installation.',
    );
  }
  const embedded = { ...config, engines: null };
  if (!hasEventLog(embedded)) {
    throw new CliError(
      `There is no event log in ${config.dataDirectory}.`,
      'Set DATA_DIR to the data folder of the service.',
      EXIT.unavailable,
    );
  }
  await withBoth(config, embedded, async (source, target) => {
    const progress = startCopyProgress(context);
    const options = { source, target, clock: systemClock, owner: leaseOwner(), onProgress: progress.onProgress };
    if (cancel) {
      await reportingRefusals(() => cancelMigration(options)).finally(() => progress.end());
      if (json) printJson(context, { canceled: true });
      else print(context, 'The migration is cancelled. Unset EVENTSTORE_URL and MONGODB_URL to use DATA_DIR again.');
      return;
    }
    const migrated = await reportingRefusals(() => migrate(options)).finally(() => progress.end());
    const { logId, events, root, contents, cells, damaged } = migrated;
    if (json) {
      printJson(context, { log_id: logId, events, root, contents, case_clocks: cells, damaged });
    } else {
      print(context, `log ${logId}: ${events} events, root ${root}`);
      print(context, `contents: ${contents}, case clocks: ${cells}`);
    }
    for (const name of damaged) note(context, `damaged in the old storage, and not copied: ${name}`);
    note(context, 'Start the service with the same EVENTSTORE_URL and MONGODB_URL; it rebuilds the read models.');
    if (config.masterKey === null) {
      note(context, 'Set MASTER_KEY on every node to the content of keys/master-key in DATA_DIR.');
    }
  });
}

async function withBoth(
  config: Config,
  embedded: Config,
  act: (source: Storage, target: Storage) => Promise<void>,
): Promise<void> {
  const source = await openStorage(embedded);
  try {
    const target = await openStorage(config);
    try {
      await act(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
