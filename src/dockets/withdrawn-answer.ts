/** Removes the texts of withdrawn filings from a stored answer. Pure. */
import type { Json, JsonObject } from '../events/event.ts';
import { parsedJson } from '../runtime/parsed-json.ts';

/** Fields that say that a filing exists, and nothing about its content. */
const PLACE: ReadonlySet<string> = new Set([
  'filing_id',
  'entry_number',
  'filed_at',
  'filed_at_precision',
  'entered_at',
  'available_at',
  'backfilled',
  'revised_at',
  'filing_type',
  'filing_types',
  'sealed',
]);

const NOTHING: Readonly<Record<string, Json>> = { description: '', document_identifier_type: 'none', attachments: [] };

/**
 * The answer with an entry for each withdrawn filing but none of its text; `meta.withdrawn_filings` lists them. Null if
 * the answer contains none of their texts. Of bytes that are no JSON and name one, nothing else is left.
 * @param bytes JSON of an answer of any endpoint and version
 */
export function withoutFilings(bytes: Buffer, filingIds: ReadonlySet<string>): Buffer | null {
  const named = [...filingIds].filter((filingId) => bytes.includes(filingId));
  if (named.length === 0) return null;
  const stored = parsedJson(bytes.toString('utf8')) as Json | undefined;
  if (stored === undefined) return Buffer.from(JSON.stringify({ meta: { withdrawn_filings: named } }));
  const withdrawn = new Set<string>();
  const answer = emptied(stored, filingIds, withdrawn);
  if (withdrawn.size === 0) return null;
  const { meta, ...body } = answer as { readonly meta?: JsonObject } & JsonObject;
  const before = (meta?.withdrawn_filings ?? []) as readonly string[];
  const all = [...new Set([...before, ...withdrawn])];
  return Buffer.from(JSON.stringify({ meta: { ...meta, withdrawn_filings: all }, ...body }));
}

/** @param withdrawn collects each filing whose text was present */
function emptied(value: Json, filingIds: ReadonlySet<string>, withdrawn: Set<string>): Json {
  if (Array.isArray(value)) return value.map((one) => emptied(one, filingIds, withdrawn));
  if (value === null || typeof value !== 'object') return value;
  const object = value as JsonObject;
  const { filing_id: id } = object;
  if (typeof id === 'string' && filingIds.has(id)) {
    const left = Object.entries(object).map(([key, held]) => [key, PLACE.has(key) ? held : (NOTHING[key] ?? null)]);
    const empty = Object.fromEntries(left) as JsonObject;
    if (JSON.stringify(empty) !== JSON.stringify(object)) withdrawn.add(id);
    return empty;
  }
  return Object.fromEntries(Object.entries(object).map(([key, held]) => [key, emptied(held, filingIds, withdrawn)]));
}
