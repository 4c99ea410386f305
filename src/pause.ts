import { setTimeout as delay } from 'node:timers/promises';

/** Waits, at most until the signal: to be told is no error. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (!signal?.aborted) await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
