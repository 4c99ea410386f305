/** Resolves many blobs at once, so that a damaged one does not block the others. */
import { type BlobName, CorruptPayload, type PayloadStore, type ResolvedPayload } from './payload-store.ts';

export interface IntactPayloads {
  /** As `PayloadStore.resolve` gives them. */
  readonly found: ReadonlyMap<BlobName, ResolvedPayload>;
  /** Names whose stored bytes no longer match them. */
  readonly damaged: ReadonlySet<BlobName>;
}

/** Resolves names to content, and returns damaged ones separately instead of throwing. */
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
      // Not `error.blob`, which may be the blob that replaced this one.
      damaged.add(name);
    }
  }
  return { found, damaged };
}
