/**
 * Undoes common changes of a body that make its verification fail: each result is tried instead of the received body.
 */
import { parsedJson } from '../runtime/parsed-json.ts';

export interface BodyVariant {
  /** What happened to the body, if this variant matches. */
  readonly change: string;
  readonly body: Buffer;
}

const BYTE_ORDER_MARK = '\ufeff';

/** Bodies that the received one may originally have been, the simplest first; none of them equals it. */
export function bodyVariants(body: Buffer): readonly BodyVariant[] {
  const text = body.toString('utf8');
  const variants: BodyVariant[] = [];
  const add = (change: string, variant: Buffer | string | null) => {
    if (variant === null) return;
    const bytes = Buffer.from(variant);
    if (!bytes.equals(body) && !variants.some((known) => known.body.equals(bytes)))
      variants.push({ change, body: bytes });
  };
  add('a line ending was added to it', text.replace(/[\r\n]+$/, ''));
  add('a line ending was removed from it', `${text}\n`);
  add('a line ending was removed from it', `${text}\r\n`);
  add('its line endings were changed to CRLF', text.replaceAll('\r\n', '\n'));
  add('its line endings were changed to LF', text.replaceAll(/\r?\n/g, '\r\n'));
  add('a byte order mark was added to it', text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : null);
  add('surrounding white space was removed or added', text.trim());
  add('its JSON was parsed and serialized again', rewritten(text));
  add('it was read as Latin-1 and written as UTF-8', isLatin1(text) ? Buffer.from(text, 'latin1') : null);
  add('it was wrapped in a JSON string', jsonString(text));
  add('it was encoded as base64', /^[A-Za-z0-9+/]+=*\s*$/.test(text) ? Buffer.from(text, 'base64') : null);
  return variants;
}

/**
 * The JSON as the service writes it: without white space, the envelope's two parts in their order. If a program sorted
 * the keys, the order inside the payload is lost.
 */
function rewritten(text: string): string | null {
  const parsed = parsedJson(text);
  if (typeof parsed !== 'object' || parsed === null) return null;
  const { payload, webhook, ...rest } = parsed as { payload?: unknown; webhook?: unknown };
  if (payload === undefined || typeof webhook !== 'object' || webhook === null || Object.keys(rest).length > 0) {
    return JSON.stringify(parsed);
  }
  const known = Object.entries(webhook).sort(([a], [b]) => WEBHOOK_ORDER.indexOf(a) - WEBHOOK_ORDER.indexOf(b));
  return JSON.stringify({ payload, webhook: Object.fromEntries(known) });
}

const WEBHOOK_ORDER = ['version', 'event_type', 'date_created', 'deprecation_date', 'delivery_id', 'idempotency_key'];

function jsonString(text: string): string | null {
  const parsed = parsedJson(text);
  return typeof parsed === 'string' ? parsed : null;
}

const isLatin1 = (text: string): boolean => [...text].every((character) => character.charCodeAt(0) < 256);

/** Whether the text is JSON, but not as the service writes it, so that a program must have serialized it again. */
export function looksRewritten(body: Buffer): boolean {
  const text = body.toString('utf8');
  const again = rewritten(text);
  return again !== null && again !== text;
}
