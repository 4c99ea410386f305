/** What `context=full` adds to a case; if it does not fit, the oldest part is cut (docs/design/dockets.md#answers). */
import { CASE_PARTIES, type CasePartiesDocument, FILINGS, type FilingDocument } from '../dockets/case-document.ts';
import type { Party } from '../dockets/snapshot.ts';
import type { JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { QueryStore } from '../storage/read-store.ts';
import { filingAnswer } from './filing-answer.ts';

export interface FullContext {
  readonly fields: {
    readonly parties: readonly JsonObject[];
    readonly cross_references: readonly JsonObject[];
    readonly docket_history: readonly JsonObject[];
  };
  /** What was cut, in the order of cutting. */
  readonly omitted: readonly string[];
}

const PAGE = 500;
const sizeOf = (value: JsonObject): number => Buffer.byteLength(JSON.stringify(value)) + 1;

/** @param budget bytes of JSON: the history is cut first, then attorneys, then parties */
export async function readFullContext(
  readStore: QueryStore,
  stream: string,
  timeZone: string,
  upTo: Instant | null,
  budget: number,
): Promise<FullContext> {
  const held = await readParties(readStore, stream);
  let left = budget;
  const references = fitReferences(held, left);
  left -= references.bytes;
  const parties = fitParties(held?.parties ?? [], left);
  left -= parties.bytes;
  const history = await readHistory(readStore, stream, timeZone, upTo, left);
  return {
    fields: { parties: parties.items, cross_references: references.items, docket_history: history.items },
    omitted: [
      ...(history.cut ? ['case.docket_history'] : []),
      ...(parties.withoutAttorneys ? ['case.parties.attorneys'] : []),
      ...(parties.cut ? ['case.parties'] : []),
      ...(references.cut ? ['case.cross_references'] : []),
    ],
  };
}

/** The cross-references of a case without the rest of its full context. @param budget bytes of JSON */
export async function readCrossReferences(
  readStore: QueryStore,
  stream: string,
  budget: number,
): Promise<readonly JsonObject[]> {
  return fitReferences(await readParties(readStore, stream), budget).items;
}

const readParties = async (readStore: QueryStore, stream: string): Promise<CasePartiesDocument | undefined> =>
  (await readStore.load<CasePartiesDocument>(CASE_PARTIES, [stream])).get(stream)?.document;

const fitReferences = (held: CasePartiesDocument | undefined, budget: number): Fitted =>
  takeWhileFits(
    (held?.crossReferences ?? []).map(({ caseId, courtCode, relationship }) => ({
      case_id: caseId,
      court_code: courtCode,
      relationship,
    })),
    budget,
  );

interface Fitted {
  readonly items: readonly JsonObject[];
  readonly bytes: number;
  readonly cut: boolean;
}

function takeWhileFits(values: readonly JsonObject[], budget: number): Fitted {
  const items: JsonObject[] = [];
  let bytes = 0;
  for (const value of values) {
    const size = sizeOf(value);
    if (bytes + size > budget) return { items, bytes, cut: true };
    items.push(value);
    bytes += size;
  }
  return { items, bytes, cut: false };
}

/** All parties come before any attorney; attorneys fill the rest, starting with the first party. */
function fitParties(parties: readonly Party[], budget: number): Fitted & { readonly withoutAttorneys: boolean } {
  const named = takeWhileFits(parties.map(partyAnswer), budget);
  let bytes = named.bytes;
  let withoutAttorneys = named.cut && parties.some(({ attorneys }) => attorneys.length > 0);
  const items = named.items.map((item, index) => {
    const attorneys = (parties[index]?.attorneys ?? []).map(({ name, role, firm }) => ({ name, role, firm }));
    const size = attorneys.reduce((sum, attorney) => sum + sizeOf(attorney), 0);
    if (size === 0) return item;
    if (withoutAttorneys || bytes + size > budget) {
      withoutAttorneys = true;
      return item;
    }
    bytes += size;
    return { ...item, attorneys };
  });
  return { items, bytes, cut: named.cut, withoutAttorneys };
}

const partyAnswer = ({ name, role, terminatedAt }: Party): JsonObject => ({
  name,
  role,
  terminated_at: terminatedAt,
  attorneys: [],
});

/** The newest entries that fit, oldest first. */
async function readHistory(
  readStore: QueryStore,
  stream: string,
  timeZone: string,
  upTo: Instant | null,
  budget: number,
): Promise<Fitted> {
  if (upTo === null) return { items: [], bytes: 0, cut: false };
  const items: JsonObject[] = [];
  let bytes = 0;
  let after: { readonly value: string; readonly id: string } | null = null;
  for (;;) {
    const page: readonly { readonly id: string; readonly document: FilingDocument }[] =
      await readStore.find<FilingDocument>({
        collection: FILINGS,
        equals: { case: stream },
        range: { field: 'availableAt', upTo },
        order: { field: 'availableAt', direction: 'descending' },
        limit: PAGE,
        ...(after === null ? {} : { after }),
      });
    for (const { id, document } of page) {
      const filing = filingAnswer(document, timeZone);
      const size = sizeOf(filing);
      if (bytes + size > budget) return { items: items.reverse(), bytes, cut: true };
      items.push(filing);
      bytes += size;
      after = { value: document.availableAt, id };
    }
    if (page.length < PAGE) return { items: items.reverse(), bytes, cut: false };
  }
}
