/** When an answer from a read model that may be incomplete is certain: when no missing data could contradict it. */
import { type Problem, problem } from '../errors.ts';
import type { Freshness } from '../projections/freshness.ts';

/**
 * When a result is certain: always; only if the read model is not being built from scratch; or only if the model shows
 * everything that was recorded before the question came.
 */
export type Known = 'always' | 'once_built' | 'if_whole';

const RETRY_AFTER_SECONDS = 5;

/** The read model is behind, halted or being rebuilt. Nothing is charged. */
export const notYetShown = (): Problem =>
  problem(
    'service_unavailable',
    { component: 'read_store', retry_after: RETRY_AFTER_SECONDS },
    'The read model is behind the log, so this answer might be incomplete.',
  );

/**
 * Reads, and reads again if the first result is not certain and the model has had time to catch up.
 * @param read reads only the read model
 * @param whenKnown when the result is certain
 */
export async function readUntilKnown<Read>(
  freshness: Freshness,
  read: () => Promise<Read>,
  whenKnown: (read: Read) => Known,
): Promise<Read | Problem> {
  // As it was before the read: data that is built during the read need not have been part of it.
  const { wasBuilt } = freshness;
  const isKnown = (what: Read): boolean => {
    const when = whenKnown(what);
    return when === 'always' || (when === 'once_built' && wasBuilt);
  };
  const first = await read();
  if (isKnown(first)) return first;
  const isWhole = await freshness.showsEverything();
  const second = await read();
  return isWhole || isKnown(second) ? second : notYetShown();
}
