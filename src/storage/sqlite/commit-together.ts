/** One transaction for many pieces of work: all or none, except those that fail individually. */
import { asStorageFailure, type SqliteFile } from './sqlite-file.ts';

/** A piece of work rejects itself by throwing *before* its first write; the others are then not affected. */
export class AppendRejected extends Error {
  constructor(readonly reason: Error) {
    super('refused', { cause: reason });
    this.name = 'AppendRejected';
  }
}

/** The outcome of one piece of work: with a value it is on disk, with an error none of it is. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs all work in one transaction and returns each outcome once it is on disk. Never throws. If one piece fails after
 * it may have written, the transaction is rolled back, that piece fails alone, and the others run again.
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
            if (error instanceof AppendRejected) return { error: error.reason };
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
