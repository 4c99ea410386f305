/** The part of an entry's text that shows what it is. */

/** The type of an entry is named at its beginning; the rest, however long, is not read. */
const HEAD_LENGTH = 240;

const ACCENTS = /[\u0300-\u036f]/g;

/** Remarks before the entry proper: `(1 pg)`, `(Final decision)`, `[12] `, `***`, `Docket Text:`. */
const REMARK =
  /^(?:[\s*#:;,.\-"]+|\((?!proposed|sealed)[^()]{1,40}\)|\[(?!proposed|sealed)[^[\]]{1,40}\]|docket text:|\d{1,4}[.)] )+/;

/** A category before the entry's own name, as some state courts write it: `Notice - Notice of Appeal`. */
const CATEGORY =
  /^(?:notice|brief|record|miscellaneous(?: document| paper)?|other|document|pleading|filing|response|petition) - (?=[a-z])/;

/** The name of an appellate court does not make an entry an appeal. */
const APPELLATE_COURT = /\b(?:court of (?:criminal |civil |special )?appeals?|cour d'appel)\b/g;

/** The head of a text in lower case with single spaces, without accents, typographic quotes and remarks. */
export function headOf(text: string): string {
  let head = text.slice(0, HEAD_LENGTH).toLowerCase();
  if (/[^\x20-\x7e]/.test(head)) {
    head = head
      .normalize('NFD')
      .replace(ACCENTS, '')
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[\u2010-\u2015]/g, '-')
      .replace(/\s+/g, ' ');
  } else if (head.includes('  ')) {
    head = head.replace(/ {2,}/g, ' ');
  }
  const remark = REMARK.exec(head);
  // A text that is only a remark is classified by that remark.
  if (remark !== null && remark[0].length < head.length) head = head.slice(remark[0].length);
  const category = CATEGORY.exec(head);
  if (category !== null) head = head.slice(category[0].length);
  return head.includes('appel') || head.includes('appeal') ? head.replace(APPELLATE_COURT, 'appellate-court') : head;
}
