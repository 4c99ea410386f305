/** Which master keys this node needs to sign for every wallet, from the read model, so that it is cheap to check. */
import { SIGNING_KEYS, type SigningKeysRecord } from '../projections/signing-keys.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** Master key versions of current signing keys that are not among the given ones. */
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
