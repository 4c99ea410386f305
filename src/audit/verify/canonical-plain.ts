/**
 * `canonicalJson` for what was read from a plain text, as nearly all events are: nothing in it needs escaping, and its
 * members come in one of a few orders. An audit makes the canonical text of millions of events.
 */
import { canonicalJson, TOO_DEEP } from '../../events/canonical-json.ts';
import type { Json, JsonObject } from '../../events/event.ts';

/** Printable ASCII without a quotation mark or a backslash. */
const PLAIN_VALUE = /^[ !#-[\]-~]*$/;

/** The canonical text of a text. */
export const canonicalText = (text: string): string => (PLAIN_VALUE.test(text) ? `"${text}"` : canonicalJson(text));

/** Printable ASCII without a backslash, so that no text inside it has an escaped character or a quotation mark. */
const PLAIN = /^[ -[\]-~]*$/;
const DEEPEST = 200;

/**
 * The canonical text of an object.
 * @param text that it was read from
 * @throws RangeError if it is too deep
 */
export const canonicalOf = (object: JsonObject, text: string): string =>
  PLAIN.test(text) ? canonicalPlain(object, DEEPEST) : canonicalJson(object);

function canonicalPlain(value: Json, levels: number): string {
  if (typeof value === 'string') return `"${value}"`;
  if (value === null) return 'null';
  if (typeof value !== 'object') return Number.isSafeInteger(value) ? `${value}` : JSON.stringify(value);
  if (levels === 0) throw new RangeError(TOO_DEEP);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalPlain(item, levels - 1)}`;
    return `[${text}]`;
  }
  const object = value as JsonObject;
  const { sorted, begins } = orderOf(Object.keys(object));
  for (let at = 0; at < sorted.length; at++) {
    text += begins[at] + canonicalPlain(object[sorted[at] as string] as Json, levels - 1);
  }
  return `{${text}}`;
}

interface Order {
  readonly names: readonly string[];
  readonly sorted: readonly string[];
  /** What stands before each value. */
  readonly begins: readonly string[];
}

/** Known orders by their first name. A log with more of them is not one of this service, and is judged all the same. */
const orders = new Map<string, Order[]>();
const MOST_FIRST = 256;
const MOST_ORDERS = 16;
const EMPTY: Order = { names: [], sorted: [], begins: [] };

function orderOf(names: readonly string[]): Order {
  const [first] = names;
  if (first === undefined) return EMPTY;
  const known = orders.get(first);
  if (known) for (const order of known) if (isSame(order.names, names)) return order;
  const sorted = [...names].sort();
  const order = { names, sorted, begins: sorted.map((name, at) => `${at === 0 ? '' : ','}"${name}":`) };
  if (known && known.length < MOST_ORDERS) known.push(order);
  else if (!known && orders.size < MOST_FIRST) orders.set(first, [order]);
  return order;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
