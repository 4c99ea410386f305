/** Converts a `Find` to a MongoDB filter and sort. Pure. */
import type { Filter, Sort } from 'mongodb';
import type { Json, JsonObject } from '../../events/event.ts';
import type { FieldRange, Find, Scalar } from '../read-store.ts';

/**
 * A document as it is stored. Its JSON is kept as text, so that it comes back exactly as it was written, whatever its
 * keys. The searchable fields are stored next to it as MongoDB fields.
 */
export interface StoredDocument {
  readonly _id: string;
  readonly position: string;
  /** False for a tombstone. */
  readonly live: boolean;
  readonly json: string | null;
  readonly fields: Readonly<Record<string, Scalar>>;
}

const FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * The driver treats an object with this key as a BSON type: a caller that could choose the key could corrupt a write.
 */
const MEANT_FOR_THE_DRIVER = '_bsontype';
/** Longer texts are content, not search keys. */
const LONGEST_TEXT = 1024;

/** The top-level fields of a document that can be searched. */
export function searchableFields(document: JsonObject): Record<string, Scalar> {
  return Object.fromEntries(
    Object.entries(document).filter(
      (entry): entry is [string, Scalar] => isField(entry[0]) && isScalar(entry[1]) && !isTooLong(entry[1]),
    ),
  );
}

const isField = (name: string): boolean => FIELD.test(name) && name !== MEANT_FOR_THE_DRIVER;
const isScalar = (value: Json | undefined): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);
const isTooLong = (value: unknown): boolean => typeof value === 'string' && value.length > LONGEST_TEXT;

/** The path of a field. @throws RangeError for a name that is not a plain identifier */
export function fieldPath(field: string): string {
  if (!isField(field)) throw new RangeError(`not a field that can be searched: ${field}`);
  return `fields.${field}`;
}

type Condition = Filter<StoredDocument>;

export function matching({ equals = {}, range }: Pick<Find, 'equals' | 'range'>): Condition {
  const conditions: Condition[] = [{ live: true }];
  for (const [field, value] of Object.entries(equals)) conditions.push({ [fieldPath(field)]: searchable(value) });
  const bounds = range && boundsOf(range);
  if (range && bounds) conditions.push({ [fieldPath(range.field)]: bounds });
  return { $and: conditions };
}

/** MongoDB compares a bound only with values of its own type, as the port requires. */
function boundsOf({ above, from, upTo, below }: FieldRange): Record<string, Scalar> | null {
  const bounds: Record<string, Scalar> = {};
  if (above !== undefined) bounds.$gt = searchable(above);
  if (from !== undefined) bounds.$gte = searchable(from);
  if (upTo !== undefined) bounds.$lte = searchable(upTo);
  if (below !== undefined) bounds.$lt = searchable(below);
  return Object.keys(bounds).length > 0 ? bounds : null;
}

function searchable<Value extends Scalar>(value: Value): Value {
  if (isTooLong(value)) throw new RangeError(`search texts are limited to ${LONGEST_TEXT} characters`);
  return value;
}

export function findFilter(query: Find): Condition {
  const conditions = [matching(query)];
  const behind = continuation(query);
  if (behind) conditions.push(behind);
  return { $and: conditions };
}

export function findSort({ order }: Pick<Find, 'order'>): Sort {
  const direction = order?.direction === 'descending' ? -1 : 1;
  return order ? { [fieldPath(order.field)]: direction, _id: direction } : { _id: 1 };
}

/**
 * Matches what follows the last document of a page. Numbers sort before texts, and documents without the field before
 * both.
 */
function continuation({ order, after }: Find): Condition | null {
  if (!after) return null;
  const descending = order?.direction === 'descending';
  const behindId = { _id: descending ? { $lt: after.id } : { $gt: after.id } };
  if (!order) return behindId;
  const field = fieldPath(order.field);
  const { value } = after;
  if (value === undefined) {
    const sameLack = { $and: [{ [field]: null }, behindId] };
    return descending ? sameLack : { $or: [sameLack, { [field]: { $ne: null } }] };
  }
  const sameValue = { $and: [{ [field]: value }, behindId] };
  const beyond = { [field]: descending ? { $lt: value } : { $gt: value } };
  const isText = typeof value === 'string';
  if (!descending) return { $or: [beyond, sameValue, ...(isText ? [] : [{ [field]: { $gte: '' } }])] };
  return {
    $or: [beyond, sameValue, { [field]: null }, ...(isText ? [{ [field]: { $type: 'number' as const } }] : [])],
  };
}
