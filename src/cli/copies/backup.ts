/** `docket backup`: takes a backup of the log, its content, the case clocks and the keys, and verifies one. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { Backup, shownOlderKeys } from '../../backup/read.ts';
import { takeBackup } from '../../backup/take.ts';
import { type BackupVerdict, verifyBackup } from '../../backup/verify.ts';
import { readConfig } from '../../config.ts';
import { systemClock } from '../../runtime/instant.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import { type AddCommand, type CliContext, FoundWrong, note, print, printJson } from '../command.ts';
import { openServiceCopies, withStorage } from '../service-storage.ts';
import { CHECK_FOLDER, reportingRefusals } from './copy-failure.ts';
import { startCopyProgress } from './copy-progress.ts';

interface BackupOptions {
  readonly incremental?: true;
  readonly withoutKeys?: true;
  readonly json?: true;
}

const HELP = `
The backup holds everything up to the moment at which the command starts: events, the content that they name, case
clocks and the files in DATA_DIR/keys. The service may be running or stopped. Hashes are checked on the way; a damaged
log is not backed up. A run that is killed leaves earlier parts as they are; run it again.

The folder holds secrets and the text of dockets: everything in it can be read only by its owner. Keep it as safe as
DATA_DIR. A master key that is set in MASTER_KEY is not in it.

Examples:
  $ docket backup /backups/2026-03-01                  a full backup in a new folder
  $ docket backup /backups/2026-03-01 --incremental    adds what is newer
  $ docket backup /backups/2026-03-01 --without-keys
  $ docket backup verify /backups/2026-03-01 --json

Exit codes: 0 done; 1 the log or the backup is damaged or does not fit; 2 wrong usage; 3 storage unavailable.`;

const VERIFY_HELP = `
Compares every file with its hash, every event with its hash and the event before it, every content with its name, and
the whole with the root in the manifest. Needs no storage and no configuration. It shows that the backup is what was
written; compare the root with a recorded head of the log to show that nobody wrote another one.

Examples:
  $ docket backup verify /backups/2026-03-01
  $ docket backup verify /backups/2026-03-01 --json`;

const WRITE_ELSEWHERE =
  'Give a folder in which this user may write, on a disk with space, and run it again; earlier parts are as they were.';

export const addBackupCommand: AddCommand = (program, context) => {
  const backup = program
    .command('backup')
    .description('Take a backup of the service, running or stopped, or verify one.')
    .argument('<dir>', 'where: a new or empty folder, or with --incremental a backup')
    .option('--incremental', 'add only what is newer than the last part of the backup in <dir>')
    .option('--without-keys', 'leave out the files in DATA_DIR/keys, so that the backup holds no secret key')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((directory: string, options: BackupOptions) => take(directory, options, context));
  backup
    .command('verify')
    .description('Check everything in a backup without restoring it.')
    .argument('<dir>', 'the folder of the backup')
    .option('--json', 'one JSON object')
    .addHelpText('after', VERIFY_HELP)
    .action((directory: string, _options: unknown, command: Command) =>
      verify(directory, command.optsWithGlobals<BackupOptions>(), context),
    );
};

async function take(directory: string, options: BackupOptions, context: CliContext): Promise<void> {
  const config = readConfig(context.environment);
  const progress = startCopyProgress(context);
  const withKeys = options.withoutKeys !== true;
  const folder = resolve(directory);
  const taken = await withStorage(openServiceCopies, context, (storage) =>
    reportingRefusals(
      () =>
        takeBackup({
          source: { ...storage, keys: withKeys ? join(config.dataDirectory, 'keys') : null },
          directory: folder,
          incremental: options.incremental === true,
          clock: systemClock,
          owner: leaseOwner(),
          onProgress: progress.onProgress,
        }),
      { folder, hint: WRITE_ELSEWHERE },
    ),
  ).finally(() => progress.end());
  if (taken === null) {
    if (options.json) printJson(context, { directory, new_events: 0 });
    else print(context, 'Nothing is newer than the backup; it was left as it is.');
    return;
  }
  const { part, olderKeys, damaged } = taken;
  if (options.json) {
    printJson(context, {
      directory,
      part: part.number,
      log_id: part.logId,
      taken_at: part.takenAt,
      new_events: part.events,
      events: part.tree.size,
      root: part.tree.root,
      head: part.head.position,
      contents: part.payloads,
      case_clocks: part.cells,
      keys: part.keys,
      older_keys: olderKeys,
      damaged,
    });
  } else {
    print(context, `${directory}: part ${part.number} with ${part.events} events of log ${part.logId}`);
    print(context, `events in all: ${part.tree.size}, root ${part.tree.root}`);
    const { stored, replaced, absent } = part.payloads;
    print(context, `contents: ${stored} stored, ${replaced} replaced by record, ${absent} no longer in the store`);
    print(context, `case clocks: ${part.cells}`);
    print(context, part.keys === null ? 'keys: left out' : `keys: ${part.keys.join(', ') || 'none'}`);
  }
  if (part.keys !== null && part.keys.length > 0) {
    note(context, `${directory} now holds secret keys. Keep it as safe as DATA_DIR/keys.`);
  }
  if (olderKeys.length > 0) {
    note(
      context,
      `Keys missing in this part, which a restore will take from earlier parts: ${shownOlderKeys(olderKeys)}.`,
    );
  }
  if (config.masterKey !== null) note(context, 'MASTER_KEY is not in the backup: keep a copy of it elsewhere.');
  if (damaged.length === 0) return;
  for (const name of damaged) note(context, `damaged in the storage: ${name}`);
  throw new FoundWrong(
    `${damaged.length} stored contents do not match their names; everything else is in the backup.`,
    'Restore these bytes from an earlier backup: docs/operating.md, "Files and disks".',
  );
}

async function verify(directory: string, { json }: BackupOptions, context: CliContext): Promise<void> {
  const progress = startCopyProgress(context);
  const folder = resolve(directory);
  const { verdict, backup } = await reportingRefusals(
    async () => {
      const opened = await Backup.open(folder);
      return { backup: opened, verdict: await verifyBackup(opened, progress.onProgress) };
    },
    { folder, hint: CHECK_FOLDER },
  ).finally(() => progress.end());
  const { manifest, newest } = backup;
  if (json) {
    const { problems, remarks, events, payloads, cells, root } = verdict;
    printJson(context, {
      directory,
      sound: problems.length === 0,
      log_id: manifest.logId,
      parts: manifest.parts.length,
      taken_at: newest.takenAt,
      events,
      contents: payloads,
      case_clocks: cells,
      root,
      problems,
      remarks,
    });
  } else {
    print(context, `${directory}: log ${manifest.logId}, ${manifest.parts.length} part(s), taken at ${newest.takenAt}`);
    print(context, `events: ${verdict.events}, root ${verdict.root}`);
    print(context, `contents: ${verdict.payloads}, case clocks: ${verdict.cells}`);
    for (const remark of verdict.remarks) print(context, `note: ${remark}`);
    for (const problem of verdict.problems) print(context, `problem: ${problem}`);
  }
  throwIfUnsound(verdict, directory);
  if (!json) print(context, 'The backup is complete and unchanged.');
}

function throwIfUnsound({ problems }: BackupVerdict, directory: string): void {
  if (problems.length === 0) return;
  throw new FoundWrong(
    `${directory} cannot be restored: ${problems.length === 1 ? 'one problem' : `${problems.length} problems`}.`,
    'Use another copy of this backup, or an older backup.',
  );
}
