/** The read model of a case: what `projections/cases.ts` builds and queries answer from. */
import type { Instant } from '../runtime/instant.ts';
import type { FilingType } from './filing-type.ts';
import type { Attachment, CrossReference, DocketHeader, DocumentIdentifierType, Party } from './snapshot.ts';

/**
 * Collection of case documents, by the name of the docket's stream. Becomes visible after everything that it refers to.
 */
export const CASES = 'cases';
/** Parties and cross-references of a case. Stored separately, since only a full answer needs them. By stream. */
export const CASE_PARTIES = 'case-parties';
/** Filings, by stream and filing id. */
export const FILINGS = 'filings';
/** Which case a number means, by court and number. */
export const CASE_NUMBERS = 'case-numbers';

export const filingDocumentId = (stream: string, filingId: string): string => `${stream}/${filingId}`;
export const caseNumberId = (court: string, number: string): string => `${court}/${number}`;

export type NamedParty = Pick<Party, 'name' | 'role'>;

export interface CaseDocument {
  readonly court: string;
  /** The most complete known form. */
  readonly caseNumber: string;
  readonly opened: boolean;
  /** Whether a source has shown the case yet. */
  readonly checked: boolean;
  readonly baseline: 'none' | 'started' | 'completed';
  /** When a source last showed anything of it, be it one entry. */
  readonly dataAsOf: Instant | null;
  /** The name of that source; absent for files. */
  readonly source?: string;
  /** The newest look that showed the whole docket; absent if there was none, and in documents of earlier versions. */
  readonly whole?: { readonly asOf: Instant; readonly source: string };
  /** Feeds said nothing of this time, and no complete look came after it; absent if there is no such time. */
  readonly gap?: { readonly from: Instant; readonly to: Instant };
  /** The newest `available_at` or `revised_at`: everything up to it is visible. */
  readonly newestTime: Instant | null;
  readonly filingCount: number;
  /** `available_at` of the newest filing. */
  readonly latestFilingAt: Instant | null;
  readonly header: DocketHeader | null;
  readonly primaryParties: readonly NamedParty[];
  /** Blob that contains header and parties. */
  readonly detailsContent: string | null;
}

/**
 * The look that gives an answer its age: the newest at the whole docket, because one entry of a feed says nothing of the
 * others. A case that was never shown whole is as old as its newest part.
 */
export function lookAnswered({ whole, dataAsOf, source }: CaseDocument): {
  readonly asOf: Instant | null;
  /** As callers see it. */
  readonly source: string;
} {
  if (whole === undefined) return { asOf: dataAsOf, source: source ?? IMPORTED };
  return { asOf: whole.asOf, source: whole.source === 'file' ? IMPORTED : whole.source };
}

const IMPORTED = 'imported';

/** Whether a source has shown all of it, and no feed has missed anything since. */
export const isWhole = ({ baseline, gap }: CaseDocument): boolean => baseline === 'completed' && gap === undefined;

export interface CasePartiesDocument {
  readonly parties: readonly Party[];
  readonly crossReferences: readonly CrossReference[];
}

export interface FilingDocument {
  readonly case: string;
  readonly filingId: string;
  readonly availableAt: Instant;
  readonly revisedAt: Instant | null;
  readonly backfilled: boolean;
  readonly entryNumber: number | null;
  readonly dateFiled: string | null;
  readonly filedAt: Instant | null;
  readonly enteredAt: Instant | null;
  readonly filingType: FilingType;
  readonly filingTypes: readonly FilingType[];
  readonly sealed: boolean;
  /** Its text and documents are no longer served, but it stays listed. */
  readonly withdrawn: boolean;
  readonly description: string;
  readonly filedBy: string | null;
  readonly documentIdentifier: string | null;
  readonly documentIdentifierType: DocumentIdentifierType;
  readonly externalUrl: string | null;
  readonly attachments: readonly Attachment[];
  /** Blob that contains the content. */
  readonly content: string;
}

export interface CaseNumberDocument {
  readonly court: string;
  readonly number: string;
  /** The number without its office. */
  readonly core: string | null;
  readonly case: string;
}
