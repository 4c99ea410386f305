/** A set of test vectors for `examples/verifier`: files, and what a verifier must say of each. */
import type { JsonObject } from '../../../src/events/event.ts';
import { signedNote, verifierKeyOf } from '../../../src/events/log-note.ts';
import { KEYS, LOG_ID, type LogWriter } from '../written-log.ts';

export interface ExpectedBreach {
  readonly rule: string;
  readonly stream: string | null;
  readonly revision: number | null;
}

export interface Vector {
  readonly file: string;
  readonly about: string;
  /** A head kept earlier: a file beside it. */
  readonly head?: string;
  /** A verifier key kept earlier. */
  readonly key?: string;
  readonly exit: 0 | 1 | 2;
  readonly breaches: readonly ExpectedBreach[];
}

export interface Vectors {
  readonly vectors: readonly Vector[];
  readonly files: ReadonlyMap<string, string>;
}

export type BreachParts = readonly [rule: string, stream: string | null, revision: number | null];
export type Kept = Pick<Vector, 'head' | 'key'>;

export class VectorSet implements Vectors {
  readonly vectors: Vector[] = [];
  readonly files = new Map<string, string>();

  add(
    file: string,
    about: string,
    text: string,
    exit: Vector['exit'],
    breaches: readonly BreachParts[] = [],
    kept: Kept = {},
  ): void {
    this.files.set(file, text);
    const listed = breaches.map(([rule, stream, revision]) => ({ rule, stream, revision }));
    this.vectors.push({ file, about, ...kept, exit, breaches: listed });
  }
}

export const keyOf = (version: number): string => verifierKeyOf(LOG_ID, KEYS[version - 1]?.publicKey ?? '');

/** A signed head of the first `size` events; of another root if one is given. */
export function noteOf(
  writer: LogWriter,
  size: number,
  version: number,
  root = writer.tree(size).root().toString('hex'),
): string {
  const key = KEYS[version - 1];
  if (!key) throw new Error(`there is no key ${version}`);
  const head = { size, root };
  return signedNote({ ...head, signature: key.signHead(head, LOG_ID) }, LOG_ID, key.publicKey);
}

/** One of a list that must be there. */
export function nth<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}

/** Changes members of an event's data. */
export const setData = (event: { data: JsonObject }, data: JsonObject): void => {
  event.data = { ...event.data, ...data };
};
