/** One entry of a docket sheet as juriscraper writes it. */
import type { Court } from '../../courts/court.ts';
import { dayAt, isDay, wallTime } from '../../dockets/court-time.ts';
import { maskedText } from '../../dockets/mask.ts';
import type { Attachment, DocumentIdentifierType, SnapshotEntry } from '../../dockets/snapshot.ts';
import { cleanText, clip, MAX_SHORT_TEXT, MAX_TEXT } from '../../dockets/text.ts';
import { type Instant, parseTimestamp, toInstant, toMicros } from '../../runtime/instant.ts';
import { faultOf, RawAttachment, RawEntry } from './schema.ts';

/** Records a single value that was left out. */
export type Remarks = (where: string, why: string) => void;

const MAX_ATTACHMENTS = 1_000;
const MAX_ATTACHMENT_TEXT = 300;

export function readEntry(
  item: unknown,
  court: Court,
  where: string,
  remark: Remarks,
): SnapshotEntry | { readonly refused: string } {
  const parsed = RawEntry.safeParse(item);
  if (!parsed.success) return { refused: faultOf(parsed.error) };
  const raw = parsed.data;
  const description = readText(raw.description, MAX_TEXT, court, `${where}.description`, remark);
  const shortDescription = readText(raw.short_description, MAX_SHORT_TEXT, court, `${where}.short_description`, remark);
  const entryNumber = readNumber(raw.document_number, `${where}.document_number`, remark);
  const document = readDocumentId(raw.pacer_doc_id);
  const sequence = readIdentifier(raw.pacer_seq_no);
  const courtListenerId = readIdentifier(raw.courtlistener_id);
  if (description === '' && shortDescription === '' && entryNumber === null && !document.identifier && !sequence) {
    return { refused: 'has no text, number or identifier' };
  }
  const filed = readMoment(raw.date_filed, court, `${where}.date_filed`, remark);
  const entered = readMoment(raw.date_entered, court, `${where}.date_entered`, remark);
  const sealed = raw.is_sealed === true || saysSealed(description === '' ? shortDescription : description);
  return {
    entryNumber,
    dateFiled: filed.day,
    dateEntered: entered.day,
    filedAt: filed.at,
    enteredAt: entered.at ?? timeInText(description, entered.day, court),
    description,
    shortDescription: shortDescription === '' ? null : shortDescription,
    filedBy: filerIn(description),
    documentIdentifier: document.identifier,
    documentIdentifierType: document.type,
    sourceIds: {
      ...(sequence === null ? {} : { pacer_seq_no: sequence }),
      ...(courtListenerId === null ? {} : { courtlistener_id: courtListenerId }),
    },
    externalUrl: document.type === 'pacer_doc_id' ? documentUrl(court, document.identifier) : null,
    attachments: readAttachments(raw.attachments ?? [], court, where, remark),
    sealed,
    ...(raw.is_sealed === false && !sealed ? { unsealed: true } : {}),
  };
}

function readText(
  text: string | null | undefined,
  limit: number,
  court: Court,
  where: string,
  remark: Remarks,
): string {
  if (!text) return '';
  if (text.length > limit) remark(where, `cut after ${limit} of ${text.length} characters`);
  return maskedText(text, limit, court.country);
}

function readNumber(value: string | number | null | undefined, where: string, remark: Remarks): number | null {
  if (value === null || value === undefined || value === '') return null;
  const text = String(value).trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  remark(where, `${JSON.stringify(clip(cleanText(text), 40))} is not an entry number`);
  return null;
}

function readIdentifier(value: string | number | null | undefined): string | null {
  const text = cleanText(clip(String(value ?? ''), 100));
  return text === '' ? null : text;
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The stable form of a document's id: the fourth digit of a PACER id only shows how a document was requested, so it is
 * set to 0.
 */
function readDocumentId(value: string | number | null | undefined): {
  readonly identifier: string | null;
  readonly type: DocumentIdentifierType;
} {
  const text = readIdentifier(value);
  if (text !== null && GUID.test(text)) return { identifier: text.toLowerCase(), type: 'acms_document_guid' };
  if (text !== null && /^\d{5,24}$/.test(text)) {
    return { identifier: `${text.slice(0, 3)}0${text.slice(4)}`, type: 'pacer_doc_id' };
  }
  return { identifier: null, type: 'none' };
}

/** CM/ECF hosts whose name is not the court's code. */
const CMECF_NAMES: ReadonlyMap<string, string> = new Map([['uscfc', 'cofc']]);

/** Where CM/ECF shows a document; null if that is not certain. */
function documentUrl(court: Court, identifier: string | null): string | null {
  if (identifier === null || court.country !== 'US' || !court.system.startsWith('US federal')) return null;
  if (!/^(?:CM\/ECF|ACMS)/.test(court.caseManagementSystem ?? '')) return null;
  const path = court.level === 'appellate' ? 'docs1' : 'doc1';
  return `https://ecf.${CMECF_NAMES.get(court.code) ?? court.code}.uscourts.gov/${path}/${identifier}`;
}

interface Moment {
  readonly day: string | null;
  /** Null if only the day is known. */
  readonly at: Instant | null;
}

const UNKNOWN: Moment = { day: null, at: null };
const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * A day, or a moment. A moment is court-local unless it has an offset; it then belongs to the day that the court's wall
 * clock shows. Midnight on that clock means a day without a time.
 */
function readMoment(text: string | null | undefined, court: Court, where: string, remark: Remarks): Moment {
  if (!text) return UNKNOWN;
  const match = LOCAL_TIME.exec(text.trim());
  const day = match?.[1] ?? '';
  const [hour, minute, second] = [match?.[2], match?.[3], match?.[4]].map((part) => Number(part ?? 0));
  if (!isDay(day) || hour === undefined || minute === undefined || second === undefined || hour > 23 || minute > 59) {
    remark(where, `${JSON.stringify(clip(cleanText(text), 40))} is not a date`);
    return UNKNOWN;
  }
  const zone = match?.[5];
  if (zone === undefined) {
    if (hour + minute + second === 0 || second > 59) return { day, at: null };
    return { day, at: toInstant(wallTime(court.timeZone, day, hour, minute, second)) };
  }
  // A leap second is read as the second before it.
  const at = parseTimestamp(
    `${day}T${match?.[2]}:${match?.[3]}:${String(Math.min(second, 59)).padStart(2, '0')}${zone}`,
  );
  const local = at === null ? null : dayAt(court.timeZone, toMicros(at));
  if (local === null || !isDay(local.day)) {
    remark(where, `${JSON.stringify(clip(cleanText(text), 40))} is not a date`);
    return UNKNOWN;
  }
  return { day: local.day, at: local.midnight ? null : at };
}

/** An existing court-local day, or null: from a day, a local time, or a moment with its offset. */
export function readDay(text: string | null | undefined, court: Court, where: string, remark: Remarks): string | null {
  if (!text) return null;
  if (LOCAL_TIME.test(text.trim())) return readMoment(text, court, where, remark).day;
  const day = text.trim().slice(0, 10);
  if (isDay(day)) return day;
  remark(where, `${JSON.stringify(clip(cleanText(text), 40))} is not a date`);
  return null;
}

const ENTERED = /\[Entered: (\d\d)\/(\d\d)\/(\d{4}) (\d\d):(\d\d) ([AP])M\]/;

/**
 * The text of an appellate docket shows the minute when an entry was made. It is used only if it agrees with the date.
 */
function timeInText(description: string, dateEntered: string | null, court: Court): Instant | null {
  const match = ENTERED.exec(description);
  if (!match) return null;
  const [, month, date, year, hour, minute, half] = match;
  const day = `${year}-${month}-${date}`;
  const hours = (Number(hour) % 12) + (half === 'P' ? 12 : 0);
  if (day !== dateEntered || Number(hour) > 12 || Number(minute) > 59) return null;
  return toInstant(wallTime(court.timeZone, day, hours, Number(minute), 0));
}

const SEALED =
  /^\W{0,3}(?:PROPOSED |UNREDACTED |EX PARTE )?SEALED (?:DOCUMENT|ORDER|MOTION|ENTRY|EVENT|MEMORANDUM|EXHIBIT|LETTER|RESPONSE|REPLY|OPINION|PLEADING)\b|\*{1,3} ?(?:FILED UNDER )?SEAL(?:ED)? ?\*|\((?:This )?document (?:is )?(?:sealed|restricted)\b|\(SEALED|\bDOCUMENT IS SEALED\b/i;

/** Whether a court's own text says that the document is sealed. */
export const saysSealed = (text: string): boolean => SEALED.test(text);

const FILER =
  /\b(?:[Ff]iled by|FILED BY) (?:(?:the )?(?:[Pp]laintiff|[Dd]efendant|[Dd]ebtor|[Cc]reditor|[Tt]rustee|[Pp]etitioner|[Rr]espondent|[Aa]ppellant|[Aa]ppellee|[Mm]ovant)s? )?([\p{Lu}\d][\p{L}\d'’&-]{0,40}[.,]{0,2}(?: (?:(?:of|the|and|de|la|van|von) ){0,2}[\p{Lu}\d&][\p{L}\d'’&-]{0,40}[.,]{0,2}){0,11})/u;
const FILER_END = / (?:re|as|to|on|for|with|against|in|by|at|signed|scheduled|hearing|objections?|responses?)\b.*$/i;

/** Who filed it, if the text says so explicitly. */
export function filerIn(description: string): string | null {
  const found = FILER.exec(description)?.[1];
  if (!found) return null;
  const name = found.replace(FILER_END, '').replace(/[,\s]+$/, '');
  const whole = /(?:\b(?:Inc|Corp|Co|Ltd|Jr|Sr|Esq|No|L\.?L\.?[CP]|U\.S|N\.A|L\.P|P\.C)|\b\p{Lu})\.$/u.test(name)
    ? name
    : name.replace(/\.$/, '');
  const first = whole.split(/(?<=\p{Ll}{3,})\. /u)[0] ?? '';
  return /\p{L}/u.test(first) && first.length <= 200 && /^[\p{Lu}\d]/u.test(first) ? first : null;
}

function readAttachments(items: readonly unknown[], court: Court, where: string, remark: Remarks): Attachment[] {
  const attachments: Attachment[] = [];
  for (const [index, item] of items.entries()) {
    const place = `${where}.attachments[${index}]`;
    if (index >= MAX_ATTACHMENTS) {
      remark(place, `an entry has at most ${MAX_ATTACHMENTS} attachments; ${items.length - index} are left out`);
      break;
    }
    const raw = RawAttachment.safeParse(item);
    if (!raw.success) {
      remark(place, faultOf(raw.error));
      continue;
    }
    const description = maskedText(raw.data.description ?? '', MAX_ATTACHMENT_TEXT, court.country);
    const pages = raw.data.page_count;
    attachments.push({
      attachmentNumber: readNumber(raw.data.attachment_number, place, remark),
      description: description === '' ? null : description,
      documentIdentifier: readDocumentId(raw.data.pacer_doc_id ?? raw.data.acms_document_guid).identifier,
      pageCount: typeof pages === 'number' && Number.isSafeInteger(pages) && pages > 0 ? pages : null,
    });
  }
  return attachments;
}
