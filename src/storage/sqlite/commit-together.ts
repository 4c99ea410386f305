/** One transaction for the work of many: all of them or none, but for those that fail by themselves. */
import { asStorageFailure, type SqliteFile } from './sqlite-file.ts';

/** A piece of work refuses itself by throwing *before* its first write; then the others are not touched by it. */
export class Refusal extends Error {
  constructor(readonly reason: Error) {
    super('refused', { cause: reason });
    this.name = 'Refusal';
  }
}

/** What became of one piece of work: with a value it is on disk, with an error nothing of it is. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs every work in one transaction and gives the outcome of each once that is on disk. Never throws. Where one work
 * fails after it may have written, the transaction is rolled back, that one fails alone, and the others go again.
 */
export async function commitTogether(file: SqliteFile, works: readonly (() => unknown)[]): Promise<readonly Outcome[]> {
  const failed = new Map<number, Outcome>();
  for (;;) {
    let failing: number | null = null;
    try {
      return await file.transaction(() =>
        works.map((work, index): Outcome => {
          const before = failed.get(index);
          if (before) return before;
          try {
            return { value: work() };
          } catch (error) {
            if (error instanceof Refusal) return { error: error.reason };
            failing = index;
            throw error;
          }
        }),
      );
    } catch (error) {
      const failure = asStorageFailure(error);
      if (failure || failing === null) return works.map((_, index) => failed.get(index) ?? { error: failure ?? error });
      failed.set(failing, { error });
    }
  }
}
