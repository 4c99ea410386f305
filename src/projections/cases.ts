/** Cases, their filings and their numbers: the read model that every case query answers from. */
import type {
  CaseDocument,
  CaseNumberDocument,
  CasePartiesDocument,
  FilingDocument,
  NamedParty,
} from '../dockets/case-document.ts';
import {
  CASE_NUMBERS,
  CASE_PARTIES,
  CASES,
  caseNumberId,
  FILINGS,
  filingDocumentId,
} from '../dockets/case-document.ts';
import { contentIn, decodeDetails, decodeFilings, type FilingContent, servedText } from '../dockets/filing-content.ts';
import type { FilingType } from '../dockets/filing-type.ts';
import type { Party } from '../dockets/snapshot.ts';
import { ContentRedacted } from '../events/content.ts';
import {
  AliasClaimed,
  BaselineCompleted,
  type DocketAliasEvent,
  DocketChecked,
  DocketDetailsChanged,
  type DocketEvent,
  DocketOpened,
  FilingRevised,
  FilingsMerged,
  FilingsRecorded,
  FilingWithdrawn,
  type RecordedFiling,
} from '../events/docket.ts';
import type { DomainEvent, EventOf, JsonObject } from '../events/event.ts';
import type { Instant } from '../instant.ts';
import type { Content, ProjectedEvent, Projection, Target } from './projection.ts';

type Redaction = EventOf<typeof ContentRedacted>;
type CaseEvent = DocketEvent | DocketAliasEvent | Redaction;

/** How many parties a basic answer names. */
const PRIMARY_PARTIES = 10;
const OF_ONE_ROLE = 3;

export const cases: Projection<DomainEvent> = {
  name: 'cases',
  events: [
    AliasClaimed,
    DocketOpened,
    DocketChecked,
    DocketDetailsChanged,
    FilingsRecorded,
    BaselineCompleted,
    FilingRevised,
    FilingsMerged,
    FilingWithdrawn,
    ContentRedacted,
  ],
  collections: [
    {
      name: FILINGS,
      indexes: [
        ['case', 'availableAt'],
        ['case', 'revisedAt'],
      ],
    },
    { name: CASE_NUMBERS, indexes: [['court', 'core']] },
    { name: CASE_PARTIES, indexes: [] },
    { name: CASES, indexes: [] },
  ],
  contentOf: (event) => contentOf(event as CaseEvent),
  targets: (projected) => targetsOf(projected as ProjectedEvent<CaseEvent>),
  fold: (target, document, projected) => fold(target, document, projected as ProjectedEvent<CaseEvent>),
};

function contentOf({ type, data }: CaseEvent): readonly string[] {
  switch (type) {
    case 'DocketDetailsChanged':
    case 'FilingsRecorded':
    case 'FilingRevised':
      return [data.content];
    case 'ContentRedacted':
      return data.replacement === null ? [] : [data.replacement];
    default:
      return [];
  }
}

/** The case document comes last, so that whoever reads it finds all that it speaks of. */
function targetsOf({ event, recorded }: ProjectedEvent<CaseEvent>): readonly Target[] {
  const { stream } = recorded;
  const filing = (filingId: string): Target => ({ collection: FILINGS, id: filingDocumentId(stream, filingId) });
  const itself: Target = { collection: CASES, id: stream };
  switch (event.type) {
    case 'AliasClaimed':
      return [{ collection: CASE_NUMBERS, id: caseNumberId(event.data.court, event.data.number) }];
    case 'DocketDetailsChanged':
      return [{ collection: CASE_PARTIES, id: stream }, itself];
    case 'FilingsRecorded':
      return [...event.data.filings.map(({ filingId }) => filing(filingId)), itself];
    case 'FilingRevised':
      return [filing(event.data.filing.filingId), itself];
    case 'FilingsMerged':
      return [filing(event.data.kept), filing(event.data.merged), itself];
    case 'FilingWithdrawn':
      return [filing(event.data.filingId), itself];
    case 'ContentRedacted': {
      const { stream: docket, filingIds } = event.data;
      if (!docket.startsWith('docket-')) return [];
      return [
        ...filingIds.map((filingId) => ({ collection: FILINGS, id: filingDocumentId(docket, filingId) })),
        { collection: CASE_PARTIES, id: docket },
        { collection: CASES, id: docket },
      ];
    }
    default:
      return [itself];
  }
}

function fold(target: Target, document: JsonObject | null, projected: ProjectedEvent<CaseEvent>): JsonObject | null {
  switch (target.collection) {
    case CASE_NUMBERS:
      return asJson(foldNumber(projected.event as DocketAliasEvent));
    case FILINGS:
      return asJson(foldFiling(target.id, document as unknown as FilingDocument | null, projected));
    case CASE_PARTIES:
      return asJson(foldParties(document as unknown as PartiesDocument | null, projected));
    default:
      return asJson(foldCase(document as unknown as CaseDocument | null, projected));
  }
}

const asJson = (document: object | null): JsonObject | null => document as JsonObject | null;

function foldNumber({ data }: DocketAliasEvent): CaseNumberDocument {
  return { court: data.court, number: data.number, core: data.core, case: data.stream };
}

/** One blob holds the contents of many filings: it is read once, not once for each of them. */
const decoded = new WeakMap<Buffer, ReadonlyMap<string, FilingContent>>();

function filingContent(contents: ReadonlyMap<string, Content>, name: string | null, filingId: string): FilingContent {
  const bytes = name === null ? undefined : contents.get(name)?.bytes;
  if (!bytes) return contentIn(new Map(), filingId);
  let filings = decoded.get(bytes);
  if (!filings) {
    filings = decodeFilings(bytes);
    decoded.set(bytes, filings);
  }
  return contentIn(filings, filingId);
}

const recordedById = new WeakMap<readonly RecordedFiling[], ReadonlyMap<string, RecordedFiling>>();

function recordedFiling(filings: readonly RecordedFiling[], filingId: string): RecordedFiling | undefined {
  let byId = recordedById.get(filings);
  if (!byId) {
    byId = new Map(filings.map((filing) => [filing.filingId, filing]));
    recordedById.set(filings, byId);
  }
  return byId.get(filingId);
}

function foldFiling(
  id: string,
  document: FilingDocument | null,
  { event, recorded, contents }: ProjectedEvent<CaseEvent>,
): FilingDocument | null {
  const filingId = id.slice(id.lastIndexOf('/') + 1);
  const { type, data } = event;
  switch (type) {
    case 'FilingsRecorded': {
      const filing = recordedFiling(data.filings, filingId);
      if (!filing) return document;
      const content = filingContent(contents, data.content, filingId);
      return filingDocument(recorded.stream, filing, data.content, content, null, false);
    }
    case 'FilingRevised': {
      const content = filingContent(contents, data.content, filingId);
      const revisedAt = data.revisedAt ?? document?.revisedAt ?? null;
      const withdrawn = document?.withdrawn ?? false;
      return filingDocument(recorded.stream, data.filing, data.content, content, revisedAt, withdrawn);
    }
    case 'FilingsMerged':
      if (filingId === data.merged) return null;
      return document && { ...document, availableAt: data.availableAt, revisedAt: data.revisedAt };
    case 'FilingWithdrawn':
      return (
        document && {
          ...document,
          ...SERVED_NOTHING,
          revisedAt: data.revisedAt,
          withdrawn: true,
          sealed: document.sealed || data.reason === 'sealed',
        }
      );
    case 'ContentRedacted': {
      if (document?.content !== data.name || document.withdrawn) return document;
      return { ...document, ...served(filingContent(contents, data.replacement, filingId)) };
    }
    default:
      return document;
  }
}

type Served = Pick<
  FilingDocument,
  'description' | 'filedBy' | 'documentIdentifier' | 'documentIdentifierType' | 'externalUrl' | 'attachments'
>;

const SERVED_NOTHING: Served = {
  description: '',
  filedBy: null,
  documentIdentifier: null,
  documentIdentifierType: 'none',
  externalUrl: null,
  attachments: [],
};

const served = (content: FilingContent): Served => ({
  description: servedText(content),
  filedBy: content.filedBy,
  documentIdentifier: content.documentIdentifier,
  documentIdentifierType: content.documentIdentifierType,
  externalUrl: content.externalUrl,
  attachments: content.attachments,
});

function filingDocument(
  stream: string,
  filing: RecordedFiling,
  name: string,
  content: FilingContent,
  revisedAt: Instant | null,
  withdrawn: boolean,
): FilingDocument {
  return {
    case: stream,
    filingId: filing.filingId,
    availableAt: filing.availableAt,
    revisedAt,
    backfilled: filing.backfilled,
    entryNumber: filing.entryNumber,
    dateFiled: filing.dateFiled,
    filedAt: filing.filedAt,
    enteredAt: filing.enteredAt,
    filingType: filing.filingType as FilingType,
    filingTypes: filing.filingTypes as FilingType[],
    sealed: filing.sealed,
    withdrawn,
    ...(withdrawn ? SERVED_NOTHING : served(content)),
    content: name,
  };
}

type PartiesDocument = CasePartiesDocument & { readonly content: string };

function foldParties(
  document: PartiesDocument | null,
  { event, contents }: ProjectedEvent<CaseEvent>,
): PartiesDocument | null {
  if (event.type === 'DocketDetailsChanged') return partiesIn(contents.get(event.data.content), event.data.content);
  if (event.type === 'ContentRedacted' && document?.content === event.data.name) {
    return partiesIn(contents.get(event.data.replacement ?? ''), event.data.name);
  }
  return document;
}

function partiesIn(content: Content | undefined, name: string): PartiesDocument {
  const details = content ? decodeDetails(content.bytes) : null;
  return { parties: details?.parties ?? [], crossReferences: details?.crossReferences ?? [], content: name };
}

const UNKNOWN_CASE: CaseDocument = {
  court: '',
  caseNumber: '',
  opened: false,
  checked: false,
  baseline: 'none',
  dataAsOf: null,
  newestTime: null,
  filingCount: 0,
  latestFilingAt: null,
  header: null,
  primaryParties: [],
  detailsContent: null,
};

const latest = (a: Instant | null, ...others: readonly Instant[]): Instant | null =>
  others.reduce((newest: Instant | null, one) => (newest === null || one > newest ? one : newest), a);

function foldCase(before: CaseDocument | null, { event, contents }: ProjectedEvent<CaseEvent>): CaseDocument | null {
  const document = before ?? UNKNOWN_CASE;
  const { type, data } = event;
  switch (type) {
    case 'DocketOpened':
      return { ...document, opened: true, court: data.court, caseNumber: document.caseNumber || data.caseNumber };
    case 'DocketChecked':
      if (data.outcome === 'abandoned' || data.outcome === 'failed') return document;
      return { ...document, checked: true, dataAsOf: latest(document.dataAsOf, data.askedAt) };
    case 'DocketDetailsChanged':
      return withDetails(document, contents.get(data.content), data.content);
    case 'FilingsRecorded': {
      const times = data.filings.map(({ availableAt }) => availableAt);
      return {
        ...document,
        baseline: data.baseline && document.baseline === 'none' ? 'started' : document.baseline,
        newestTime: latest(document.newestTime, ...times),
        latestFilingAt: latest(document.latestFilingAt, ...times),
        filingCount: document.filingCount + data.filings.length,
      };
    }
    case 'BaselineCompleted':
      return { ...document, baseline: 'completed' };
    case 'FilingRevised':
      return data.revisedAt === null
        ? document
        : { ...document, newestTime: latest(document.newestTime, data.revisedAt) };
    case 'FilingsMerged':
      return {
        ...document,
        filingCount: document.filingCount - 1,
        newestTime: latest(document.newestTime, data.revisedAt),
      };
    case 'FilingWithdrawn':
      return { ...document, newestTime: latest(document.newestTime, data.revisedAt) };
    case 'ContentRedacted':
      if (before?.detailsContent !== data.name) return before;
      return withDetails(document, contents.get(data.replacement ?? ''), data.name);
    default:
      return before;
  }
}

function withDetails(document: CaseDocument, content: Content | undefined, name: string): CaseDocument {
  const details = content ? decodeDetails(content.bytes) : null;
  return {
    ...document,
    caseNumber: details?.caseNumber ?? document.caseNumber,
    header: details?.header ?? null,
    primaryParties: primaryParties(details?.parties ?? []),
    detailsContent: name,
  };
}

/** The first parties of each role, those still in the case first. */
function primaryParties(parties: readonly Party[]): NamedParty[] {
  const counts = new Map<string | null, number>();
  const chosen: NamedParty[] = [];
  for (const { name, role } of [...parties].sort(
    (a, b) => Number(a.terminatedAt !== null) - Number(b.terminatedAt !== null),
  )) {
    const count = counts.get(role) ?? 0;
    if (count >= OF_ONE_ROLE || chosen.length >= PRIMARY_PARTIES) continue;
    counts.set(role, count + 1);
    chosen.push({ name, role });
  }
  return chosen;
}
