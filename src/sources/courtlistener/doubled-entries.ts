/**
 * One entry that CourtListener has as two rows, from a feed and from a docket sheet, or in two dockets of one case
 * (docs/design/sources.md#courtlistener). Pure.
 */
import { textKey } from '../../dockets/text.ts';
import type { Json, JsonObject } from '../../events/event.ts';

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const documentsOf = ({ recap_documents: documents }: JsonObject): readonly JsonObject[] =>
  Array.isArray(documents) ? (documents as readonly JsonObject[]) : [];
const ATTACHMENT = 2;
const mainOf = (entry: JsonObject): JsonObject | undefined =>
  documentsOf(entry).find((document) => document.document_type !== ATTACHMENT);

interface Identity {
  readonly row: JsonObject;
  readonly number: number | null;
  readonly sequence: number | null;
  /** With the digit that only shows how it was requested set to 0. */
  readonly document: string | null;
  readonly day: string;
  readonly text: string;
}

function identityOf(row: JsonObject): Identity {
  const main = mainOf(row);
  const document = text(main?.pacer_doc_id) || text(main?.acms_document_guid);
  return {
    row,
    number: typeof row.entry_number === 'number' ? row.entry_number : null,
    sequence: typeof row.pacer_sequence_number === 'number' ? row.pacer_sequence_number : null,
    document:
      document === '' ? null : /^\d{5,24}$/.test(document) ? `${document.slice(0, 3)}0${document.slice(4)}` : document,
    day: text(row.date_filed),
    text: textKey(text(row.description)),
  };
}

const contradict = <Value>(a: Value | null, b: Value | null): boolean => a !== null && b !== null && a !== b;
const agree = <Value>(a: Value | null, b: Value | null): boolean => a !== null && a === b;
const isIdentified = ({ sequence, document }: Identity): boolean => sequence !== null || document !== null;

function areOne(a: Identity, b: Identity): boolean {
  if (contradict(a.number, b.number) || contradict(a.sequence, b.sequence) || contradict(a.document, b.document))
    return false;
  const textsAgree = a.text === b.text || a.text === '' || b.text === '';
  if (agree(a.sequence, b.sequence) || agree(a.document, b.document)) return a.number !== null || textsAgree;
  if (a.day !== b.day || !textsAgree) return false;
  if (a.number !== null) return a.number === b.number;
  // Minute entries often share day and text. Only a row that nothing identifies may be another one's double.
  return b.number === null && a.text !== '' && a.text === b.text && isIdentified(a) !== isIdentified(b);
}

/** Each entry once. */
export function withoutDoubles(rows: readonly JsonObject[]): readonly JsonObject[] {
  const kept: Identity[] = [];
  const byKey = new Map<string, number[]>();
  for (const row of rows) {
    const identity = identityOf(row);
    const keys = keysOf(identity);
    const double = keys
      .flatMap((key) => byKey.get(key) ?? [])
      .find((index) => areOne(kept[index] as Identity, identity));
    if (double === undefined) kept.push(identity);
    else kept[double] = identityOf(mergeRows((kept[double] as Identity).row, row));
    const place = double ?? kept.length - 1;
    for (const key of new Set([...keys, ...keysOf(kept[place] as Identity)])) {
      const places = byKey.get(key);
      if (!places) byKey.set(key, [place]);
      else if (!places.includes(place) && places.length < MOST_ALIKE) places.push(place);
    }
  }
  return kept.map(({ row }) => row);
}

/** A hostile list must not make this quadratic. */
const MOST_ALIKE = 50;

function keysOf({ number, sequence, document, day, text: words }: Identity): string[] {
  return [
    ...(sequence === null ? [] : [`sequence ${sequence}`]),
    ...(document === null ? [] : [`document ${document}`]),
    ...(number === null ? (words === '' ? [] : [`text ${day} ${words}`]) : [`number ${number} ${day}`]),
  ];
}

/** The row with a text, else the one that will stay: the later one of a numbered entry, the earlier one of another. */
function mergeRows(a: JsonObject, b: JsonObject): JsonObject {
  const [earlier, later] = text(a.date_created) <= text(b.date_created) ? [a, b] : [b, a];
  const [stays, goes] = typeof later.entry_number === 'number' ? [later, earlier] : [earlier, later];
  const [fuller, other] =
    text(stays.description) !== '' || text(goes.description) === '' ? [stays, goes] : [goes, stays];
  const documents = documentsOf(fuller).length > 0 ? documentsOf(fuller) : documentsOf(other);
  const isSealed = [mainOf(fuller), mainOf(other)].some((document) => document?.is_sealed === true);
  const main = mainOf(fuller) ?? mainOf(other);
  return {
    ...other,
    ...fuller,
    entry_number: fuller.entry_number ?? other.entry_number ?? null,
    pacer_sequence_number: fuller.pacer_sequence_number ?? other.pacer_sequence_number ?? null,
    id: stays.id ?? goes.id ?? null,
    recap_documents: documents.map((document) =>
      document === main && isSealed ? { ...document, is_sealed: true } : document,
    ),
  };
}
