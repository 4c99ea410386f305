/** Many blobs at once where a damaged one must not keep the others back. */
import { type BlobName, CorruptPayload, type PayloadStore, type ResolvedPayload } from './payload-store.ts';

export interface IntactPayloads {
  /** As `PayloadStore.resolve` gives them. */
  readonly found: ReadonlyMap<BlobName, ResolvedPayload>;
  /** Those whose stored bytes no longer match their name. */
  readonly damaged: ReadonlySet<BlobName>;
}

/** What stands under names, with what is damaged told apart rather than thrown for. */
export async function resolveIntact(
  payloads: Pick<PayloadStore, 'resolve'>,
  names: readonly BlobName[],
): Promise<IntactPayloads> {
  try {
    return { found: await payloads.resolve(names), damaged: new Set() };
  } catch (error) {
    if (!(error instanceof CorruptPayload)) throw error;
  }
  const found = new Map<BlobName, ResolvedPayload>();
  const damaged = new Set<BlobName>();
  for (const name of names) {
    try {
      const one = (await payloads.resolve([name])).get(name);
      if (one) found.set(name, one);
    } catch (error) {
      if (!(error instanceof CorruptPayload)) throw error;
      // Not `error.blob`: it may be what stands in the place of this one.
      damaged.add(name);
    }
  }
  return { found, damaged };
}
