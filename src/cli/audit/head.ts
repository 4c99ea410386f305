/** `docket audit head`: prints the newest signed root of the log, and checks one that somebody kept. */
import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { checkKeptHead } from '../../audit/kept-head.ts';
import { loadNewestHeads, publicKeyAt } from '../../commands/log-head/newest-heads.ts';
import { loadLogIdentity } from '../../commands/log-identity/log-identity.ts';
import {
  type ParsedNote,
  parseSignedNote,
  signedNote,
  verifierKeyOf,
  verifyHeadSignature,
} from '../../events/log-note.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, FoundWrong, print, printJson } from '../command.ts';
import { startReadingProgress } from '../reading-progress.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';

interface HeadOptions {
  readonly verify?: string;
  readonly json?: boolean;
}

/** A note has a few lines; a file that is longer is something else. */
const MOST_BYTES = 100_000;

export const addAuditHeadCommand: AddCommand = (audit: Command, context) => {
  audit
    .command('head')
    .description('Print the newest signed root of the whole log, to keep it elsewhere; or check one that was kept.')
    .option('--verify <file>', 'check a kept head: is it of this log, and does the log still lead to it?')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Works with or without a running service, which records a head each minute in which something happened, and at a stop.
The output is a signed note (c2sp.org/signed-note). A kept head proves every event up to its size: --verify
recomputes the hash of each from its content.
Exit code 1: the log does not lead to the kept head.

Examples:
  $ docket audit head > head-2026-03-01.txt
  $ docket audit head --verify head-2026-03-01.txt
  $ docket audit head --json`,
    )
    .action((options: HeadOptions) => {
      const note = options.verify === undefined ? null : readNote(options.verify);
      return withStorage(openServiceLog, context, ({ log }) =>
        note === null ? printHead(log, options, context) : verify(log, note, options, context),
      );
    });
};

async function printHead(log: EventLog, { json }: HeadOptions, context: CliContext): Promise<void> {
  const logId = await logIdOf(log);
  const { state, head: end } = await loadNewestHeads(log);
  const { head } = state;
  if (head === null) throw noHead();
  const publicKey = await publicKeyAt(log, head.masterVersion, end.revision);
  if (publicKey === null || !verifyHeadSignature(head, logId, publicKey)) {
    throw new CliError(
      `The newest head, over ${head.size} events, is not signed by a key of this log.`,
      'Run docket audit verify.',
      EXIT.found,
    );
  }
  const note = signedNote(head, logId, publicKey);
  if (!json) return print(context, note.trimEnd());
  const { size, root, last, masterVersion } = head;
  printJson(context, {
    logId,
    size,
    root,
    last,
    masterVersion,
    publicKey,
    verifierKey: verifierKeyOf(logId, publicKey),
    note,
  });
}

async function verify(log: EventLog, note: ParsedNote, { json }: HeadOptions, context: CliContext): Promise<void> {
  const logId = await logIdOf(log);
  const progress = startReadingProgress(context, log);
  const check = await checkKeptHead(progress.log, logId, note).finally(() => progress.end());
  const { size, root } = note;
  if (json) printJson(context, { logId: note.logId, size, root, ...check });
  if (!check.holds) {
    throw new FoundWrong(
      `The log does not lead to the kept head over ${size} events: ${check.found}.`,
      check.reason === 'another_log'
        ? 'Set DATA_DIR or EVENTSTORE_URL to the log that the head is of.'
        : 'Events were removed, added, changed or moved since the head was kept. Run docket audit verify.',
    );
  }
  if (!json) print(context, `The log's first ${size} events are those of the kept head, with root ${root}.`);
}

async function logIdOf(log: EventLog): Promise<string> {
  const identity = await loadLogIdentity(log);
  if (identity === null) throw noHead();
  return identity.logId;
}

const noHead = (): CliError =>
  new CliError(
    'The log has no head yet.',
    'Start the service: it records one each minute in which something happened, and at a stop, unless AUDIT_HEADS=off.',
    EXIT.unavailable,
  );

function readNote(file: string): ParsedNote {
  let text: string;
  try {
    if (statSync(file).size > MOST_BYTES) throw notANote(file);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`,
      'Give a file that docket audit head printed.',
    );
  }
  // Saved by an editor or on Windows, it may have other line ends, or none after the last line.
  const note = parseSignedNote(`${text.replaceAll('\r\n', '\n').trimEnd()}\n`);
  if (note === null) throw notANote(file);
  return note;
}

const notANote = (file: string): CliError =>
  new CliError(`${file} holds no head of a log.`, 'Give a file that docket audit head printed, without changes.');
