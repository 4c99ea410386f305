/** What may be said on the word of a read model that may lack something: nothing that what it lacks could belie. */
import { type Problem, problem } from '../errors.ts';
import type { Reach } from '../projections/reach.ts';

/**
 * When something that was read is the last word: whatever the read model lacks; only of a model that is not being made
 * from nothing; or only where the model shows everything that was recorded before the question came.
 */
export type Known = 'always' | 'once_built' | 'if_whole';

const RETRY_AFTER_SECONDS = 5;

/** The read model is behind, halted or made anew. Nothing is charged for it. */
export const notYetShown = (): Problem =>
  problem(
    'service_unavailable',
    { component: 'read_store', retry_after: RETRY_AFTER_SECONDS },
    'Not everything that is recorded can be shown yet, and this answer might lack it.',
  );

/**
 * Reads, and reads again where the first answer is not the last word and the model has had the time to become whole.
 * @param read of the read model alone
 * @param whenKnown when that which was read is the last word
 */
export async function readUntilKnown<Read>(
  reach: Reach,
  read: () => Promise<Read>,
  whenKnown: (read: Read) => Known,
): Promise<Read | Problem> {
  // As it was before the read: what is built while it goes on need not have been there for it.
  const { wasBuilt } = reach;
  const isKnown = (what: Read): boolean => {
    const when = whenKnown(what);
    return when === 'always' || (when === 'once_built' && wasBuilt);
  };
  const first = await read();
  if (isKnown(first)) return first;
  const isWhole = await reach.showsEverything();
  const second = await read();
  return isWhole || isKnown(second) ? second : notYetShown();
}
