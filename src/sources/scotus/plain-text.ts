/** Texts of the Supreme Court's files hold HTML; what is kept of them is plain text. Linear time on any input. */

const BREAK = /<(?:br|p|div|li|tr)\b[^<>]{0,200}>/gi;
/** A tag begins with a letter, a comment with a mark: `5 < 6` is text. */
const TAG = /<\/?[a-z!][^<>]{0,500}>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi;

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['sect', '§'],
  ['para', '¶'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
]);

/** The text without tags and entities. Entities that are not known stay as they are. */
export function plainText(html: string): string {
  const text = html.includes('<') ? html.replace(BREAK, ' ').replace(TAG, '') : html;
  return text.includes('&') ? text.replace(ENTITY, characterOf) : text;
}

function characterOf(entity: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? entity;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  return code > 0x10ffff ? entity : String.fromCodePoint(code);
}
