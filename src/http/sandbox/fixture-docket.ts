/** The notation of the sandbox's dockets: short to write, complete and typed when read. */
import type { Court } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import type {
  Attachment,
  CaseType,
  CrossReference,
  DocketHeader,
  DocketSnapshot,
  DocumentIdentifierType,
  Party,
  SnapshotEntry,
} from '../../dockets/snapshot.ts';
import { toInstant } from '../../runtime/instant.ts';
import { filerIn, saysSealed } from '../../sources/juriscraper/entry.ts';

export interface FixtureDocket {
  /** A court of the kind that the docket represents; answers name the court of the query. */
  readonly court: string;
  readonly caseNumber: string;
  readonly header: Partial<DocketHeader> & { readonly caseName: string; readonly caseType: CaseType };
  readonly parties: readonly FixtureParty[];
  readonly crossReferences?: readonly CrossReference[];
  readonly documents: DocumentIdentifierType;
  readonly entries: Iterable<FixtureEntry>;
}

/** Name, role, and attorneys as [name, role, firm]. */
export type FixtureParty = readonly [
  name: string,
  role: string,
  attorneys?: readonly (readonly [name: string, role: string | null, firm: string | null])[],
  terminatedAt?: string,
];

export interface FixtureEntry {
  /** Null if the court did not number the entry. */
  readonly number: number | null;
  readonly filed: string;
  /** If it differs from `filed`. */
  readonly entered?: string;
  /** The exact time of entry, if the court gives it. */
  readonly enteredAt?: string;
  readonly text: string;
  readonly attachments?: readonly string[];
}

/** When the sandbox's source was read: later than everything in it. */
const ASKED_AT = toInstant(Date.UTC(2026, 0, 15, 12) * 1000);

/** The docket as a source would return it. */
export function snapshotOf({ court: code, entries, ...docket }: FixtureDocket): DocketSnapshot {
  const court = findCourt(code);
  if (!court) throw new Error(`there is no court ${code}`);
  return {
    court,
    caseNumber: docket.caseNumber,
    aliases: [],
    header: { ...EMPTY_HEADER, ...docket.header },
    parties: docket.parties.map(partyOf),
    crossReferences: docket.crossReferences ?? [],
    entries: [...entries].map((entry, index) => entryOf(entry, index, docket.documents, court)),
    complete: true,
    askedAt: ASKED_AT,
    source: 'sandbox',
  };
}

const EMPTY_HEADER: Omit<DocketHeader, 'caseName' | 'caseType'> = {
  caseNameSecondary: null,
  caseNameSecondaryLanguage: null,
  natureOfProceeding: null,
  cause: null,
  assignedJudge: null,
  referredJudge: null,
  dateFiled: null,
  dateClosed: null,
};

const partyOf = ([name, role, attorneys = [], terminatedAt = undefined]: FixtureParty): Party => ({
  name,
  role,
  terminatedAt: terminatedAt ?? null,
  attorneys: attorneys.map(([attorney, attorneyRole, firm]) => ({ name: attorney, role: attorneyRole, firm })),
});

function entryOf(entry: FixtureEntry, index: number, type: DocumentIdentifierType, court: Court): SnapshotEntry {
  const sealed = saysSealed(entry.text);
  const identifier = entry.number === null || sealed ? null : documentIdentifier(type, index, 0);
  return {
    entryNumber: entry.number,
    dateFiled: entry.filed,
    dateEntered: entry.entered ?? entry.filed,
    filedAt: null,
    enteredAt: entry.enteredAt ?? null,
    description: entry.text,
    shortDescription: null,
    filedBy: filerIn(entry.text),
    documentIdentifier: identifier,
    documentIdentifierType: identifier === null ? 'none' : type,
    sourceIds: { sandbox: String(index + 1) },
    // A name that never resolves (RFC 2606).
    externalUrl: identifier === null ? null : `https://${court.code.replace('_', '-')}.example/documents/${identifier}`,
    attachments: (entry.attachments ?? []).map(
      (description, at): Attachment => ({
        attachmentNumber: at + 1,
        description,
        documentIdentifier: documentIdentifier(type, index, at + 1),
        pageCount: 2 + ((index * 7 + at * 3) % 24),
      }),
    ),
    sealed,
  };
}

/** In the form that each system uses for its documents, in a range that no court uses. */
function documentIdentifier(type: DocumentIdentifierType, index: number, part: number): string {
  const serial = String(index * 20 + part).padStart(8, '0');
  switch (type) {
    case 'acms_document_guid':
      return `00000000-0000-4000-8000-0000${serial}`;
    case 'pacer_doc_id':
      return `0000${serial}`;
    default:
      return `sandbox-${serial}`;
  }
}
