/**
 * Converts a `Find` to SQL that walks an expression index instead of the whole table. Pure text; the test runs EXPLAIN
 * on it.
 */
import type { CollectionSpec, Count, FieldRange, Find, Scalar, Tally } from '../read-store.ts';

export interface Query {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** The table of one generation of a collection, quoted. */
export const documentTable = (collection: string, generation: number): string =>
  `"${checkedName(collection)}@${checkedGeneration(generation)}"`;

/** Statements that create the table and its indexes if they are missing. Deleted documents are in no index. */
export function createTableSql({ name, indexes }: CollectionSpec, generation: number): readonly string[] {
  const table = documentTable(name, generation);
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (id TEXT NOT NULL UNIQUE, position TEXT NOT NULL, document TEXT) STRICT`,
    ...indexes.map((fields) => {
      const index = `"${name}@${generation}:${fields.map(checkedField).join(',')}"`;
      // The id comes last, so that documents with equal fields have a stable order for paging.
      const expressions = [...fields.map(fieldExpression), 'id'].join(', ');
      return `CREATE INDEX IF NOT EXISTS ${index} ON ${table} (${expressions}) WHERE document IS NOT NULL`;
    }),
  ];
}

/**
 * The statement for one part of the order. A descending page that goes past the last value of the order field continues
 * with the documents without that field: see `restWithoutField`.
 */
export function findSql(query: Find, generation: number): Query {
  const { order, limit } = query;
  const matched = matching(query);
  const continued = continuation(query);
  const direction = order?.direction === 'descending' ? 'DESC' : 'ASC';
  const ordering = order ? `${fieldExpression(order.field)} ${direction}, id ${direction}` : 'id';
  return {
    sql: `SELECT id, position, document FROM ${documentTable(query.collection, generation)}
          WHERE ${[matched.sql, ...continued.map(({ sql }) => sql)].join(' AND ')} ORDER BY ${ordering} LIMIT 0 + ?`,
    parameters: [...matched.parameters, ...continued.flatMap(({ parameters }) => parameters), limit],
  };
}

/**
 * The rest of a page after `found` documents of a descending order: those without the order field. It is a separate
 * statement, because one condition over both would walk the index from its top.
 */
export function restWithoutField(query: Find, found: number): Find | null {
  const { order, after, equals, range, limit } = query;
  if (order?.direction !== 'descending' || after?.value === undefined || found >= limit) return null;
  if (range?.field === order.field || (equals && order.field in equals)) return null;
  const { after: _, ...rest } = query;
  return { ...rest, equals: { ...equals, [order.field]: null }, limit: limit - found };
}

function continuation({ order, after }: Find): readonly Query[] {
  if (!after) return [];
  const beyond = order?.direction === 'descending' ? '<' : '>';
  const behindId = { sql: `id ${beyond} ?`, parameters: [after.id] };
  if (!order) return [behindId];
  const field = fieldExpression(order.field);
  const { value, id } = after;
  if (value !== undefined) {
    // The first half is where the index scan starts; the second skips what the page before has shown.
    const sql = `${field} ${beyond}= ? AND (${field} ${beyond} ? OR id ${beyond} ?)`;
    return [{ sql, parameters: [value, value, id] }];
  }
  if (order.direction === 'descending') return [{ sql: `${field} IS NULL`, parameters: [] }, behindId];
  return [{ sql: `(${field} IS NOT NULL OR id > ?)`, parameters: [id] }];
}

export function countSql(query: Count, generation: number): Query {
  const { sql, parameters } = matching(query);
  const from = `FROM ${documentTable(query.collection, generation)} WHERE ${sql}`;
  if (query.limit === undefined) return { sql: `SELECT count(*) ${from}`, parameters };
  return { sql: `SELECT count(*) FROM (SELECT 1 ${from} LIMIT 0 + ?)`, parameters: [...parameters, query.limit] };
}

export function tallySql(query: Tally, generation: number): Query {
  const { sql, parameters } = matching(query);
  const field = fieldExpression(query.by);
  return {
    sql: `SELECT ${field} AS value, count(*) AS counted FROM ${documentTable(query.collection, generation)}
          WHERE ${sql} AND ${field} >= '' GROUP BY value ORDER BY counted DESC, value LIMIT 0 + ?`,
    parameters: [...parameters, query.limit],
  };
}

function matching({ equals = {}, range }: Pick<Find, 'equals' | 'range'>): Query {
  const conditions = ['document IS NOT NULL'];
  const parameters: (string | number)[] = [];
  for (const [field, value] of Object.entries(equals)) {
    const condition = equality(field, value);
    conditions.push(condition.sql);
    parameters.push(...condition.parameters);
  }
  for (const bound of range ? boundsOf(range) : []) {
    conditions.push(`${fieldExpression(range?.field ?? '')} ${bound.operator} ?`);
    parameters.push(bound.value);
  }
  return { sql: conditions.join(' AND '), parameters };
}

function equality(field: string, value: Scalar): Query {
  const expression = fieldExpression(field);
  if (value === null) return { sql: `${expression} IS NULL`, parameters: [] };
  if (typeof value === 'string') return { sql: `${expression} = ?`, parameters: [value] };
  // SQLite extracts true as 1, so the type is also checked, for the rows that the index has found.
  const type = `json_type(document, '$.${checkedField(field)}')`;
  if (typeof value === 'number')
    return { sql: `${expression} = ? AND ${type} IN ('integer', 'real')`, parameters: [value] };
  return { sql: `${expression} = ? AND ${type} = ?`, parameters: [value ? 1 : 0, String(value)] };
}

interface Bound {
  readonly operator: '>' | '>=' | '<=' | '<';
  readonly value: string | number;
}

/**
 * A range of texts contains only texts, a range of numbers only numbers. In SQLite every number sorts before every
 * text.
 */
function boundsOf({ above, from, upTo, below }: FieldRange): readonly Bound[] {
  const bounds: Bound[] = [];
  const add = (operator: Bound['operator'], value: string | number | undefined) => {
    if (value !== undefined) bounds.push({ operator, value });
  };
  add('>', above);
  add('>=', from);
  add('<=', upTo);
  add('<', below);
  const isText = bounds.some(({ value }) => typeof value === 'string');
  const hasLower = above !== undefined || from !== undefined;
  const hasUpper = upTo !== undefined || below !== undefined;
  if (isText && !hasLower) add('>=', '');
  if (!isText && bounds.length > 0 && !hasUpper) add('<', '');
  return bounds;
}

const fieldExpression = (field: string): string => `json_extract(document, '$.${checkedField(field)}')`;

/** Names become part of the statement, so only plain identifiers are allowed. */
function checkedField(field: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(field)) throw new RangeError(`not a field that can be searched: ${field}`);
  return field;
}

function checkedName(collection: string): string {
  if (!/^[a-z][a-z0-9_-]*$/.test(collection)) throw new RangeError(`not a name for a collection: ${collection}`);
  return collection;
}

function checkedGeneration(generation: number): number {
  if (!Number.isSafeInteger(generation) || generation < 1) throw new RangeError(`not a generation: ${generation}`);
  return generation;
}
