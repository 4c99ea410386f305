/** What bodies become on their way to a verification that fails, undone: each is tried in place of the body at hand. */

export interface BodyVariant {
  /** What had become of the body, if this one matches. */
  readonly change: string;
  readonly body: Buffer;
}

const BYTE_ORDER_MARK = '\ufeff';

/** Bodies that the one at hand may have been, the simplest first; none of them equals it. */
export function bodyVariants(body: Buffer): readonly BodyVariant[] {
  const text = body.toString('utf8');
  const variants: BodyVariant[] = [];
  const add = (change: string, variant: Buffer | string | null) => {
    if (variant === null) return;
    const bytes = Buffer.from(variant);
    if (!bytes.equals(body) && !variants.some((known) => known.body.equals(bytes)))
      variants.push({ change, body: bytes });
  };
  add('a line end was added to it', text.replace(/[\r\n]+$/, ''));
  add('a line end was taken off it', `${text}\n`);
  add('a line end was taken off it', `${text}\r\n`);
  add('its line ends were changed to CRLF', text.replaceAll('\r\n', '\n'));
  add('its line ends were changed to LF', text.replaceAll(/\r?\n/g, '\r\n'));
  add('a byte order mark was put before it', text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : null);
  add('space around it was cut off or added', text.trim());
  add('its JSON was parsed and written again', rewritten(text));
  add('it was read as Latin-1 and written as UTF-8', isLatin1(text) ? Buffer.from(text, 'latin1') : null);
  add('it was wrapped in a JSON string', jsonString(text));
  add('it was encoded as base64', /^[A-Za-z0-9+/]+=*\s*$/.test(text) ? Buffer.from(text, 'base64') : null);
  return variants;
}

/**
 * The JSON as the service writes it: without space, the envelope's two parts in their order. The order inside the
 * payload is lost where a program has sorted it.
 */
function rewritten(text: string): string | null {
  const parsed = parse(text);
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
  const parsed = parse(text);
  return typeof parsed === 'string' ? parsed : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isLatin1 = (text: string): boolean => [...text].every((character) => character.charCodeAt(0) < 256);

/** Whether the text is JSON, but not as the service writes it: then something has written it again. */
export function looksRewritten(body: Buffer): boolean {
  const text = body.toString('utf8');
  const again = rewritten(text);
  return again !== null && again !== text;
}
