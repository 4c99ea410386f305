/** The payload store's content of a docket: texts and names, by filing id, one blob for each event that needs one. */
import type { JsonObject } from '../events/event.ts';
import type {
  Attachment,
  CrossReference,
  DocketHeader,
  DocumentIdentifierType,
  Party,
  SnapshotEntry,
} from './snapshot.ts';
import { cleanText } from './text.ts';

/** The content of one filing as it was recorded or revised. */
export interface FilingContent {
  readonly description: string;
  readonly shortDescription: string | null;
  readonly filedBy: string | null;
  readonly documentIdentifier: string | null;
  readonly documentIdentifierType: DocumentIdentifierType;
  readonly sourceIds: Readonly<Record<string, string>>;
  readonly externalUrl: string | null;
  readonly attachments: readonly Attachment[];
  /** True in the replacement of a removed content. */
  readonly redacted?: boolean;
}

/** The whole head of a docket, in its current state. */
export interface DocketDetails {
  /** The most complete known form of the number. */
  readonly caseNumber: string;
  readonly header: DocketHeader;
  readonly parties: readonly Party[];
  readonly crossReferences: readonly CrossReference[];
  /** Sources that have said that the case is closed; absent in content of earlier versions. */
  readonly closedBy?: readonly string[];
  readonly redacted?: boolean;
}

/** A filing whose content was removed on record. */
export const REDACTED_FILING: FilingContent = {
  description: '',
  shortDescription: null,
  filedBy: null,
  documentIdentifier: null,
  documentIdentifierType: 'none',
  sourceIds: {},
  externalUrl: null,
  attachments: [],
  redacted: true,
};

export function contentOfEntry(entry: SnapshotEntry): FilingContent {
  return {
    description: entry.description,
    shortDescription: entry.shortDescription,
    filedBy: entry.filedBy,
    documentIdentifier: entry.documentIdentifier,
    documentIdentifierType: entry.documentIdentifierType,
    sourceIds: entry.sourceIds,
    externalUrl: entry.externalUrl,
    attachments: entry.attachments,
  };
}

/** The text that is served and classified: the source's short name if there is nothing better. */
export const servedText = (content: Pick<FilingContent, 'description' | 'shortDescription'>): string =>
  content.description === '' ? (content.shortDescription ?? '') : content.description;

export const filingsBlob = (filings: ReadonlyMap<string, FilingContent>): JsonObject => ({
  filings: Object.fromEntries(filings) as unknown as JsonObject,
});

export const detailsBlob = (details: DocketDetails): JsonObject => ({ details: details as unknown as JsonObject });

export const encodeBlob = (blob: JsonObject): Buffer => Buffer.from(JSON.stringify(blob));

interface Blob {
  readonly filings?: Readonly<Record<string, FilingContent>>;
  readonly details?: DocketDetails;
}

/** A blob's content; empty if a removed one has no replacement. */
const parse = (bytes: Buffer): Blob => (bytes.length === 0 ? {} : (JSON.parse(bytes.toString('utf8')) as Blob));

/** Contents by filing id. Use `contentIn` to read one. */
export const decodeFilings = (bytes: Buffer): ReadonlyMap<string, FilingContent> =>
  new Map(Object.entries(parse(bytes).filings ?? {}));

/** Content after `cleanText`: what earlier versions stored must equal the same text as it is read now. */
export function cleanContent(content: FilingContent): FilingContent {
  const { description, shortDescription, filedBy, attachments } = content;
  const cleanOrNull = (text: string | null): string | null => (text === null ? null : cleanText(text));
  return {
    ...content,
    description: cleanText(description),
    shortDescription: cleanOrNull(shortDescription),
    filedBy: cleanOrNull(filedBy),
    attachments: attachments.map((one) => ({ ...one, description: cleanOrNull(one.description) })),
  };
}

/** A filing's content in its blob; content that is no longer in the blob is redacted. */
export const contentIn = (filings: ReadonlyMap<string, FilingContent>, filingId: string): FilingContent =>
  filings.get(filingId) ?? REDACTED_FILING;

/** A docket's head; null if it is redacted. */
export function decodeDetails(bytes: Buffer): DocketDetails | null {
  const { details } = parse(bytes);
  return details && details.redacted !== true ? details : null;
}
