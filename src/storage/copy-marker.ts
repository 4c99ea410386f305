/**
 * A cell that says that a storage is being filled by a copy, or was left by one. Until it is complete, or after it was
 * left, no service may use the storage (docs/design/operations.md#restore).
 */
import type { ReadStore } from './read-store.ts';
import { StorageFailure } from './storage-failure.ts';

export const COPY_MARKER = 'copy';

export type CopyMarker =
  /** `done` counts the portions of content that are complete. */
  | { readonly state: 'receiving'; readonly id: string; readonly done: number }
  | { readonly state: 'received'; readonly id: string }
  | { readonly state: 'leaving'; readonly id: string }
  | { readonly state: 'left'; readonly id: string }
  /** A copy from here was given up. */
  | { readonly state: 'stayed' };

type Cells = Pick<ReadStore, 'cell'>;

export async function readCopyMarker(cells: Cells): Promise<CopyMarker | null> {
  return (await cells.cell(COPY_MARKER)).value as CopyMarker | null;
}

/** @returns false if another process changed it since it was read */
export async function writeCopyMarker(
  cells: Pick<ReadStore, 'cell' | 'compareAndSet'>,
  marker: CopyMarker,
): Promise<boolean> {
  const { version } = await cells.cell(COPY_MARKER);
  return cells.compareAndSet(COPY_MARKER, version, { ...marker });
}

/** @throws StorageFailure if a copy into this storage is not complete, or the log was moved elsewhere */
export async function assertNotMidCopy(cells: Cells): Promise<void> {
  const marker = await readCopyMarker(cells);
  if (marker?.state === 'receiving') {
    throw new StorageFailure('copy_unfinished', 'a restore or a migration into this storage has not ended');
  }
  if (marker?.state === 'leaving' || marker?.state === 'left') {
    throw new StorageFailure('log_moved', 'docket migrate has moved this log, or is moving it, to other engines');
  }
}
