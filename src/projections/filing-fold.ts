/** The document of a filing: what is served about it, and the blob from which that comes. */
import type { FilingDocument } from '../dockets/case-document.ts';
import { contentIn, decodeFilings, type FilingContent, servedText } from '../dockets/filing-content.ts';
import type { FilingType } from '../dockets/filing-type.ts';
import type { RecordedFiling } from '../events/docket.ts';
import type { Instant } from '../runtime/instant.ts';
import type { CaseEvent } from './case-events.ts';
import type { Content, ProjectedEvent } from './projection.ts';

/** One blob contains many filings, so it is decoded once and not once for each of them. */
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

/** @param id of the document: the stream and the id of the filing */
export function foldFiling(
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
      if (data.forget) return null;
      if (document?.content !== data.name || document.withdrawn) return document;
      return { ...document, ...served(filingContent(contents, data.replacement, filingId), document.sealed) };
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

/** A sealed filing keeps its text for as long as the source shows it. Nothing of its documents is served. */
const served = (content: FilingContent, sealed: boolean): Served => ({
  description: servedText(content),
  filedBy: content.filedBy,
  documentIdentifier: sealed ? null : content.documentIdentifier,
  documentIdentifierType: sealed ? 'none' : content.documentIdentifierType,
  externalUrl: sealed ? null : content.externalUrl,
  attachments: sealed ? [] : content.attachments,
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
    ...(withdrawn ? SERVED_NOTHING : served(content, filing.sealed)),
    content: name,
  };
}
