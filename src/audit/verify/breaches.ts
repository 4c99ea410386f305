/** Collects breaches, and separates independent ones from those that only follow from another. */
import type { Breach } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import type { Scratch } from './scratch.ts';

/** A breach as it is reported. */
export interface FoundBreach extends Breach {
  /** The breach that this one follows from, in words; null for a breach of its own. */
  readonly followsFrom: string | null;
}

type Row = Omit<FoundBreach, 'followsFrom'> & { readonly follows_from: string | null };

export class Breaches {
  readonly #insert;
  readonly #drop;
  readonly #dropUnprovable;
  readonly #all;
  readonly #counts;
  readonly #addUnprovable;
  readonly #unprovable;

  constructor({ database }: Scratch) {
    this.#insert = database.prepare(
      `INSERT INTO breaches (rule, stream, revision, position, expected, found, source, follows_from)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#drop = database.prepare('DELETE FROM breaches WHERE source = ?');
    this.#dropUnprovable = database.prepare('DELETE FROM unprovable WHERE source = ?');
    this.#all = database.prepare<[], Row>(
      `SELECT rule, stream, revision, position, expected, found, follows_from FROM breaches
       ORDER BY position IS NULL, position, id`,
    );
    this.#counts = database.prepare<[], { rule: RuleName; own: number; following: number }>(
      `SELECT rule, sum(follows_from IS NULL) AS own, sum(follows_from IS NOT NULL) AS following
       FROM breaches GROUP BY rule ORDER BY rule`,
    );
    this.#addUnprovable = database.prepare(
      `INSERT INTO unprovable (source, rule, count) VALUES (?, ?, ?)
       ON CONFLICT (source, rule) DO UPDATE SET count = count + excluded.count`,
    );
    this.#unprovable = database.prepare<[], { rule: RuleName; count: number }>(
      'SELECT rule, sum(count) AS count FROM unprovable GROUP BY rule ORDER BY rule',
    );
  }

  /** @param source what a later run judges again; empty if nothing can change the judgement */
  add(
    { rule, stream, revision, position, expected, found }: Breach,
    source = '',
    followsFrom: string | null = null,
  ): void {
    this.#insert.run(rule, stream, revision, position, expected, found, source, followsFrom);
  }

  addUnprovable(rule: RuleName, count = 1, source = ''): void {
    if (count > 0) this.#addUnprovable.run(source, rule, count);
  }

  /** Forgets what was found from a source before it is judged again. */
  forget(source: string): void {
    this.#drop.run(source);
    this.#dropUnprovable.run(source);
  }

  /** In the order of the log; those without a position last. */
  *all(): Iterable<FoundBreach> {
    for (const { follows_from: followsFrom, ...breach } of this.#all.iterate()) yield { ...breach, followsFrom };
  }

  /** How many breaches of their own, and how many that follow from others, by rule. */
  counts(): readonly { readonly rule: RuleName; readonly own: number; readonly following: number }[] {
    return this.#counts.all();
  }

  unprovable(): readonly { readonly rule: RuleName; readonly count: number }[] {
    return this.#unprovable.all();
  }
}
