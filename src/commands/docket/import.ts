/** Imports dockets: several in parallel, those of one case in order, and the same bytes of a docket only once. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { DocketSnapshot } from '../../dockets/snapshot.ts';
import type { JsonObject } from '../../events/event.ts';
import { FORGET_STREAM } from '../../events/forget.ts';
import { once } from '../../runtime/once.ts';
import type { RawDocketItem, UnreadableItem } from '../../sources/files/docket-files.ts';
import { readDocket } from '../../sources/files/read-docket.ts';
import type { LeftOut, ReadOptions } from '../../sources/juriscraper/juriscraper.ts';
import type { CommandContext, EventLog, Position } from '../../storage/event-log.ts';
import { forgetOrders } from '../forget/order.ts';
import { load } from '../handle.ts';
import type { IngestPorts } from './clock.ts';
import { forgottenDocket, type IngestReport, ingestDocket } from './ingest.ts';

/** The outcome of one docket of a file. */
export type ImportedItem = { readonly where: string } & (
  | {
      readonly outcome: 'imported';
      readonly report: IngestReport;
      readonly courtCode: string;
      readonly entries: number;
      readonly skipped: readonly LeftOut[];
      readonly remarks: readonly LeftOut[];
    }
  | { readonly outcome: 'already_imported'; readonly courtCode: string; readonly caseNumber: string }
  | { readonly outcome: 'refused'; readonly why: string }
);

export interface ImportOptions extends ReadOptions {
  /** Why this docket may not be imported; null if it may. */
  readonly refuses?: (snapshot: DocketSnapshot) => string | null;
  /**
   * Whether `askedAt` is the time of a look of its own: then the same bytes, asked for later than before, are recorded
   * as a look that found nothing new. Otherwise the same bytes change nothing.
   */
  readonly isLook?: boolean;
}

/** Dockets processed in parallel; their appends share the log's commits. */
const AT_ONCE = 32;
const BYTES_AT_ONCE = 64 * 1024 * 1024;

const importedCell = (hash: string, complete: boolean): string => `import-${hash}-${complete ? 'complete' : 'partial'}`;

/** The dockets that an order forbids to import, by stream. */
async function forgottenDockets(log: EventLog): Promise<ReadonlySet<string>> {
  const { state } = await load(log, forgetOrders, FORGET_STREAM);
  return new Set(
    [...state.values()].flatMap(({ order: { subject } }) => (subject.kind === 'docket' ? [subject.docket] : [])),
  );
}

/** Whether the log contains the import that a cell records. The cell may be newer than a restored log. */
async function isStillRecorded(
  log: EventLog,
  imported: JsonObject | null,
  { isLook = false, askedAt }: ImportOptions,
): Promise<boolean> {
  if (imported === null) return false;
  if (isLook && !(typeof imported.askedAt === 'string' && askedAt <= imported.askedAt)) return false;
  const { stream, position } = imported as unknown as { readonly stream: string; readonly position: Position };
  const head = await log.head();
  return head !== null && position <= head && (await log.read(stream, { limit: 1 })).length > 0;
}

/**
 * Imports the dockets of `items` in bounded memory. Yields results as they are ready; the last position is the newest.
 */
export async function importItems(
  ports: IngestPorts,
  items: AsyncIterable<RawDocketItem | UnreadableItem>,
  options: ImportOptions,
  context: CommandContext,
  onItem: (item: ImportedItem) => void,
): Promise<Position | null> {
  const forgotten = once(() => forgottenDockets(ports.log));
  const running = new Set<Promise<void>>();
  const lastOfCase = new Map<string, Promise<void>>();
  let bytes = 0;
  let newest: Position | null = null;
  let failure: unknown = null;

  for await (const item of items) {
    if ('why' in item) {
      onItem({ where: item.where, outcome: 'refused', why: item.why });
      continue;
    }
    while (running.size >= AT_ONCE || (running.size > 0 && bytes + item.bytes > BYTES_AT_ONCE))
      await Promise.race(running);
    if (failure !== null) break;
    const complete = options.complete && item.complete !== false;
    const { askedAt, source } = options;
    const read = readDocket(item.value, { askedAt, source, complete });
    if ('refused' in read) {
      onItem({ where: item.where, outcome: 'refused', why: read.refused });
      continue;
    }
    const forbidden = options.refuses?.(read.snapshot) ?? null;
    if (forbidden !== null) {
      onItem({ where: item.where, outcome: 'refused', why: forbidden });
      continue;
    }
    const key = caseKey(read.snapshot);
    const work = (lastOfCase.get(key) ?? Promise.resolve()).then(async () => {
      const cell = importedCell(item.hash, complete);
      const earlier = await ports.readStore.cell(cell);
      if (await isStillRecorded(ports.log, earlier.value, options)) {
        const { stream } = earlier.value as unknown as { readonly stream: string };
        const isForgotten = (await forgotten()).has(stream);
        onItem(
          isForgotten
            ? { where: item.where, outcome: 'refused', why: forgottenDocket(read.snapshot.caseNumber) }
            : {
                where: item.where,
                outcome: 'already_imported',
                courtCode: read.snapshot.court.code,
                caseNumber: read.snapshot.caseNumber,
              },
        );
        return;
      }
      const report = await ingestDocket(ports, read.snapshot, context);
      if ('refused' in report) {
        onItem({ where: item.where, outcome: 'refused', why: report.refused });
        return;
      }
      const { stream, position } = report;
      await ports.readStore.compareAndSet(cell, earlier.version, { stream, position, askedAt });
      if (newest === null || report.position > newest) newest = report.position;
      onItem({
        where: item.where,
        outcome: 'imported',
        report,
        courtCode: read.snapshot.court.code,
        entries: read.snapshot.entries.length + read.skipped.filter(isEntry).length,
        skipped: read.skipped,
        remarks:
          item.note === undefined || !options.complete
            ? read.remarks
            : [{ where: '', why: item.note }, ...read.remarks],
      });
    });
    bytes += item.bytes;
    const tracked: Promise<void> = work
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => {
        running.delete(tracked);
        bytes -= item.bytes;
        if (lastOfCase.get(key) === tracked) lastOfCase.delete(key);
      });
    running.add(tracked);
    lastOfCase.set(key, tracked);
  }
  await Promise.all(running);
  if (failure !== null) throw failure;
  return newest;
}

const isEntry = ({ where }: LeftOut): boolean => where.startsWith('docket_entries');

/** The forms of one number share a core. Dockets of one case are never processed in parallel. */
const caseKey = ({ court, caseNumber }: DocketSnapshot): string =>
  `${court.code} ${parseCaseNumber(court, caseNumber)?.core ?? caseNumber}`;
