/**
 * A sandbox docket as queries see it. Its snapshot passes through the same decisions and folds as any docket, so answers
 * from fixtures always have the shape of real ones.
 */

import { compareSnapshot } from '../../commands/docket/compare.ts';
import { decideSnapshot } from '../../commands/docket/decide.ts';
import { NEW_DOCKET } from '../../commands/docket/fold.ts';
import { parseCaseNumber } from '../../courts/case-number.ts';
import { FRESH_CLOCK, writeClock } from '../../dockets/case-clock.ts';
import { CASE_NUMBERS, CASES, FILINGS } from '../../dockets/case-document.ts';
import { encodeBlob } from '../../dockets/filing-content.ts';
import type { DocketSnapshot } from '../../dockets/snapshot.ts';
import { docketStream } from '../../events/docket.ts';
import type { JsonObject } from '../../events/event.ts';
import { cases } from '../../projections/cases.ts';
import type { Content } from '../../projections/projection.ts';
import { toMicros } from '../../runtime/instant.ts';
import type { Find, QueryStore, Stored } from '../../storage/read-store.ts';

/** Documents of the read model of cases, by collection and id. */
type Documents = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

/** A read store with a single docket, which it returns for any number of any court. */
export function fixtureStore(snapshot: DocketSnapshot): QueryStore {
  const number = parseCaseNumber(snapshot.court, snapshot.caseNumber);
  if (!number) throw new Error(`${snapshot.court.code} has no case numbers like ${snapshot.caseNumber}`);
  const stream = docketStream(snapshot.court.code, number.canonical);
  const documents = project(stream, snapshot, number.canonical);
  const byTime = [...(documents.get(FILINGS)?.entries() ?? [])]
    .map(([id, document]) => stored(id, document))
    .sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
  const alias = stored(stream, { case: stream, number: number.canonical, core: number.core, court: '' });

  const find = (query: Omit<Find, 'limit'>): Stored[] => {
    if (query.collection === CASE_NUMBERS) return [alias];
    if (query.collection !== FILINGS || query.range?.field !== 'availableAt') return [];
    const { above = '', upTo = '\uffff' } = query.range;
    const found = byTime.filter((filing) => timeOf(filing) > above && timeOf(filing) <= upTo);
    return query.order?.direction === 'descending' ? found.reverse() : found;
  };
  return {
    load: async <Document>(collection: string, ids: readonly string[]) => {
      const [id = stream] = ids;
      const document = collection === CASE_NUMBERS ? alias.document : documents.get(collection)?.get(stream);
      return new Map(document ? [[id, stored(id, document) as Stored<Document>]] : []);
    },
    find: async <Document>(query: Find) => {
      const found = find(query);
      const start = query.after ? found.findIndex(({ id }) => id === query.after?.id) + 1 : 0;
      return found.slice(start, start + query.limit) as Stored<Document>[];
    },
    count: async (query) => find(query).slice(0, query.limit).length,
    cell: async () => ({ version: 1, value: writeClock(FRESH_CLOCK) }),
    // Nothing ever changes here, so nothing is recorded.
    compareAndSet: async () => true,
    activeGeneration: async () => 1,
  };
}

const stored = (id: string, document: JsonObject): Stored => ({ id, position: '', document });
const timeOf = ({ document }: Stored): string => String(document.availableAt);

function project(stream: string, snapshot: DocketSnapshot, caseNumber: string): Documents {
  const nothing = { filings: new Map(), details: null };
  const comparison = compareSnapshot(NEW_DOCKET, nothing, snapshot, caseNumber);
  const drafts = decideSnapshot(NEW_DOCKET, comparison, snapshot, {
    stream,
    caseNumber,
    ingestId: 'sandbox',
    now: toMicros(snapshot.askedAt),
    clockTime: null,
    oldestAsked: null,
  });
  const documents = new Map<string, Map<string, JsonObject>>();
  for (const [revision, { content, event: eventNamed }] of drafts.entries()) {
    const name = String(revision).padStart(64, '0');
    const event = eventNamed(name);
    const contents = new Map<string, Content>();
    if (content !== null) contents.set(name, { bytes: encodeBlob(content), redacted: false });
    const recorded = {
      id: name,
      stream,
      revision,
      position: String(revision),
      type: event.type,
      data: event.data as JsonObject,
      metadata: {
        recordedAt: snapshot.askedAt,
        requestId: null,
        correlationId: name,
        causationId: null,
        actor: 'sandbox',
        schemaVersion: 1,
        hash: name,
      },
    };
    const projected = { event, recorded, contents };
    for (const target of cases.targets(projected)) {
      const collection = documents.get(target.collection) ?? new Map<string, JsonObject>();
      documents.set(target.collection, collection);
      const document = cases.fold(target, collection.get(target.id) ?? null, projected);
      if (document) collection.set(target.id, document);
      else collection.delete(target.id);
    }
  }
  if (!documents.get(CASES)?.has(stream)) throw new Error(`the docket ${stream} of the sandbox is empty`);
  return documents;
}
