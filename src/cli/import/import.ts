/** `docket import`: imports dockets from files, whether or not the service runs. */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import type { IngestPorts } from '../../commands/docket/clock.ts';
import { type ImportedItem, importItems } from '../../commands/docket/import.ts';
import { readConfig } from '../../config.ts';
import { cases } from '../../projections/cases.ts';
import { createProjectionRunner } from '../../projections/runner.ts';
import { type Clock, type Instant, parseTimestamp, systemClock, toInstant } from '../../runtime/instant.ts';
import { readPages, separatePages } from '../../sources/courtlistener/files.ts';
import { findDocketFiles, readDocketFile } from '../../sources/files/docket-files.ts';
import type { ReadOptions } from '../../sources/juriscraper/juriscraper.ts';
import type { CommandContext, EventLog, Position } from '../../storage/event-log.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { type AddCommand, type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { canStartProjectionThread, startProjectionThread } from '../projections/thread.ts';
import { openOwnStorage } from '../service-storage.ts';
import { createImportSummary, type ImportSummary } from './summary.ts';

export interface ImportStorage {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  close(): Promise<void>;
}

/** Opens the storage of the service that the environment configures. */
export type OpenImportStorage = (environment: NodeJS.ProcessEnv) => Promise<ImportStorage>;

interface ImportOptions {
  readonly partial?: true;
  readonly askedAt?: string;
  readonly json?: true;
}

/** Smaller imports finish before a thread would have started. */
const THREAD_FROM_BYTES = 4 * 1024 * 1024;

/** How long the projection may take to show the import after the import itself ends. */
const VISIBLE_WITHIN_MS = 10 * 60_000;

export const createImportCommand =
  (open: OpenImportStorage, clock: Clock = systemClock): AddCommand =>
  (program, context) => {
    program
      .command('import')
      .description('Import dockets from files or folders. Returns once answers show them.')
      .argument(
        '<file...>',
        'juriscraper JSON, lists of it, NDJSON, or saved pages of CourtListener; a folder means all files in it',
      )
      .option('--partial', 'the files hold only part of each docket (default: all of it)')
      .option('--asked-at <time>', 'when the data was fetched from the source, ISO-8601 with offset (default: now)')
      .option('--json', 'one JSON object with the outcome of each file')
      .addHelpText('after', HELP)
      .action((paths: string[], options: ImportOptions) => runImport(open, clock, context, paths, options));
  };

const HELP = `
Safe to kill and to run again: bytes already imported change nothing. An entry that cannot be used does not affect the
others; it is listed with the reason. The service may be running or stopped.

Examples:
  $ docket import docket.json
  $ docket import reports/ --asked-at 2026-03-01T12:00:00Z
  $ docket import feed.ndjson --partial --json
  $ docket import courtlistener/           pages of dockets, docket-entries, parties and attorneys, in any order

Exit codes: 0 imported; 1 at least one docket could not be used at all; 2 wrong usage; 3 storage unavailable.`;

/** The command on the storage that the service uses. */
export const addImportCommand: AddCommand = createImportCommand(async (environment) =>
  openOwnStorage(readConfig(environment)),
);

async function runImport(
  open: OpenImportStorage,
  clock: Clock,
  context: CliContext,
  paths: readonly string[],
  options: ImportOptions,
): Promise<void> {
  const read: ReadOptions = {
    askedAt: readAskedAt(options.askedAt, clock),
    complete: options.partial !== true,
    source: 'file',
  };
  const { files, missing } = await findDocketFiles(paths);
  if (missing.length > 0) {
    throw new CliError(`Not found: ${missing.join(', ')}.`, 'Nothing was imported. Give files or folders that exist.');
  }
  if (files.length === 0) {
    throw new CliError(`There is no .json, .ndjson or .jsonl file in ${paths.join(', ')}.`, 'Give the files by name.');
  }
  const storage = await open(context.environment);
  const bytes = (await Promise.all(files.map((file) => stat(file)))).reduce((sum, { size }) => sum + size, 0);
  const thread =
    bytes >= THREAD_FROM_BYTES && canStartProjectionThread() ? await startProjectionThread(context.environment) : null;
  // With a thread, this runner is never started: it only reports how far the projection is.
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases],
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    owner: leaseOwner(),
  });
  try {
    if (thread === null) await runner.start();
    const summary = await importFiles(storage, clock, context, files, read, async (position, withinMs) => {
      if (await runner.waitFor(cases.name, position, withinMs)) return;
      const [status] = await runner.status();
      throw new CliError(
        `The import is recorded, but answers do not show it yet: the projection of cases is ${status?.state ?? 'missing'}.`,
        'Run docket doctor to see why. Do not repeat the import.',
        EXIT.unavailable,
      );
    });
    report(context, summary, options.json === true);
  } finally {
    await thread?.stop();
    await runner.stop();
    await storage.close();
  }
}

function readAskedAt(text: string | undefined, clock: Clock): Instant {
  const now = toInstant(clock.now());
  if (text === undefined) return now;
  const askedAt = parseTimestamp(text);
  if (askedAt === null) {
    throw new CliError(
      `--asked-at ${text} is not a timestamp.`,
      'Give ISO-8601 with an offset, for example 2026-03-01T12:00:00Z.',
    );
  }
  if (askedAt > now) {
    throw new CliError(
      `--asked-at ${text} is in the future.`,
      'Give the time at which the data was fetched from the source.',
    );
  }
  return askedAt;
}

async function importFiles(
  storage: ImportStorage,
  clock: Clock,
  context: CliContext,
  files: readonly string[],
  options: ReadOptions,
  waitFor: (position: Position, withinMs: number) => Promise<void>,
): Promise<ImportSummary> {
  const ports: IngestPorts = {
    ...storage,
    clock,
    newId: randomUUID,
    sleep: (ms) => delay(ms),
    waitUntilProjected: (position) => waitFor(position, VISIBLE_WITHIN_MS),
  };
  const command: CommandContext = {
    commandId: randomUUID(),
    requestId: null,
    correlationId: randomUUID(),
    causationId: null,
    actor: 'cli',
  };
  const summary = createImportSummary();
  const { pages, others } = await separatePages(files);
  const sources = others.map((file) => ({ name: file, items: readDocketFile(file) }));
  if (pages.length > 0) sources.push({ name: `${pages.length} pages of CourtListener`, items: readPages(pages) });
  const progress = startProgress(context, summary, sources.length);
  let newest: Position | null = null;
  try {
    for (const { name, items } of sources) {
      const outcome = summary.begin(name);
      const onItem = (item: ImportedItem): void => outcome.add(item);
      const position = await importItems(ports, items, options, command, onItem);
      if (position !== null && (newest === null || position > newest)) newest = position;
      progress.fileDone(name);
    }
    if (newest !== null) await waitFor(newest, VISIBLE_WITHIN_MS);
  } finally {
    progress.end();
  }
  return summary;
}

const REDRAW_MS = 200;

/** One line that is redrawn on a terminal; elsewhere one line per file. */
function startProgress(context: CliContext, summary: ImportSummary, total: number) {
  const started = performance.now();
  let done = 0;
  const line = (): string => {
    const seconds = Math.max(0.001, (performance.now() - started) / 1000);
    const { filings } = summary.totals();
    return `${done} of ${total} files, ${filings} entries, ${Math.round(filings / seconds)} a second`;
  };
  const timer = context.interactive ? setInterval(() => context.stderr.write(`\r\u001B[K${line()}`), REDRAW_MS) : null;
  timer?.unref();
  return {
    fileDone(file: string): void {
      done++;
      if (!context.interactive) note(context, `${file}: ${summary.lineOf(file)}`);
    },
    end(): void {
      if (timer === null) return;
      clearInterval(timer);
      context.stderr.write(`\r\u001B[K${line()}\n`);
    },
  };
}

function report(context: CliContext, summary: ImportSummary, json: boolean): void {
  if (json) printJson(context, summary.toJson());
  else for (const line of summary.toLines()) print(context, line);
  const { refused } = summary.totals();
  if (refused > 0) {
    throw new FoundWrong(
      refused === 1 ? 'One docket could not be used.' : `${refused} dockets could not be used.`,
      'See the reasons above. Everything else was imported.',
    );
  }
}
