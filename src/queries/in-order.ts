/** Walks along an index of a collection, however many documents it has and however many of them are equal. */
import type { FieldRange, Find, ReadStore, Scalar, Stored } from '../storage/read-store.ts';

interface Walk {
  readonly collection: string;
  readonly equals?: Readonly<Record<string, Scalar>>;
  /** Of the field that gives the order. */
  readonly range?: FieldRange;
  /** A field that each document has, with a text; equal ones are by id, ascending. */
  readonly order: NonNullable<Find['order']>;
}

/**
 * Pages by seeking to each. `Find.after` would not do: engines seek to the value, and walk over every document with that
 * value which earlier pages have shown. So documents with one value are read by id.
 */
export async function* inOrder<Document extends object>(
  store: Pick<ReadStore, 'find'>,
  { collection, equals = {}, range, order }: Walk,
  size: number,
): AsyncIterable<readonly Stored<Document>[]> {
  const { field, direction } = order;
  const textOf = ({ document }: Stored<Document>): string => String(document[field as keyof Document]);
  const compare = (one: Stored<Document>, other: Stored<Document>): number => {
    const [a, b] = [textOf(one), textOf(other)];
    if (a !== b) return a < b === (direction === 'ascending') ? -1 : 1;
    return one.id < other.id ? -1 : 1;
  };
  let rest = range;
  for (;;) {
    const page = await store.find<Document>({ collection, equals, ...(rest && { range: rest }), order, limit: size });
    const last = page.at(-1);
    if (!last || page.length < size) {
      yield page.toSorted(compare);
      return;
    }
    const value = textOf(last);
    yield page.filter((one) => textOf(one) !== value).toSorted(compare);
    let after: string | undefined;
    for (;;) {
      const same: readonly Stored<Document>[] = await store.find<Document>({
        ...{ collection, equals: { ...equals, [field]: value }, limit: size },
        ...(after !== undefined && { after: { id: after } }),
      });
      yield same;
      if (same.length < size) break;
      after = same.at(-1)?.id;
    }
    rest = beyond(value, order, range);
  }
}

/** One bound on the side where the walk continues: an engine seeks to one of two. */
function beyond(value: string, { field, direction }: Walk['order'], range: FieldRange | undefined): FieldRange {
  if (direction === 'ascending') {
    const { above: _, from: __, ...upper } = range ?? {};
    return { ...upper, field, above: value };
  }
  const { below: _, upTo: __, ...lower } = range ?? {};
  return { ...lower, field, below: value };
}
