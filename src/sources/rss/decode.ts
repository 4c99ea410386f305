/** The characters of a feed's body (docs/design/sources.md#feeds): feeds are declared ISO-8859-1 and seldom labelled. */

/** What Windows-1252 has where ISO-8859-1 has control characters, which no feed means. */
const WINDOWS =
  '\u20AC\u0081\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\u008D\u017D\u008F' +
  '\u0090\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\u009D\u017E\u0178';

/** Text in which control characters of ISO-8859-1 are read as Windows-1252 means them. */
export const asWindows = (text: string): string =>
  text.replace(/[\x80-\x9F]/g, (one) => WINDOWS[one.charCodeAt(0) - 0x80] ?? one);

const LATIN = new Set(['iso-8859-1', 'iso8859-1', 'latin1', 'windows-1252', 'cp1252', 'us-ascii', 'ascii']);
const UTF8 = new Set(['utf-8', 'utf8']);

const DECLARED = /^\s{0,100}<\?xml\s[^>]{0,200}?encoding\s{0,20}=\s{0,20}["']([A-Za-z0-9._-]{1,40})["']/;
const LABELLED = /;\s{0,20}charset\s{0,20}=\s{0,20}"?([A-Za-z0-9._-]{1,40})/i;

/**
 * The text of a body: by its byte order mark, the header, the XML declaration, in this order. What is not valid UTF-8 is
 * read as Windows-1252. Null for an encoding that no feed has.
 */
export function decodeFeed(body: Buffer, contentType: string | undefined): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return utf8(body.subarray(3));
  if ((body[0] === 0xfe && body[1] === 0xff) || (body[0] === 0xff && body[1] === 0xfe)) return null;
  const label =
    LABELLED.exec(contentType?.slice(0, 500) ?? '')?.[1] ?? DECLARED.exec(body.toString('latin1', 0, 500))?.[1];
  const name = label?.toLowerCase();
  if (name === undefined || UTF8.has(name)) return utf8(body);
  return LATIN.has(name) ? asWindows(body.toString('latin1')) : null;
}

function utf8(body: Buffer): string {
  try {
    // As a stream, so that a body which was cut off inside a character stays readable.
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return asWindows(body.toString('latin1'));
  }
}
