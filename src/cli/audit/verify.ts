/** `docket audit verify`: checks everything that the log claims, and prints every breach. */
import { readFileSync } from 'node:fs';
import { FACT_RULES, LOG_RULES, SIGNATURE_RULES, STREAM_RULES } from '../../audit/rules/all.ts';
import { LISTED } from '../../audit/rules/catalogue.ts';
import type { FoundBreach } from '../../audit/verify/breaches.ts';
import { ANEW, CheckpointMismatch } from '../../audit/verify/checkpoint.ts';
import type { KeptClaim } from '../../audit/verify/heads.ts';
import { CheckpointDamaged } from '../../audit/verify/scratch.ts';
import { type Verification, verifyLog } from '../../audit/verify/verify.ts';
import { parseSignedNote } from '../../events/log-note.ts';
import { systemClock } from '../../runtime/instant.ts';
import {
  CheckpointInUse,
  CheckpointUnwritable,
  NoCheckpoint,
  NoFolder,
  openAudit,
  openCheckpoint,
  openScratch,
} from '../../service/open-audit.ts';
import { asStorageFailure } from '../../storage/sqlite/sqlite-file.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { type AddCommand, type CliContext, CliError, EXIT, FoundWrong, print, printJson } from '../command.ts';
import { configWithLog } from '../service-storage.ts';
import { chainExplained, openAnchorChain } from './verify-chain.ts';
import { derivedKeys, keptKey } from './verify-keys.ts';
import { type Figures, figuresOf, linesOf, showProgress } from './verify-report.ts';

interface VerifyCliOptions {
  readonly checkpoint?: string;
  readonly head?: string;
  readonly key?: readonly string[];
  readonly payloads: boolean;
  readonly signatures?: boolean;
  readonly chain?: boolean;
  readonly limit: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

const rulesOf = ({ signatures = false }: VerifyCliOptions) => ({
  streams: STREAM_RULES,
  facts: FACT_RULES,
  log: signatures ? [...LOG_RULES, ...SIGNATURE_RULES] : LOG_RULES,
});
/** A run with a checkpoint that is killed does again what took a few seconds. */
const COMMIT_EVERY = 50_000;

export const addAuditVerifyCommand: AddCommand = (audit, context) => {
  audit
    .command('verify')
    .description('Check the whole log: hashes, order, heads, content, and the rules of money and promise.')
    .option('--checkpoint <file>', 'go on from this file, and keep there what was verified')
    .option('--head <head>', 'a head that somebody kept: a file with its note, or SIZE:ROOT')
    .option(
      '--key <key>',
      'a key of heads that somebody kept (docket audit head --json); repeat it for each that the service has ever used',
      (key: string, before: readonly string[] = []) => [...before, key],
    )
    .option('--no-payloads', 'do not compare stored content with the names in events')
    .option('--signatures', 'check every signature of every submitted transaction; takes longer than all else')
    .option('--chain', 'compare each anchor with its transaction on the chain')
    .option('--limit <number>', 'print at most this many breaches; all are counted', '1000')
    .option('--all', 'print also breaches that only follow from another')
    .option('--json', 'one JSON object for each breach, then one with the summary')
    .addHelpText(
      'after',
      `
Works with or without a running service, and changes nothing. Exit code 1: there is a breach. A log proves only that
its parts belong together: a head and a key that you kept elsewhere (--head, --key) show that it is still the same log.
Without --key, the keys are compared with the master key of the settings, if there is one.

Examples:
  $ docket audit verify
  $ docket audit verify --checkpoint audited.sqlite
  $ docket audit verify --head kept-head.txt --json`,
    )
    .action((options: VerifyCliOptions) => verify(options, context));
};

async function verify(options: VerifyCliOptions, context: CliContext): Promise<void> {
  const { checkpoint, head, payloads: content, all = false, json = false } = options;
  const limit = limitOf(options.limit);
  const kept = head === undefined ? null : keptHead(head);
  const keys = (options.key ?? []).map(keptKey);
  const config = configWithLog(context.environment);
  const trusted = { kept: keys.map(({ publicKey }) => publicKey), derived: derivedKeys(config) };
  const chain = options.chain ? await openAnchorChain(config, context) : null;
  const storage = await openedWith(chain, () => openAudit(config, { content }));
  const scratch = await openedWith({ close: () => closeAll(storage, chain) }, async () => openedScratch(checkpoint));
  const progress = showProgress(context);
  const began = performance.now();
  try {
    const verification = await verifyLog(
      { ...storage, rules: rulesOf(options), scratch, clock: systemClock, checkAnchor: chain?.check },
      {
        kept: kept?.claim ?? null,
        trusted,
        // Only a checkpoint outlives this run.
        commitEvery: checkpoint === undefined ? Number.POSITIVE_INFINITY : COMMIT_EVERY,
        onProgress: progress.show,
      },
    );
    progress.end();
    for (const given of kept ? [kept, ...keys] : keys) assertLogOf(given, verification);
    const figures = figuresOf(verification, { seconds: (performance.now() - began) / 1000, kept: kept?.claim ?? null });
    report(context, verification, figures, { limit, all, json });
  } catch (error) {
    throw explained(error);
  } finally {
    progress.end();
    scratch.close();
    await closeAll(storage, chain);
  }
}

const closeAll = async (...opened: readonly ({ close(): Promise<void> } | null)[]): Promise<void> => {
  for (const one of opened) await one?.close();
};

/** Opens the next; if that fails, closes what is open already. */
async function openedWith<Opened>(
  before: { close(): Promise<void> } | null,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    await before?.close();
    throw explained(error);
  }
}

const openedScratch = (checkpoint: string | undefined) =>
  checkpoint === undefined ? openScratch() : openCheckpoint(checkpoint);

function explained(error: unknown): unknown {
  if (error instanceof CheckpointMismatch) {
    const { message, hint } = error;
    return error.isChanged ? new FoundWrong(message, hint) : new CliError(message, hint);
  }
  if (error instanceof CheckpointDamaged) return new CliError(`${error.message}.`, ANEW);
  if (error instanceof CheckpointUnwritable) {
    return new CliError(`${error.message}.`, 'Give a file in a folder where this user may create files.');
  }
  if (error instanceof NoCheckpoint) {
    return new CliError(
      `${error.message}.`,
      'Give a file that does not exist yet, or the checkpoint of an earlier run.',
    );
  }
  if (error instanceof NoFolder) return new CliError(`${error.message}.`, 'Create it, or give another file.');
  if (error instanceof CheckpointInUse) {
    return new CliError(`${error.message}.`, 'Wait until it has ended, or give another file.');
  }
  const failure = error instanceof StorageFailure ? null : asStorageFailure(error);
  if (failure === null) return chainExplained(error);
  // The log's own failures are StorageFailures already.
  return new CliError(
    `What the run must remember cannot be written: ${failure.message}.`,
    'Set TMPDIR to a folder with space, or put --checkpoint on another disk: up to 0.5 KB for each event.',
    EXIT.unavailable,
  );
}

function report(
  context: CliContext,
  verification: Verification,
  figures: Figures,
  { limit, all, json }: { readonly limit: number; readonly all: boolean; readonly json: boolean },
): void {
  let printed = 0;
  let left = 0;
  for (const breach of verification.breaches()) {
    if (breach.followsFrom !== null && !all) continue;
    if (printed >= limit) {
      left++;
      continue;
    }
    printed++;
    if (json) printJson(context, breachJson(breach));
    else print(context, breachText(breach));
  }
  if (json) printJson(context, { summary: figures });
  else {
    if (left > 0) print(context, `… and ${left} more: see --limit`);
    for (const line of linesOf(figures)) print(context, line);
  }
  if (figures.breaches > 0) {
    const message = figures.breaches === 1 ? 'There is one breach.' : `There are ${figures.breaches} breaches.`;
    throw new FoundWrong(message, 'docs/auditing.md says what each rule means.');
  }
}

const breachJson = ({ rule, stream, revision, position, expected, found, followsFrom }: FoundBreach) => ({
  ...(LISTED.has(rule) ? { listed: rule } : { rule }),
  stream,
  revision,
  position,
  expected,
  found,
  ...(followsFrom !== null && { follows_from: followsFrom }),
});

function breachText({ rule, stream, revision, position, expected, found, followsFrom }: FoundBreach): string {
  const place = `${stream}${revision === null ? '' : ` ${revision}`}${position === null ? '' : ` at ${position}`}`;
  const follows = followsFrom === null ? '' : `\n  follows  ${followsFrom}`;
  return `${LISTED.has(rule) ? 'listed: ' : ''}${rule}  ${place}\n  expected ${expected}\n  found    ${found}${follows}`;
}

function limitOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(`--limit is not a whole number: ${text}`, 'Give how many breaches to print, for example 100.');
}

interface KeptHead {
  readonly claim: KeptClaim;
  /** The log that the head is of; null if the head does not say. */
  readonly logId: string | null;
}

const SIZE_AND_ROOT = /^([1-9]\d{0,14}):([0-9a-f]{64})$/;
const HEAD_FORMS = 'Give the file of a note that docket audit head printed, or SIZE:ROOT.';

function keptHead(text: string): KeptHead {
  const [, size, root] = SIZE_AND_ROOT.exec(text) ?? [];
  if (size && root) return { claim: { size: Number(size), root }, logId: null };
  let content: string;
  try {
    content = readFileSync(text, 'utf8');
  } catch (error) {
    throw new CliError(`--head cannot be read: ${(error as Error).message}`, HEAD_FORMS);
  }
  const note = parseSignedNote(content);
  if (!note) throw new CliError(`${text} is not a note of a head.`, HEAD_FORMS);
  return { claim: { size: note.size, root: note.root, isRecorded: true }, logId: note.logId };
}

function assertLogOf(given: Pick<KeptHead, 'logId'>, { logId }: Verification): void {
  if (given.logId === null || logId === null || given.logId === logId) return;
  const what = 'claim' in given ? 'head' : 'key';
  throw new CliError(`--${what} is of log ${given.logId}, and this is log ${logId}.`, `Give a ${what} of this log.`);
}
