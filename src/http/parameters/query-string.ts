/** The query string exactly as sent: nothing merged, dropped or guessed. */

export interface QueryValue {
  readonly text: string;
  /** Whether name and value are correctly percent-encoded UTF-8; if not, `text` is the raw text. */
  readonly wellFormed: boolean;
}

/** By name, in the order sent. A name that was sent twice has two values. */
export type Query = ReadonlyMap<string, readonly QueryValue[]>;

/** Reads the query of a request target. Never throws. */
export function readQuery(target: string): Query {
  const query = new Map<string, QueryValue[]>();
  for (const piece of rawQuery(target).split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const name = decoded(equals === -1 ? piece : piece.slice(0, equals));
    const value = decoded(equals === -1 ? '' : piece.slice(equals + 1));
    const values = query.get(name.text) ?? [];
    values.push({ text: value.text, wellFormed: name.wellFormed && value.wellFormed });
    query.set(name.text, values);
  }
  return query;
}

function rawQuery(target: string): string {
  const [beforeFragment = ''] = target.split('#', 1);
  const mark = beforeFragment.indexOf('?');
  return mark === -1 ? '' : beforeFragment.slice(mark + 1);
}

function decoded(text: string): QueryValue {
  try {
    return { text: decodeURIComponent(text.replaceAll('+', ' ')), wellFormed: true };
  } catch {
    return { text, wellFormed: false };
  }
}
