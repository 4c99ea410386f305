/** Content that is replaced by record, and then removed from the payload store. */
import { ContentRedacted } from '../../events/content.ts';
import type { EventOf } from '../../events/event.ts';
import type { BlobName, PayloadStore } from '../../storage/payload-store.ts';
import type { Decider } from '../decider.ts';

/** What a content was replaced by, one after the other; null where by nothing. */
export type Replacements = readonly (BlobName | null)[];

export type Redaction = EventOf<typeof ContentRedacted>['data'];

export interface Redact {
  readonly type: 'Redact';
  readonly redaction: Redaction;
}

/** The stream of one content: it may be replaced again and again. */
export const redactions: Decider<Replacements, Redact, EventOf<typeof ContentRedacted>> = {
  initialState: [],
  decide: (_replacements, { redaction }) => [ContentRedacted.of(redaction)],
  evolve: (replacements, { data }) => [...replacements, data.replacement],
};

/**
 * Removes what the recorded redactions replaced: the content itself, and the replacements of all but the last. Each of
 * them comes to refer to the last one in one step, and a reference that is there is never moved: a node that read the
 * log earlier does no harm. Whether there was anything to remove.
 */
export async function finishRedaction(
  payloads: PayloadStore,
  name: BlobName,
  replacements: Replacements,
): Promise<boolean> {
  const last = replacements.at(-1);
  if (last === undefined) return false;
  const replaced = [name, ...replacements.slice(0, -1)].filter((one): one is BlobName => one !== null && one !== last);
  const found = await payloads.resolve(replaced);
  const own = replaced.filter((one) => found.get(one)?.replaced === false);
  // A store that was restored without the replacement holds the only copy.
  if (own.length === 0 || (last !== null && (await payloads.get(last)) === null)) return false;
  for (const one of own) await payloads.remove(one, last ?? undefined);
  return true;
}
