import { setTimeout as delay } from 'node:timers/promises';

/** Waits, at most until the signal. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
