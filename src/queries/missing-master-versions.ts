/** Which master keys this node would need to sign for every wallet, by the read model: cheap enough to ask all the time. */
import { SIGNING_KEYS, type SigningKeysRecord } from '../projections/signing-keys.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** Versions of the master key that current signing keys were made with, and that are not among these. */
export async function missingMasterVersions(
  readStore: Pick<ReadStore, 'find'>,
  known: readonly number[],
): Promise<readonly number[]> {
  const ordered = [Number.NEGATIVE_INFINITY, ...known.toSorted((a, b) => a - b), Number.POSITIVE_INFINITY];
  const found = await Promise.all(
    ordered.slice(1).map(async (below, index) => {
      const above = ordered[index] ?? below;
      const [record] = await readStore.find<SigningKeysRecord>({
        collection: SIGNING_KEYS,
        range: {
          field: 'masterVersion',
          ...(Number.isFinite(above) && { above }),
          ...(Number.isFinite(below) && { below }),
        },
        limit: 1,
      });
      return record ? [record.document.masterVersion] : [];
    }),
  );
  return found.flat();
}
