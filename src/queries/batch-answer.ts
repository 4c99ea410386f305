/** Many case queries answered at once, within the memory that a few of the largest would take. */
import { isProblem, type Problem } from '../errors.ts';
import { MAX_RESULT_BYTES } from './case-answer.ts';

/**
 * Most bytes of all results of one batch together: what is written from them still fits, compressed or not, into one
 * document of every store. A batch of up to six never meets it, and of more, only if most of them are large.
 */
export const MAX_BATCH_BYTES = 12 * 1024 * 1024;

/** Queries that are answered at once. */
const AT_ONCE = 8;

/** One answered query, written out: its parts are dropped before the next is read. */
export interface WrittenAnswer {
  readonly text: string;
  readonly bytes: number;
  /** Whether it was cut to fit. */
  readonly truncated: boolean;
}

/**
 * Answers all, in order. Each may fill its share; what the small ones leave, the large ones are given afterwards, in
 * order, up to the size of an answer that stands alone.
 * @param answer one query within so many bytes
 * @throws the signal's reason once it is aborted, and what `answer` throws
 */
export async function answerBatch<Query>(
  queries: readonly Query[],
  answer: (query: Query, maxBytes: number) => Promise<WrittenAnswer | Problem>,
  signal: AbortSignal,
): Promise<readonly (WrittenAnswer | Problem)[]> {
  const share = Math.min(MAX_RESULT_BYTES, Math.floor(MAX_BATCH_BYTES / Math.max(1, queries.length)));
  const answers = await mapAtOnce(queries, async (query) => {
    // One case after the other would hold up all other requests, and keep from us that the caller has gone.
    await afterOthers();
    signal.throwIfAborted();
    return answer(query, share);
  });
  let left = MAX_BATCH_BYTES - answers.reduce((sum, each) => sum + (isProblem(each) ? 0 : each.bytes), 0);
  for (const [index, query] of queries.entries()) {
    const cut = answers[index];
    if (share === MAX_RESULT_BYTES || cut === undefined || isProblem(cut) || !cut.truncated) continue;
    const room = Math.min(MAX_RESULT_BYTES, left + cut.bytes);
    if (room <= share) continue;
    await afterOthers();
    signal.throwIfAborted();
    const larger = await answer(query, room);
    // It was answered before, so a case that cannot be read just now takes nothing away.
    if (isProblem(larger)) continue;
    answers[index] = larger;
    left += cut.bytes - larger.bytes;
  }
  return answers;
}

/** Lets everything go first that waits for its turn of the event loop. */
const afterOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Maps in order, a few at a time. After a failure nothing more is begun. */
async function mapAtOnce<From, To>(values: readonly From[], map: (value: From) => Promise<To>): Promise<To[]> {
  const mapped = new Array<To>(values.length);
  const entries = values.entries();
  let failed = false;
  const work = async (): Promise<void> => {
    try {
      for (const [index, value] of entries) {
        if (failed) return;
        mapped[index] = await map(value);
      }
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, values.length) }, work));
  return mapped;
}
