/**
 * Log lines that anyone can cause for free. The first of each kind in ten seconds are written, and a summary says how
 * many more there were, so that no load floods the log.
 */
import type { BaseLogger } from 'pino';

/** Lines that are written for each kind in each window. */
export const LINES_PER_WINDOW = 5;
export const WINDOW_MS = 10_000;
/** Maximum kinds in one window. Kinds come from fixed lists, so this only bounds memory and is not reached. */
const MOST_KINDS = 1_000;

export interface SampledLines {
  /** @param kind how lines are counted, and the fields of their summary */
  write(kind: Readonly<Record<string, string | number | undefined>>, line: object): void;
  /** Writes the summaries that are due. */
  flush(): void;
}

/** @param message of a line; a summary has its plural */
export function sampledLines(logger: Pick<BaseLogger, 'info'>, message: string): SampledLines {
  const counts = new Map<string, { kind: object; count: number }>();
  let window: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(window);
    window = undefined;
    for (const { count, kind } of counts.values()) {
      if (count > LINES_PER_WINDOW) {
        logger.info({ ...kind, count, unlisted: count - LINES_PER_WINDOW }, `${message}s`);
      }
    }
    counts.clear();
  };
  return {
    flush,
    write(kind, line) {
      window ??= setTimeout(flush, WINDOW_MS).unref();
      const key = Object.values(kind).join(' ');
      let known = counts.get(key);
      if (!known && counts.size < MOST_KINDS) {
        known = { kind, count: 0 };
        counts.set(key, known);
      }
      if (known && ++known.count <= LINES_PER_WINDOW) logger.info(line, message);
    },
  };
}
