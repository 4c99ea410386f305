import type { Json } from './event.ts';

/** Canonical text of a JSON value by RFC 8785: members sorted by UTF-16 code units, no white space. */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  // One growing string: this runs for every written event, and joining lists of parts would cost half of its time.
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const object = value as { readonly [key: string]: Json };
  for (const key of Object.keys(object).sort()) {
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(object[key] as Json)}`;
  }
  return `{${text}}`;
}

/**
 * Printable ASCII except the quotation mark and the backslash. Nearly every text is like this, and needs no escaping.
 */
const PLAIN = /^[ !#-[\]-~]*$/;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
