/**
 * Source adapter for the JSON that juriscraper writes for district, bankruptcy, appellate and ACMS docket reports and
 * for docket history (docs/design/dockets.md#sources). Total on any JSON value; it reports everything that it leaves
 * out.
 */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { Court } from '../../courts/court.ts';
import { numberInWords } from '../../courts/number-in-words.ts';
import { findCourt } from '../../courts/registry.ts';
import { suggestCaseNumber } from '../../courts/suggest-case-number.ts';
import { attorneyRole, firmOf } from '../../dockets/attorneys.ts';
import { maskedName } from '../../dockets/mask.ts';
import type {
  Attorney,
  CaseType,
  CrossReference,
  DocketHeader,
  DocketSnapshot,
  Party,
  SnapshotEntry,
} from '../../dockets/snapshot.ts';
import { cleanText, clip, MAX_SHORT_TEXT } from '../../dockets/text.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Instant } from '../../runtime/instant.ts';
import { type Remarks, readDay, readEntry } from './entry.ts';
import { faultOf, RawAttorney, RawDocket, RawOriginatingCourt, RawParty } from './schema.ts';

/** Something that was left out, with its place and the reason. */
export interface LeftOut {
  /** e.g. `docket_entries[4]`. */
  readonly where: string;
  readonly why: string;
}

export interface ReadDocket {
  readonly snapshot: DocketSnapshot;
  /** Entries, parties and attorneys that were left out. */
  readonly skipped: readonly LeftOut[];
  /** Single values that were left out or cut, while the rest was kept. */
  readonly remarks: readonly LeftOut[];
}

/** The whole docket cannot be used. */
export interface UnreadableDocket {
  readonly refused: string;
}

export interface ReadOptions {
  readonly askedAt: Instant;
  readonly complete: boolean;
  /** Where the docket came from, e.g. `file`. */
  readonly source: string;
}

const MAX_PARTIES = 10_000;
const MAX_ATTORNEYS_OF_A_PARTY = 500;

/** Reads one docket. Never throws. */
export function readJuriscraperDocket(value: unknown, options: ReadOptions): ReadDocket | UnreadableDocket {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { refused: 'not a docket: expected an object with court_id, docket_number and docket_entries' };
  }
  const parsed = RawDocket.safeParse(value);
  if (!parsed.success) return { refused: `not a docket in juriscraper's format: ${faultOf(parsed.error)}` };
  const raw = parsed.data;
  const court = findCourt(raw.court_id);
  if (!court) return { refused: `unknown court ${JSON.stringify(clip(cleanText(raw.court_id), 40))}` };
  const caseNumber = wholeNumber(court, raw);
  if (caseNumber === null) {
    const shown = JSON.stringify(clip(cleanText(raw.docket_number), 60));
    return {
      refused: `not a case number of ${court.code}: ${shown}${numberHint(court, raw.docket_number)}`,
    };
  }
  const skipped: LeftOut[] = [];
  const remarks: LeftOut[] = [];
  const remark: Remarks = (where, why) => {
    remarks.push({ where, why });
  };
  const whyPartial = options.complete ? lacksEntries(raw) : null;
  if (whyPartial !== null) remark('docket_entries', whyPartial);
  const isWhole = options.complete && whyPartial === null;
  const entries: SnapshotEntry[] = [];
  for (const [index, item] of (raw.docket_entries ?? []).entries()) {
    const where = `docket_entries[${index}]`;
    const entry = readEntry(item, court, where, remark);
    if ('refused' in entry) skipped.push({ where, why: entry.refused });
    else entries.push(entry);
  }
  return {
    snapshot: {
      court,
      caseNumber,
      aliases: [],
      header: headerOf(raw, court, caseNumber, remark),
      parties: partiesOf(raw.parties ?? [], court, skipped),
      crossReferences: crossReferencesOf(raw),
      entries,
      ...options,
      complete: isWhole,
      ...(isWhole && (value as JsonObject).date_terminated === null ? { saysOpen: true as const } : {}),
    },
    skipped,
    remarks,
  };
}

function numberHint(court: Court, written: string): string {
  const suggestion = suggestCaseNumber(court, cleanText(clip(written, 200)));
  if (suggestion !== null) return `; did you mean ${suggestion}?`;
  return court.example ? `; a valid example is ${court.example}: ${numberInWords(court)}` : '';
}

/** Why a file shows only a part of its docket; null if it lists the entries. A docket's own list may be empty. */
function lacksEntries({ docket_entries: entries, claims, date_last_filing: lastFiling }: RawDocket): string | null {
  if (!entries) {
    return claims === undefined
      ? 'no list of entries: imported as part of the docket, as with --partial'
      : 'a claims register, without the list of entries: imported as part of the docket, as with --partial';
  }
  if (entries.length > 0 || (!lastFiling && claims === undefined)) return null;
  return 'the list is empty, though the docket has entries: imported as part of it, as with --partial';
}

/** The docket's number, with its office if the report names it separately; null if the court has no such numbers. */
function wholeNumber(court: Court, raw: RawDocket): string | null {
  const written = cleanText(clip(raw.docket_number, 200));
  const number = parseCaseNumber(court, written);
  if (!number) return null;
  const office = raw.federal_dn_office_code?.trim();
  if (number.complete || !office || !/^[A-Za-z0-9]{1,2}$/.test(office)) return written;
  const whole = parseCaseNumber(court, `${office}:${number.core}`);
  return whole?.complete && whole.core === number.core ? whole.canonical : written;
}

/** A name or another short text, cleaned; null if it is empty. */
function shortText(text: string | null | undefined): string | null {
  const clean = maskedName(text ?? '', MAX_SHORT_TEXT);
  return clean === '' ? null : clean;
}

function headerOf(raw: RawDocket, court: Court, caseNumber: string, remark: Remarks): DocketHeader {
  const panel = (raw.panel ?? []).filter((judge): judge is string => typeof judge === 'string').join(', ');
  const chapter = shortText(raw.chapter === undefined || raw.chapter === null ? null : String(raw.chapter));
  return {
    caseName: shortText(raw.case_name),
    caseNameSecondary: null,
    caseNameSecondaryLanguage: null,
    caseType: caseTypeOf(raw, court, caseNumber),
    natureOfProceeding:
      shortText(raw.nature_of_suit) ??
      shortText(raw.case_type_information) ??
      (chapter === null ? null : `Chapter ${chapter.replace(/^chapter /i, '')}`),
    cause: shortText(raw.cause),
    assignedJudge: shortText(raw.assigned_to_str) ?? shortText(panel),
    referredJudge: shortText(raw.referred_to_str),
    dateFiled: readDay(raw.date_filed, court, 'date_filed', remark),
    dateClosed: readDay(raw.date_terminated, court, 'date_terminated', remark),
  };
}

const CASE_TYPES: ReadonlyMap<string, CaseType> = new Map([
  ['cv', 'civil'],
  ['cr', 'criminal'],
  ['mj', 'criminal'],
  ['po', 'criminal'],
  ['md', 'mdl'],
  ['ml', 'mdl'],
  ['mdl', 'mdl'],
  ['bk', 'bankruptcy'],
  ['ap', 'adversary'],
]);

function caseTypeOf(raw: RawDocket, court: Court, caseNumber: string): CaseType {
  const stated = raw.federal_dn_case_type?.trim().toLowerCase() || parseCaseNumber(court, caseNumber)?.caseType;
  const known = stated ? CASE_TYPES.get(stated) : undefined;
  if (known) return known;
  if (court.level === 'bankruptcy') return 'bankruptcy';
  if (court.code === 'tax') return 'tax';
  if (court.code === 'jpml') return 'mdl';
  if (court.level === 'appellate' || court.level === 'supreme') return 'appellate';
  return 'other';
}

function partiesOf(items: readonly unknown[], court: Court, skipped: LeftOut[]): Party[] {
  const parties: Party[] = [];
  for (const [index, item] of items.entries()) {
    const where = `parties[${index}]`;
    if (index >= MAX_PARTIES) {
      skipped.push({ where, why: `a docket has at most ${MAX_PARTIES} parties; ${items.length - index} are left out` });
      break;
    }
    const raw = RawParty.safeParse(item);
    const name = raw.success ? shortText(raw.data.name) : null;
    if (!raw.success || name === null) {
      skipped.push({ where, why: raw.success ? 'has no name' : faultOf(raw.error) });
      continue;
    }
    parties.push({
      name,
      role: shortText(raw.data.type),
      terminatedAt: readDay(raw.data.date_terminated, court, where, () => {}),
      attorneys: attorneysOf(raw.data.attorneys ?? [], where, skipped),
    });
  }
  return parties;
}

function attorneysOf(items: readonly unknown[], party: string, skipped: LeftOut[]): Attorney[] {
  const attorneys: Attorney[] = [];
  for (const [index, item] of items.entries()) {
    const where = `${party}.attorneys[${index}]`;
    if (index >= MAX_ATTORNEYS_OF_A_PARTY) {
      skipped.push({ where, why: `a party has at most ${MAX_ATTORNEYS_OF_A_PARTY} attorneys` });
      break;
    }
    const raw = RawAttorney.safeParse(item);
    const name = raw.success ? shortText(raw.data.name) : null;
    if (!raw.success || name === null) {
      skipped.push({ where, why: raw.success ? 'has no name' : faultOf(raw.error) });
      continue;
    }
    const roles = (raw.data.roles ?? []).slice(0, 20).filter((role): role is string => typeof role === 'string');
    attorneys.push({ name, role: attorneyRole(roles), firm: firmOf(raw.data.contact ?? '') });
  }
  return attorneys;
}

function crossReferencesOf(raw: RawDocket): CrossReference[] {
  const references: CrossReference[] = [];
  const origin = RawOriginatingCourt.safeParse(raw.originating_court_information);
  const caseId = origin.success ? shortText(origin.data.docket_number) : null;
  if (origin.success && caseId !== null) {
    const court = findCourt(origin.data.court_id ?? '');
    const number = court ? parseCaseNumber(court, caseId) : null;
    references.push({
      caseId: number?.canonical ?? caseId,
      courtCode: court?.code ?? null,
      relationship: 'appealed_from',
    });
  }
  const litigation = /\bMDL\D{0,8}(\d{2,4})\b/i.exec(raw.mdl_status?.slice(0, 200) ?? '');
  if (litigation?.[1]) {
    references.push({ caseId: `MDL No. ${litigation[1]}`, courtCode: 'jpml', relationship: 'member_case_of_mdl' });
  }
  return references;
}
