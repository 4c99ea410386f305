/** Content that the log records as replaced, removed from the payload store. */
import { decodeEvent } from '../../events/codec.ts';
import type { ContentRedacted } from '../../events/content.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { BlobName, PayloadStore } from '../../storage/payload-store.ts';

/**
 * Removes what the recorded redactions replaced: the content itself, and the replacements of all but the last. Each of
 * them comes to refer to the last one in one step, and a reference that is there is never moved: a node that read the
 * log earlier does no harm. Whether there was anything to remove.
 */
export async function finishRedaction(
  payloads: PayloadStore,
  name: BlobName,
  history: readonly RecordedEvent[],
): Promise<boolean> {
  const replacements = history.map(
    (recorded) => (decodeEvent(recorded) as ReturnType<typeof ContentRedacted.of>).data.replacement,
  );
  const last = replacements.pop();
  if (last === undefined) return false;
  const replaced = [name, ...replacements].filter((one): one is BlobName => one !== null && one !== last);
  const found = await payloads.resolve(replaced);
  const own = replaced.filter((one) => found.get(one)?.replaced === false);
  // A store that was restored without the replacement holds the only copy.
  if (own.length === 0 || (last !== null && (await payloads.get(last)) === null)) return false;
  for (const one of own) await payloads.remove(one, last ?? undefined);
  return true;
}
