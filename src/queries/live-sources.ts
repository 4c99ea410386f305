/** Live sources as operators see them, from the read model. Works without a running service. */
import type { LiveSourceName } from '../events/source.ts';
import {
  SOURCE_ALERTS,
  SOURCE_COURTS,
  SOURCE_RECORDS,
  type SourceAlert,
  type SourceCourt,
  type SourceRecord,
} from '../projections/source-records.ts';
import type { ReadStore, Stored } from '../storage/read-store.ts';

type Finder = Pick<ReadStore, 'find'>;
type Loader = Pick<ReadStore, 'load'>;

const PAGE = 500;

/** What is recorded of these sources, by name; a source of which nothing is recorded is missing. */
export async function sourceRecordsOf(
  readStore: Loader,
  names: readonly LiveSourceName[],
): Promise<ReadonlyMap<string, SourceRecord>> {
  const stored = await readStore.load<SourceRecord>(SOURCE_RECORDS, names);
  return new Map([...stored].map(([name, { document }]) => [name, document]));
}

/** What is recorded of each court of a source, by court code. */
export async function courtsOfSource(readStore: Finder, source: string): Promise<ReadonlyMap<string, SourceCourt>> {
  const found = new Map<string, SourceCourt>();
  for await (const court of ofSource<SourceCourt>(readStore, SOURCE_COURTS, source)) found.set(court.court, court);
  return found;
}

/** The alerts of a source that are in force. */
export async function alertsOfSource(readStore: Finder, source: string): Promise<readonly SourceAlert[]> {
  const found: SourceAlert[] = [];
  for await (const alert of ofSource<SourceAlert>(readStore, SOURCE_ALERTS, source)) found.push(alert);
  return found;
}

async function* ofSource<Document>(readStore: Finder, collection: string, source: string): AsyncGenerator<Document> {
  for (let after: string | null = null; ; ) {
    const page: readonly Stored<Document>[] = await readStore.find<Document>({
      collection,
      equals: { source },
      limit: PAGE,
      ...(after !== null && { after: { id: after } }),
    });
    for (const { document } of page) yield document;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.id;
  }
}
