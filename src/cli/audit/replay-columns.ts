/** The lines of `docket audit replay` for people: the columns that matter in each family, as wide as the terminal. */
import type { Family } from '../../audit/replay/families.ts';
import { familyOf, shortStream } from '../../audit/replay/families.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';

interface Column {
  readonly title: string;
  readonly width: number;
  readonly cell: (event: RecordedEvent) => string;
  /** Left out first where there is too little room. */
  readonly optional?: boolean;
}

const GAP = '  ';
const ID_LENGTH = 8;
const CUT = '…';

/** Text of a value of the log, which may be anything in a changed row. */
const text = (value: Json | undefined): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
const short = (value: Json | undefined): string => text(value).slice(0, ID_LENGTH);
/** Whole seconds; `--json` has microseconds. */
const timeOf = (value: Json | undefined): string => text(value).replace(/\.\d{6}Z$/, 'Z');
const amountOf = ({ amount }: JsonObject): string => {
  const units = text(amount);
  return /^\d{1,20}$/.test(units) ? usdcText(BigInt(units)) : units;
};

const column = (title: string, width: number, cell: (data: JsonObject) => string, optional = false): Column => ({
  title,
  width,
  cell: ({ data }) => cell(data),
  optional,
});

const numbered = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** `3 events`, `1 event`: with the word in the right number. */
export { numbered };

const actor: Column = { title: 'ACTOR', width: 16, cell: ({ data, metadata }) => text(data.by) || metadata.actor };

const RECEIVED: Readonly<Record<string, (data: JsonObject) => string>> = {
  QueryAnswered: ({ answeredCases }) =>
    typeof answeredCases === 'number' ? numbered(answeredCases, 'case') : text(answeredCases),
  QueryFailed: ({ code, status }) => `${text(code)} (${text(status)})`,
};

const COLUMNS: Readonly<Record<Exclude<Family, 'all'>, readonly Column[]>> = {
  payments: [
    column('WALLET', ID_LENGTH, ({ wallet }) => short(wallet)),
    column('USDC', 6, amountOf),
    column('ENDPOINT', 22, ({ endpoint }) => text(endpoint), true),
    {
      title: 'REASON',
      width: 22,
      cell: ({ type, data }) => RECEIVED[type]?.(data) ?? text(data.reason),
    },
    column('TRANSACTION', 11, ({ transaction }) => short(transaction)),
  ],
  deliveries: [
    column('ORIGIN', 32, ({ origin }) => text(origin), true),
    column('ATTEMPT', 12, ({ attempt, redelivery }) => attemptOf(attempt, redelivery)),
    column('OUTCOME', 12, ({ outcome, cancelledAt }) => text(outcome) || (cancelledAt ? 'cancelled' : '')),
    column('CODE', 4, ({ responseCode }) => text(responseCode)),
    column('FAILURE', 18, ({ failureClass }) => text(failureClass)),
    column('NEXT', 20, ({ nextAttemptAt, dueAt }) => timeOf(nextAttemptAt ?? dueAt)),
  ],
  keys: [
    column(
      'KEY',
      24,
      ({ keyId, masterVersion }) => text(keyId) || (masterVersion ? `master ${text(masterVersion)}` : ''),
    ),
    column('WINDOW', 60, windowOf),
  ],
  dockets: [
    column('FILINGS', 7, ({ filings, filing, filingCount, filingId }) =>
      Array.isArray(filings) ? String(filings.length) : text(filingCount) || (filing || filingId ? '1' : ''),
    ),
    column('SOURCE', 24, ({ source }) => text(source), true),
    column('OUTCOME', 10, ({ outcome, reason }) => text(outcome ?? reason)),
    column('COMPLETE', 8, ({ complete }) => (complete === undefined ? '' : complete ? 'yes' : 'no')),
  ],
  sources: [
    column('SOURCE', 13, ({ source }) => text(source)),
    column('COURT', 8, ({ court, courts }) => text(court) || (Array.isArray(courts) ? courts.join(',') : '')),
    column('CASE', 20, ({ caseNumber }) => text(caseNumber), true),
    column('OUTCOME', 14, ({ outcome, standing, why, wantedBy }) => text(outcome ?? standing ?? why ?? wantedBy)),
    actor,
    column('REASON', 32, ({ reason, why, standing }) => text(reason) || (standing === undefined ? '' : text(why))),
  ],
  heads: [
    column('EVENTS', 10, ({ size }) => text(size)),
    column('ROOT', 16, ({ root }) => text(root).slice(0, 16)),
    actor,
    column('REASON', 32, ({ reason }) => text(reason)),
    column('TRANSACTION', 11, ({ transaction }) => short(transaction)),
  ],
  log: [
    actor,
    column('REASON', 48, ({ reason }) => text(reason)),
    column('GENERATION', 20, ({ generation, previous }) =>
      previous === undefined ? text(generation) : `${text(generation)} instead of ${text(previous)}`,
    ),
  ],
};

const attemptOf = (attempt: Json | undefined, redelivery: Json | undefined): string => {
  if (typeof redelivery === 'number') return `redelivery ${redelivery}`;
  if (attempt === undefined) return '';
  return redelivery === true ? `redelivery ${text(attempt)}` : `${text(attempt)}/7`;
};

function windowOf({ createdAt, previousKeyId, previousValidUntil, validUntil }: JsonObject): string {
  if (previousKeyId !== undefined) return `replaces ${text(previousKeyId)}, valid until ${timeOf(previousValidUntil)}`;
  if (validUntil !== undefined) return `proof accepted until ${timeOf(validUntil)}`;
  return createdAt === undefined ? '' : `from ${timeOf(createdAt)}`;
}

/** Of most of the short names; a longer one moves the rest of its line. */
const STREAM_WIDTHS: Readonly<Record<Family, number>> = {
  payments: 27,
  deliveries: 22,
  keys: 19,
  dockets: 32,
  sources: 32,
  heads: 8,
  log: 28,
  all: 32,
};

/** The mark of an invalid event, before its line. */
const mark = (problem: string | null): string => (problem === null ? ' ' : '!');

export interface ReplayLines {
  readonly header: string;
  of(event: RecordedEvent, problem: string | null): string;
}

/** @param room columns of the terminal; null for a file or a pipe, where nothing is cut */
export function replayLines(family: Family, room: number | null): ReplayLines {
  const base: readonly Column[] = [
    { title: 'TIME', width: 20, cell: ({ metadata }) => timeOf(metadata.recordedAt) },
    { title: 'STREAM', width: STREAM_WIDTHS[family], cell: ({ stream }) => shortStream(stream) },
    { title: 'REV', width: 4, cell: ({ revision }) => String(revision).padStart(4) },
    { title: 'TYPE', width: 21, cell: ({ type }) => type },
  ];
  const own: readonly Column[] = family === 'all' ? [{ title: 'FACTS', width: 0, cell: factsOf }] : COLUMNS[family];
  const columns = fitting([...base, ...own], room);
  const line = (marked: string, cells: readonly string[]): string => {
    const padded = cells.map((cell, index) => cell.padEnd(columns[index]?.width ?? 0));
    return cut(`${marked} ${padded.join(GAP)}`.trimEnd(), room);
  };
  return {
    header: line(
      ' ',
      columns.map(({ title }) => title),
    ),
    of(event, problem) {
      const cells = line(
        mark(problem),
        columns.map(({ cell }) => cell(event)),
      );
      return problem === null ? cells : `${cells}\n  ! revision ${event.revision}: ${problem}`;
    },
  };
}

/** In a replay of all families the columns of each event's own family, without the empty ones. */
function factsOf(event: RecordedEvent): string {
  const family = familyOf(event.stream);
  if (family === 'all') return '';
  return COLUMNS[family]
    .map(({ cell }) => cell(event))
    .filter(Boolean)
    .join(GAP);
}

function fitting(columns: readonly Column[], room: number | null): readonly Column[] {
  const needed = columns.reduce((sum, { width }) => sum + width + GAP.length, 0);
  return room === null || needed <= room ? columns : columns.filter(({ optional }) => !optional);
}

const cut = (line: string, room: number | null): string => {
  if (room === null || line.length <= room) return line;
  return `${line.slice(0, Math.max(1, room - 1))}${CUT}`;
};
