/**
 * Streams in which an event is broken or missing. Rules that are then not kept in such a stream, or in others that
 * depend on it, follow from that: one changed event is one breach.
 */
import type { Scratch } from './scratch.ts';

/** More are remembered, but no longer looked for in the facts of others. */
const MOST_SUBJECTS = 1000;
/** What a stream is named after, if it is long enough to identify it: a hash, an id, a wallet. */
const SUBJECT = /-([0-9A-Za-z]{32,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export class Taints {
  readonly #insert;
  readonly #subjects: string[];

  constructor({ database }: Scratch) {
    this.#insert = database.prepare('INSERT OR IGNORE INTO tainted (stream) VALUES (?)');
    this.#subjects = database
      .prepare<[], string>(`SELECT stream FROM tainted LIMIT ${MOST_SUBJECTS}`)
      .pluck()
      .all()
      .map(subjectOf);
  }

  add(stream: string): void {
    const { changes } = this.#insert.run(stream);
    if (changes > 0 && this.#subjects.length < MOST_SUBJECTS) this.#subjects.push(subjectOf(stream));
  }

  /** Whether a text, such as a key or the facts under it, mentions such a stream or what it is named after. */
  isIn(text: string): boolean {
    return this.#subjects.some((subject) => text.includes(subject));
  }
}

const subjectOf = (stream: string): string => SUBJECT.exec(stream)?.[1] ?? stream;
