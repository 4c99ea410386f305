import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const NEEDED_MS = 60_000;

/** For tests of what is counted by the day: waits for the next day (UTC) if this one is about to end. */
export async function withinOneDay(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < NEEDED_MS) await sleep(left + 100);
}
