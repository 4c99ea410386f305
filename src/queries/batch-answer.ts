/** Answers many case queries at once, within the memory that a few of the largest need. */
import { isProblem, type Problem } from '../errors.ts';
import { nextTurn } from '../runtime/next-turn.ts';
import { MAX_RESULT_BYTES } from './case-answer.ts';

/**
 * Most bytes of all results of a batch: what is built from them, compressed or not, still fits into one document of
 * every store. A batch of up to six queries never reaches the limit; larger ones only if most of their answers are large.
 */
export const MAX_BATCH_BYTES = 12 * 1024 * 1024;

/** Queries that are answered at the same time. */
const AT_ONCE = 8;

/** One answered query as text: its parts are released before the next one is read. */
export interface WrittenAnswer {
  readonly text: string;
  readonly bytes: number;
  /** Whether it was truncated to fit. */
  readonly truncated: boolean;
}

/**
 * Answers all queries in order. Each may fill its share. Space that small answers leave is then given to large ones, in
 * order, up to the size limit of a single answer.
 * @param answer answers one query within the given number of bytes
 * @throws the signal's reason once it is aborted, and what `answer` throws
 */
export async function answerBatch<Query, Written extends WrittenAnswer>(
  queries: readonly Query[],
  answer: (query: Query, maxBytes: number) => Promise<Written | Problem>,
  signal: AbortSignal,
): Promise<readonly (Written | Problem)[]> {
  const share = Math.min(MAX_RESULT_BYTES, Math.floor(MAX_BATCH_BYTES / Math.max(1, queries.length)));
  const answers = await mapAtOnce(queries, async (query) => {
    // Without a pause, the batch would block other requests, and hide that its caller has disconnected.
    await nextTurn();
    signal.throwIfAborted();
    return answer(query, share);
  });
  let left = MAX_BATCH_BYTES - answers.reduce((sum, each) => sum + (isProblem(each) ? 0 : each.bytes), 0);
  for (const [index, query] of queries.entries()) {
    const cut = answers[index];
    if (share === MAX_RESULT_BYTES || cut === undefined || isProblem(cut) || !cut.truncated) continue;
    const room = Math.min(MAX_RESULT_BYTES, left + cut.bytes);
    if (room <= share) continue;
    await nextTurn();
    signal.throwIfAborted();
    const larger = await answer(query, room);
    // The shorter answer is kept, so it does not matter that the case cannot be read just now.
    if (isProblem(larger)) continue;
    answers[index] = larger;
    left += cut.bytes - larger.bytes;
  }
  return answers;
}

/** Maps in order, a few at a time. Starts nothing more after a failure. */
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
