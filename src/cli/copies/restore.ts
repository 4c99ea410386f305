/** `docket restore`: fills the configured, empty storage from a backup. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { backupOrigin } from '../../backup/origin.ts';
import { Backup, shownOlderKeys } from '../../backup/read.ts';
import { receive } from '../../backup/receive.ts';
import { NO_REDACTIONS, type RedactionList, readRedactions } from '../../backup/redactions.ts';
import { CopyRefused } from '../../backup/refused.ts';
import { assertKeysFit, writeKeys } from '../../backup/restore-keys.ts';
import { verifyBackup } from '../../backup/verify.ts';
import { type Config, readConfig } from '../../config.ts';
import { LogFounded } from '../../events/log-identity.ts';
import { systemClock } from '../../runtime/instant.ts';
import { openStorage } from '../../service/open-storage.ts';
import { isGenesisOf } from '../../solana/addresses.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import { type AddCommand, type CliContext, CliError, note, print, printJson } from '../command.ts';
import { CHECK_FOLDER, reportingRefusals } from './copy-failure.ts';
import { startCopyProgress } from './copy-progress.ts';

interface RestoreOptions {
  readonly redactions?: string;
  readonly withoutKeys?: true;
  readonly json?: true;
}

const HELP = `
The storage is the one that the configuration names: DATA_DIR, or EVENTSTORE_URL and MONGODB_URL. It must be empty, and
no service may run on it. The backup is verified first; a damaged or half one changes nothing. Events get the same ids,
revisions, hashes and order. A restore that is interrupted continues when it is run again with the same arguments;
until it has ended, the service does not start on this storage.

A list of redactions names content that was withdrawn after the backup was taken, one JSON object per line, with "name"
and "reason", and optionally "filingIds" and "by"; or the events that withdrew it, as docket audit replay prints them. That
content is not restored, and its removal is recorded.

What was recorded after the backup is gone. Run docket audit reconcile before you serve: it lists what was paid since.

Examples:
  $ DATA_DIR=/srv/docket docket restore /backups/2026-03-01
  $ docket restore /backups/2026-03-01 --redactions withdrawn.ndjson --json

Exit codes: 0 restored; 1 the backup or the storage does not allow it; 2 wrong usage; 3 storage unavailable.`;

export const addRestoreCommand: AddCommand = (program, context) => {
  program
    .command('restore')
    .description('Restore a backup into the configured storage, which must be empty.')
    .argument('<dir>', 'the folder of the backup')
    .option('--redactions <file>', 'content that was withdrawn after the backup was taken')
    .option('--without-keys', 'do not write the key files into DATA_DIR/keys')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((directory: string, options: RestoreOptions) => restore(directory, options, context));
};

async function restore(directory: string, options: RestoreOptions, context: CliContext): Promise<void> {
  const config = readConfig(context.environment);
  const progress = startCopyProgress(context);
  const place = { folder: resolve(directory), hint: CHECK_FOLDER };
  const { received, backup, keys, olderKeys } = await reportingRefusals(async () => {
    const redactions = await listIn(options.redactions);
    const opened = await Backup.open(place.folder);
    const { problems } = await verifyBackup(opened, progress.onProgress);
    if (problems.length > 0) {
      const hint = 'Nothing was restored. Use another copy of this backup, or an older backup.';
      throw new CopyRefused(`${directory} cannot be restored.`, hint, problems);
    }
    await assertNetwork(opened, config);
    const folder = join(config.dataDirectory, 'keys');
    const files = options.withoutKeys ? new Map<string, Buffer>() : await opened.keys();
    await assertKeysFit(folder, files);
    const target = await openStorage(config);
    try {
      const done = await receive({
        target,
        origin: backupOrigin(opened),
        redactions,
        ordered: config.engines === null,
        clock: systemClock,
        owner: leaseOwner(),
        onProgress: progress.onProgress,
        beforeEnd: () => writeKeys(folder, files),
      });
      const olderKeys = opened.olderKeys.filter(({ name }) => files.has(name));
      return { received: done, backup: opened, keys: [...files.keys()], olderKeys };
    } finally {
      await target.close();
    }
  }, place).finally(() => progress.end());
  const { events, root, contents, cells, damaged, redacted, unknown } = received;
  if (options.json) {
    printJson(context, {
      directory,
      log_id: backup.manifest.logId,
      taken_at: backup.newest.takenAt,
      events,
      root,
      contents,
      case_clocks: cells,
      keys,
      older_keys: olderKeys,
      damaged,
      redacted,
      not_in_backup: unknown,
    });
  } else {
    print(context, `log ${backup.manifest.logId} as of ${backup.newest.takenAt}: ${events} events, root ${root}`);
    print(context, `contents: ${contents}, case clocks: ${cells}, keys: ${keys.join(', ') || 'none'}`);
    for (const name of damaged) print(context, `damaged when the backup was taken: ${name}`);
    for (const name of redacted) print(context, `withdrawn: ${name}`);
    for (const name of unknown) print(context, `not in the backup: ${name}`);
  }
  if (olderKeys.length > 0) {
    note(context, `Keys missing in the newest part were taken from earlier parts: ${shownOlderKeys(olderKeys)}.`);
  }
  note(context, 'What was recorded after the backup is gone. Run docket audit reconcile, then start the service.');
  if (config.solana.network === 'local' && config.solana.rpcUrls.length === 0) {
    note(context, 'The local chain is not in a backup: put the folder chain of its DATA_DIR into this one.');
  }
}

async function listIn(file: string | undefined): Promise<RedactionList> {
  if (file === undefined) return NO_REDACTIONS;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The list of redactions cannot be read: ${error.message}`, 'Give the path of a file.');
  });
  return readRedactions(text);
}

/** @throws CopyRefused for a log of another chain: the service would not start on it */
async function assertNetwork(backup: Backup, { solana: { network } }: Config): Promise<void> {
  for await (const events of backup.events()) {
    for (const { type, data } of events) {
      if (type !== LogFounded.type) continue;
      const { genesisHash } = data;
      if (typeof genesisHash !== 'string' || isGenesisOf(network, genesisHash)) return;
      throw new CopyRefused(
        `The backup belongs to the chain with genesis hash ${genesisHash}, which is not SOLANA_NETWORK=${network}.`,
        'Set SOLANA_NETWORK to the network of the service that was backed up.',
      );
    }
  }
}
