/** Texts as sources write them: made clean, bounded, and comparable. Every expression here runs in linear time. */

/** Longest text of one filing that is kept, in UTF-16 units. Courts' own limits lie far below. */
export const MAX_TEXT = 65_536;
/** Longest name, role or other short text that is kept. */
export const MAX_SHORT_TEXT = 1_000;

const CONTROL = /[\p{Cc}\u2028\u2029\uFEFF]/gu;
/** Most texts are clean: one look tells. */
const UNCLEAN = /[^\x20-\x7E]| {2}|^ | $/;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * One line of well-formed text: control characters and runs of white space become one space, lone surrogates the
 * replacement character.
 */
export function cleanText(text: string): string {
  if (!UNCLEAN.test(text)) return text;
  return text.replace(CONTROL, ' ').replace(LONE_SURROGATE, '\uFFFD').replace(/\s+/g, ' ').trim();
}

/** The start of a text, never ending in half a character. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

/** What clerks add to a text without making another filing of it. */
const CLERKS_MARKS = [
  /\(Entered: [^()]{0,40}\)/g,
  /\[Entered: [^[\]]{0,60}\]/g,
  /\[Edited:? [^[\]]{0,300}\]/g,
  /Modified (?:text |access |event )?on \d{1,2}\/\d{1,2}\/\d{2,4} ?(?:\([^()]{0,60}\))?\.?/g,
];

/** What is equal in two texts of one filing: letter case, spaces, and what clerks add later do not count. */
export function textKey(text: string): string {
  let key = text;
  for (const mark of CLERKS_MARKS) key = key.replace(mark, ' ');
  return withoutTrailingStops(key.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim());
}

function withoutTrailingStops(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1] === ' ')) end--;
  return text.slice(0, end);
}

const WORD = /[\p{L}\p{N}]+/gu;
/** Words that say too little to tell two short names apart. */
const SMALL_WORDS = new Set(['a', 'an', 'and', 'as', 'by', 'for', 'in', 'of', 'on', 'or', 'other', 'the', 'to', 'usa']);

const stem = (word: string): string => word.slice(0, 6);

/** The share, 0 to 1, of a short name's words that a text's head has: "Warrant Issued" in "ARREST WARRANT ISSUED by …". */
export function shareOfWords(shortName: string, text: string): number {
  const words = (shortName.toLowerCase().match(WORD) ?? []).filter((word) => !SMALL_WORDS.has(word));
  if (words.length === 0) return 0;
  const head = new Set((text.slice(0, 400).toLowerCase().match(WORD) ?? []).map(stem));
  return words.filter((word) => head.has(stem(word))).length / words.length;
}
