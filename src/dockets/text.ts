/** Cleans, limits and compares texts from sources. Every expression here runs in linear time. */

/** Longest stored text of one filing, in UTF-16 units. Courts' own limits are much lower. */
export const MAX_TEXT = 65_536;
/** Longest stored name, role or other short text. */
export const MAX_SHORT_TEXT = 1_000;

const CONTROL = /[\p{Cc}\u2028\u2029\uFEFF]/gu;
/** Most texts are clean; one test shows it. */
const UNCLEAN = /[^\x20-\x7E]| {2}|^ | $/;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * Invisible characters that programs obey or read: direction marks, zero-width and tag characters, variation selectors,
 * soft hyphens. No docket needs them, and they can hide text from a reader.
 */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * One line of well-formed, visible text. Control characters and runs of white space become one space, lone surrogates
 * become the replacement character, and invisible characters are removed.
 */
export function cleanText(text: string): string {
  if (!UNCLEAN.test(text)) return text;
  return text.replace(CONTROL, ' ').replace(UNSEEN, '').replace(LONE_SURROGATE, '\uFFFD').replace(/\s+/g, ' ').trim();
}

/** The start of a text, never ending in half a character. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** The time of an entry, as a report of a docket sheet writes it at the end of the text. */
const ENTERED_MARKS = [/\(Entered: [^()]{0,40}\)/g, /\[Entered: [^[\]]{0,60}\]/g];

/** Additions by clerks that do not make another filing of a text. */
const CLERKS_MARKS = [
  /\[Edited:? [^[\]]{0,300}\]/g,
  /Modified (?:text |access |event )?on \d{1,2}\/\d{1,2}\/\d{2,4} ?(?:\([^()]{0,60}\))?\.?/g,
];

/** The number of another entry: `[10]` in a docket history, a link that reads `10` on a docket sheet. */
const REFERENCE = /(?<!\w)\[(\d{1,6}(?:-\d{1,4})?)\](?!\w)/g;
const ADJOINING_REFERENCES = /\](?=\[\d)/g;
/** A number of an attachment: `# (1) Exhibit` or `# 1 Exhibit`. */
const ATTACHMENT_NUMBER = /# ?(?:\((\d{1,5})\)|(\d{1,5})(?!\w))/g;

/** A text in one form for every report's notation of the numbers in it, and whether it says when the entry was made. */
function asReported(text: string): string {
  let plain = text;
  if (plain.includes('Entered: ')) for (const mark of ENTERED_MARKS) plain = plain.replace(mark, ' ');
  if (plain.includes('[')) plain = plain.replace(ADJOINING_REFERENCES, '] ').replace(REFERENCE, '$1');
  if (plain.includes('#')) plain = plain.replace(ATTACHMENT_NUMBER, '# $1$2');
  return plain;
}

/** Whether two texts differ only in the notation of different reports of one docket. */
export function isSameReport(a: string, b: string): boolean {
  return a === b || oneSpaced(a) === oneSpaced(b);
}

const oneSpaced = (text: string): string =>
  withoutTrailingStops(asReported(text).normalize('NFC').replace(/\s+/g, ' ').trim());

/** What is equal in two texts of one filing: letter case, spaces, and clerks' later additions do not count. */
export function textKey(text: string): string {
  let key = asReported(text);
  for (const mark of CLERKS_MARKS) key = key.replace(mark, ' ');
  return withoutTrailingStops(key.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim());
}

function withoutTrailingStops(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1] === ' ')) end--;
  return text.slice(0, end);
}

const WORD = /[\p{L}\p{N}]+/gu;
/** Words that do not distinguish two short names. */
const SMALL_WORDS = new Set(['a', 'an', 'and', 'as', 'by', 'for', 'in', 'of', 'on', 'or', 'other', 'the', 'to', 'usa']);

const stem = (word: string): string => word.slice(0, 6);

const distinctiveWords = (shortName: string): string[] =>
  (shortName.toLowerCase().match(WORD) ?? []).filter((word) => !SMALL_WORDS.has(word));

/** Whether a short name has enough words to distinguish an entry from most others: "Order" has not. */
export const isDistinctive = (shortName: string): boolean => distinctiveWords(shortName).length > 1;

/**
 * The share, 0 to 1, of a short name's words that occur in a text's head: "Warrant Issued" in "ARREST WARRANT ISSUED by
 * …".
 */
export function shareOfWords(shortName: string, text: string): number {
  const words = distinctiveWords(shortName);
  if (words.length === 0) return 0;
  const head = new Set((text.slice(0, 400).toLowerCase().match(WORD) ?? []).map(stem));
  return words.filter((word) => head.has(stem(word))).length / words.length;
}
