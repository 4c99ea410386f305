/** What any source said about one docket at one moment, in the normal form of docs/design/dockets.md#sources. */
import type { Court } from '../courts/court.ts';
import type { Instant } from '../runtime/instant.ts';

export interface Attorney {
  readonly name: string;
  readonly role: string | null;
  readonly firm: string | null;
}

export interface Party {
  readonly name: string;
  readonly role: string | null;
  readonly terminatedAt: string | null;
  readonly attorneys: readonly Attorney[];
}

export type Relationship =
  | 'consolidated_with'
  | 'appealed_from'
  | 'appealed_to'
  | 'related_to'
  | 'member_case_of_mdl'
  | 'same_party'
  | 'other';

export interface CrossReference {
  readonly caseId: string;
  readonly courtCode: string | null;
  readonly relationship: Relationship;
}

export type CaseType = 'civil' | 'criminal' | 'bankruptcy' | 'adversary' | 'appellate' | 'mdl' | 'tax' | 'other';

/** The head of a docket. Null means that the source does not say, and never overwrites a known value. */
export interface DocketHeader {
  readonly caseName: string | null;
  readonly caseNameSecondary: string | null;
  readonly caseNameSecondaryLanguage: string | null;
  readonly caseType: CaseType | null;
  readonly natureOfProceeding: string | null;
  readonly cause: string | null;
  readonly assignedJudge: string | null;
  readonly referredJudge: string | null;
  /** Court-local days, `YYYY-MM-DD`. */
  readonly dateFiled: string | null;
  readonly dateClosed: string | null;
}

/** Says nothing, and so changes nothing. */
export const UNKNOWN_HEADER: DocketHeader = {
  caseName: null,
  caseNameSecondary: null,
  caseNameSecondaryLanguage: null,
  caseType: null,
  natureOfProceeding: null,
  cause: null,
  assignedJudge: null,
  referredJudge: null,
  dateFiled: null,
  dateClosed: null,
};

export type DocumentIdentifierType =
  | 'pacer_doc_id'
  | 'acms_document_guid'
  | 'fct_recorded_entry_id'
  | 'tyler_envelope_id'
  | 'tyler_event_id'
  | 'tyler_document_id'
  | 'none';

export interface Attachment {
  readonly attachmentNumber: number | null;
  readonly description: string | null;
  readonly documentIdentifier: string | null;
  readonly pageCount: number | null;
}

/** One entry of a docket sheet from its source, with personal details masked. */
export interface SnapshotEntry {
  readonly entryNumber: number | null;
  readonly dateFiled: string | null;
  readonly dateEntered: string | null;
  /** Exact times, if the source has them. */
  readonly filedAt: Instant | null;
  readonly enteredAt: Instant | null;
  /** Empty if the source has no text, which never replaces a text. */
  readonly description: string;
  /** The event's short name; used as text if there is no description. */
  readonly shortDescription: string | null;
  readonly filedBy: string | null;
  readonly documentIdentifier: string | null;
  readonly documentIdentifierType: DocumentIdentifierType;
  /** Other ids of the entry at the source, e.g. `pacer_seq_no`. */
  readonly sourceIds: Readonly<Record<string, string>>;
  readonly externalUrl: string | null;
  readonly attachments: readonly Attachment[];
  readonly sealed: boolean;
  /** The source says that the document is not sealed. Most say nothing, which ends no seal. */
  readonly unsealed?: true;
  /** The source shows nothing in the place of the text, and says so. Most say nothing, which takes no text away. */
  readonly blanked?: true;
}

export interface DocketSnapshot {
  readonly court: Court;
  /** As the source writes it. */
  readonly caseNumber: string;
  readonly aliases: readonly string[];
  readonly header: DocketHeader;
  readonly parties: readonly Party[];
  readonly crossReferences: readonly CrossReference[];
  readonly entries: readonly SnapshotEntry[];
  /** The source says that the case is not closed. Most say nothing, which reopens none. */
  readonly saysOpen?: true;
  /** A complete snapshot holds every entry of the docket. */
  readonly complete: boolean;
  /** Its header only fills in what is unknown: feeds cut names off. */
  readonly isBrief?: boolean;
  /** Not the whole docket, but all that changed of it since its last complete look: this look is complete as well. */
  readonly showsAllChanges?: true;
  /** A part of a first look that is not finished yet. Its entries are no news, unless they are younger than an answer. */
  readonly ofFirstLook?: true;
  readonly askedAt: Instant;
  /** The name of the source, e.g. `file`. */
  readonly source: string;
}
