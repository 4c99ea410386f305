/** The lease of who copies into a storage, or decides what becomes of such a copy. */
import type { Clock } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import { HeldLease } from '../storage/held-lease.ts';
import type { Storage } from '../storage/storage.ts';
import { CopyRefused, type Progress } from './refused.ts';

const LEASE = 'copy';
const LEASE_MS = 10_000;

export interface CopyLeaseOptions {
  readonly target: Pick<Storage, 'readStore'>;
  readonly clock: Clock;
  readonly owner: string;
  readonly onProgress: Progress;
}

/**
 * The lease of a copy that was killed first has to end, unless the engine sees that its process is gone.
 * @throws CopyRefused if another process copies
 */
export async function acquireCopyLease({ target, clock, owner, onProgress }: CopyLeaseOptions): Promise<HeldLease> {
  const options = { readStore: target.readStore, clock, owner, name: LEASE, durationMs: LEASE_MS };
  for (let waitedMs = 0; ; waitedMs += 1000) {
    const lease = await HeldLease.acquire(options);
    if (lease) return lease;
    if (waitedMs > LEASE_MS + 5000) throw anotherCopies();
    onProgress('seconds spent waiting for another copy to end', waitedMs / 1000, null);
    await pause(1000, undefined);
  }
}

export const anotherCopies = (): CopyRefused =>
  new CopyRefused('Another process copies into this storage.', 'Wait until it has ended.');
