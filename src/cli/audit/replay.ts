/** `docket audit replay`: prints events in log order, and marks invalid ones. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { z } from 'zod';
import { FAMILIES, type Family, familyOf, isFamily, shortStream } from '../../audit/replay/families.ts';
import { filterOf, type Replay, readable, replay } from '../../audit/replay/replay.ts';
import { EVENT_TYPES } from '../../events/codec.ts';
import { nearestName } from '../../http/nearest-name.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, FoundWrong, print, printJson } from '../command.ts';
import { openServiceLog, withStorage } from '../service-storage.ts';
import { numbered, replayLines } from './replay-columns.ts';
import { type PeriodOptions, readPeriod, readWallet } from './selection.ts';

interface ReplayOptions extends PeriodOptions {
  readonly wallet?: string;
  readonly request?: string;
  readonly type?: readonly string[];
  readonly stream?: string;
  readonly json?: boolean;
}

/** Streams counted exactly; beyond that the count is a lower bound, so that memory stays small. */
const COUNTED_STREAMS = 100_000;

/** A hint that names the nearest of several names, or lists them all. */
function hintFor(typed: string, names: readonly string[]): string {
  const nearest = nearestName(typed, names);
  return nearest === null ? `Use one of ${names.join(', ')}.` : `Did you mean ${nearest}?`;
}

function typesOption(types: readonly string[] | undefined): ReadonlySet<string> | null {
  if (types === undefined) return null;
  const names = types.flatMap((text) => text.split(',')).map((name) => name.trim());
  for (const name of names) {
    if (!EVENT_TYPES.includes(name))
      throw new CliError(`Unknown event type: ${name || '(empty)'}.`, hintFor(name, EVENT_TYPES));
  }
  return new Set(names);
}

function readAsked(word: string, { wallet, request, stream, type, ...times }: ReplayOptions): Replay {
  if (!isFamily(word)) throw new CliError(`Unknown family of streams: ${word}.`, hintFor(word, Object.keys(FAMILIES)));
  if (request !== undefined && !z.uuid().safeParse(request).success)
    throw new CliError(`${JSON.stringify(request)} is not a request id.`, 'Give the meta.request_id of an answer.');
  if (stream === '') throw new CliError('--stream is empty.', 'Give the name of a stream.');
  if (stream !== undefined && word !== 'all' && !FAMILIES[word].some((prefix: string) => stream.startsWith(prefix)))
    throw new CliError(
      `Stream ${stream} is not in the family ${word}.`,
      `Use docket audit replay ${familyOf(stream)} --stream ${stream}.`,
    );
  return {
    family: word,
    wallet: wallet === undefined ? null : readWallet(wallet),
    request: request?.toLowerCase() ?? null,
    stream: stream ?? null,
    types: typesOption(type),
    ...readPeriod(times),
  };
}

export const addAuditReplayCommand: AddCommand = (audit: Command, context) => {
  audit
    .command('replay')
    .description('Print events in the order of the log, and mark invalid events.')
    .argument('<family>', `which streams: ${Object.keys(FAMILIES).join(', ')}`)
    .option('--wallet <address>', 'only streams of this wallet')
    .option('--request <id>', 'only this request: its payment, its deliveries, and what else it caused')
    .option('--stream <name>', 'only this stream; accepts the short name shown without --json')
    .addOption(
      new Option('--type <names>', 'only events of these types, separated by commas; may be repeated').argParser(
        (text: string, before: readonly string[] = []) => [...before, text],
      ),
    )
    .option('--from <time>', 'recorded at or after this time')
    .option('--to <time>', 'recorded at or before this time')
    .addOption(
      new Option(
        '--json',
        'one JSON object per line: stream, revision, position, type, recordedAt, data, id, hash and the other hashed fields; problem, if the event is invalid',
      ),
    )
    .addHelpText(
      'after',
      `
Checks revisions and hashes as it reads. Invalid events are marked with ! and printed regardless of
--type, --from and --to; the exit code is then 1. docket audit verify checks everything else.

Examples:
  $ docket audit replay payments
  $ docket audit replay payments --wallet ADDRESS --json
  $ docket audit replay all --request 6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4e
  $ docket audit replay payments --type PaymentFailed,PaymentRolledBack
  $ docket audit replay dockets --from 2026-03-01T00:00:00Z`,
    )
    .action(async (word: string, options: ReplayOptions) => {
      const asked = readAsked(word, options);
      await withStorage(openServiceLog, context, ({ log }) => run(log, asked, context, options.json ?? false));
    });
};

async function run(log: EventLog, asked: Replay, context: CliContext, json: boolean): Promise<void> {
  if (asked.stream !== null) await assertStream(log, asked);
  const lines = replayLines(asked.family, roomOf(context));
  const streams = new Set<string>();
  let [events, wrong] = [0, 0];
  if (!json) print(context, lines.header);
  const progress = showReading(context);
  for await (const read of replay(log, asked, progress.read)) {
    events += 1;
    if ('unreadable' in read) {
      wrong += 1;
      const { code, message, hint, place } = read.unreadable;
      if (place.stream !== undefined && streams.size <= COUNTED_STREAMS) streams.add(place.stream);
      if (json) printJson(context, { error: { code, message, hint, ...place } });
      else print(context, `! ${message}`);
      continue;
    }
    const { event, problem } = read;
    if (problem !== null) wrong += 1;
    if (streams.size <= COUNTED_STREAMS) streams.add(event.stream);
    const { stream, revision, position, type, data, id, metadata } = event;
    // The whole event: checking the hashes needs every field that goes into them.
    if (json)
      printJson(context, { stream, revision, position, type, data, id, ...metadata, ...(problem && { problem }) });
    else print(context, lines.of(event, problem));
  }
  progress.clear();
  if (!json) print(context, countsOf(events, streams.size));
  if (wrong > 0)
    throw new FoundWrong(
      `${numbered(wrong, 'event is', 'events are')} invalid${json ? '' : ', marked with !'}.`,
      'docket audit verify lists every breach. Restore the log from a backup; do not edit it.',
    );
}

const countsOf = (events: number, streams: number): string => {
  if (events === 0) return '0 events';
  const many = streams > COUNTED_STREAMS ? `more than ${COUNTED_STREAMS} streams` : numbered(streams, 'stream');
  return `${numbered(events, 'event')} in ${many}`;
};

const REDRAW_MS = 200;

/** How much was read, on a terminal that does not show the result itself: a narrow filter is silent for long. */
function showReading({ interactive, stdout, stderr }: CliContext) {
  const isShown = interactive && (stdout as Partial<NodeJS.WriteStream>).isTTY !== true;
  let [count, drawnAt] = [0, 0];
  return {
    read(): void {
      count += 1;
      if (!isShown || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      stderr.write(`\r\u001B[K${numbered(count, 'event')} read`);
    },
    clear(): void {
      if (isShown && drawnAt > 0) stderr.write('\r\u001B[K');
    },
  };
}

/** Columns of the terminal that the result goes to; null for a file or a pipe. */
const roomOf = ({ stdout }: CliContext): number | null => {
  const { isTTY, columns } = stdout as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns ? columns : null;
};

/** @throws CliError with the nearest name if no stream has the asked one, in full or shortened */
async function assertStream(log: EventLog, asked: Replay): Promise<void> {
  const { stream } = asked;
  if (stream === null) return;
  for await (const read of readable(log, filterOf(asked))) {
    const name = 'event' in read ? read.event.stream : read.unreadable.place.stream;
    if (name !== undefined && (name === stream || shortStream(name) === stream)) return;
  }
  throw new CliError(
    `There is no stream ${stream} in this log.`,
    await nearestStreamHint(log, stream, asked.family === 'all' ? familyOf(stream) : asked.family),
  );
}

/** Comparing letter by letter takes long; a beginning of a name is found among all. */
const COMPARED_NAMES = 50_000;

async function nearestStreamHint(log: EventLog, stream: string, family: Family): Promise<string> {
  const beginning: string[] = [];
  const close = new Set<string>();
  let last = '';
  let names = 0;
  for await (const read of readable(log, filterOf({ stream: null, family }))) {
    const name = 'event' in read ? read.event.stream : (read.unreadable.place.stream ?? '');
    if (name === last || name === '') continue;
    last = name;
    if (name.startsWith(stream) && !beginning.includes(name)) beginning.push(name);
    if (beginning.length === 3) break;
    names += 1;
    if (names > COMPARED_NAMES) continue;
    for (const known of [name, shortStream(name)]) if (nearestName(stream, [known]) !== null) close.add(known);
    // The nearest so far replaces all others, so that the set stays small in a long log.
    if (close.size > 1) {
      const nearest = nearestName(stream, close);
      close.clear();
      if (nearest !== null) close.add(nearest);
    }
  }
  const meant = beginning.length ? beginning : [...close];
  if (meant.length) return `Did you mean ${meant.map(shortStream).join(' or ')}?`;
  return `List its streams with docket audit replay ${family}.`;
}
