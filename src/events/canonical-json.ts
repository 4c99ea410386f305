import type { Json } from './event.ts';

/** Levels of objects and lists. This service never writes so many, and deeper ones would overflow the stack. */
const DEEPEST = 200;

export const TOO_DEEP = `it has more than ${DEEPEST} levels`;

export const isTooDeep = (value: Json, levels = DEEPEST): boolean => {
  if (value === null || typeof value !== 'object') return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isTooDeep(inner as Json, levels - 1)) return true;
  return false;
};

/**
 * Canonical text of a JSON value by RFC 8785: members sorted by UTF-16 code units, no white space.
 * @throws RangeError if it is too deep
 */
export function canonicalJson(value: Json, levels = DEEPEST): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (levels === 0) throw new RangeError(TOO_DEEP);
  // One growing string: this runs for every written event, and joining lists of parts would cost half of its time.
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item, levels - 1)}`;
    return `[${text}]`;
  }
  const object = value as { readonly [key: string]: Json };
  for (const key of Object.keys(object).sort()) {
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(object[key] as Json, levels - 1)}`;
  }
  return `{${text}}`;
}

/**
 * Printable ASCII except the quotation mark and the backslash. Nearly every text is like this, and needs no escaping.
 */
const PLAIN = /^[ !#-[\]-~]*$/;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
