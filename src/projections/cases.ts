/** Cases, their filings and their numbers: the read model behind every case query. */
import { joined } from '../commands/docket/fold.ts';
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
import { decodeDetails } from '../dockets/filing-content.ts';
import type { Party } from '../dockets/snapshot.ts';
import { ContentRedacted } from '../events/content.ts';
import { DOCKET_EVENTS, type DocketAliasEvent, type DocketChecked } from '../events/docket.ts';
import type { DomainEvent, EventOf, JsonObject } from '../events/event.ts';
import type { Instant } from '../runtime/instant.ts';
import type { CaseEvent } from './case-events.ts';
import { foldFiling } from './filing-fold.ts';
import type { Content, ProjectedEvent, Projection, Target } from './projection.ts';

/** The most parties in a basic answer. */
const PRIMARY_PARTIES = 10;
const OF_ONE_ROLE = 3;

export const cases: Projection<DomainEvent> = {
  name: 'cases',
  events: [...DOCKET_EVENTS, ContentRedacted],
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

/** The case document comes last, so that its readers find everything that it refers to. */
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
    case 'DocketForgotten': {
      const court = courtOf(stream);
      const numbers = event.data.numbers.map((number) => ({
        collection: CASE_NUMBERS,
        id: caseNumberId(court, number),
      }));
      return [...numbers, { collection: CASE_PARTIES, id: stream }, itself];
    }
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
      return asJson(foldNumber(document as unknown as CaseNumberDocument | null, projected));
    case FILINGS:
      return asJson(foldFiling(target.id, document as unknown as FilingDocument | null, projected));
    case CASE_PARTIES:
      return asJson(foldParties(document as unknown as PartiesDocument | null, projected));
    default:
      return asJson(foldCase(document as unknown as CaseDocument | null, projected));
  }
}

const asJson = (document: object | null): JsonObject | null => document as JsonObject | null;

/** Court codes contain no hyphen. */
const courtOf = (stream: string): string => stream.split('-', 2)[1] ?? '';

function foldNumber(
  document: CaseNumberDocument | null,
  { event, recorded }: ProjectedEvent<CaseEvent>,
): CaseNumberDocument | null {
  if (event.type === 'DocketForgotten') return document?.case === recorded.stream ? null : document;
  const { data } = event as DocketAliasEvent;
  return { court: data.court, number: data.number, core: data.core, case: data.stream };
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
  return event.type === 'DocketForgotten' ? null : document;
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

/**
 * Every event of a docket writes the case document, even with the same content: its position moves to the event.
 * Ingests wait for that position, and queries compare it with the case clock.
 */
function foldCase(before: CaseDocument | null, { event, contents }: ProjectedEvent<CaseEvent>): CaseDocument | null {
  const document = before ?? UNKNOWN_CASE;
  const { type, data } = event;
  switch (type) {
    case 'DocketOpened':
      return { ...document, opened: true, court: data.court, caseNumber: document.caseNumber || data.caseNumber };
    case 'DocketChecked':
      if (data.outcome === 'abandoned' || data.outcome === 'failed') return { ...document };
      // A gap is no look at the docket, so the case is as old as before.
      if (data.gap !== undefined) return { ...document, gap: joined(document.gap ?? null, data.gap) };
      return withSource({ ...withWhole(withoutGap(document, data), data), checked: true }, data.source, data.askedAt);
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
        ? { ...document }
        : { ...document, newestTime: latest(document.newestTime, data.revisedAt) };
    case 'FilingsMerged':
      return {
        ...document,
        filingCount: document.filingCount - 1,
        newestTime: latest(document.newestTime, data.revisedAt),
      };
    case 'FilingWithdrawn':
      return { ...document, newestTime: latest(document.newestTime, data.revisedAt) };
    case 'DocketForgotten':
      return null;
    case 'ContentRedacted':
      if (before?.detailsContent !== data.name) return before;
      return withDetails(document, contents.get(data.replacement ?? ''), data.name);
    default:
      return before;
  }
}

/** A complete look since then showed whatever a feed had not. */
function withoutGap(
  document: CaseDocument,
  { complete, askedAt }: EventOf<typeof DocketChecked>['data'],
): CaseDocument {
  if (document.gap === undefined || !complete || askedAt < document.gap.to) return document;
  const { gap: _, ...others } = document;
  return others;
}

/** Documents of earlier versions have none until the next complete look, or a rebuild. */
function withWhole(
  document: CaseDocument,
  { complete, askedAt, source }: EventOf<typeof DocketChecked>['data'],
): CaseDocument {
  if (!complete || (document.whole !== undefined && askedAt < document.whole.asOf)) return document;
  return { ...document, whole: { asOf: askedAt, source } };
}

/** The source of the newest look. Files are not named, so documents of earlier versions are as a rebuild makes them. */
function withSource(document: CaseDocument, source: string, askedAt: Instant): CaseDocument {
  if (document.dataAsOf !== null && askedAt < document.dataAsOf) return document;
  const { source: _, ...others } = document;
  return source === 'file' ? { ...others, dataAsOf: askedAt } : { ...others, dataAsOf: askedAt, source };
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

/** The first parties of each role; those still in the case come first. */
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
