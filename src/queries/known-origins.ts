/** The origins of callbacks that are known: something was sent to them, or they are paused. */
import { DELIVERIES } from '../projections/deliveries.ts';
import type { ReadStore } from '../storage/read-store.ts';
import { pausedHosts } from './operator-acts.ts';

/** A host with more ports than this is not one receiver. */
const MOST_ORIGINS = 100;
const SCHEMES = ['https', 'http'] as const;

type Store = Pick<ReadStore, 'find' | 'tally'>;

export async function isKnownOrigin(readStore: Store, origin: string): Promise<boolean> {
  const paused = await pausedHosts(readStore);
  if (paused.has(origin)) return true;
  const range = { field: 'origin', from: origin, upTo: origin };
  return (await readStore.tally({ collection: DELIVERIES, by: 'origin', range, limit: 1 })).length > 0;
}

/** Those of a host, whatever their port. @param host with a port, only origins with that port match */
export async function originsOfHost(readStore: Store, host: string): Promise<readonly string[]> {
  const found = new Set<string>();
  const matches = (origin: string, scheme: string): boolean =>
    origin === `${scheme}://${host}` || origin.startsWith(`${scheme}://${host}:`);
  const paused = await pausedHosts(readStore);
  for (const scheme of SCHEMES) {
    for (const origin of paused.keys()) if (matches(origin, scheme)) found.add(origin);
    // Ports follow a colon, and `;` is the character after it.
    const range = { field: 'origin', from: `${scheme}://${host}`, below: `${scheme}://${host};` };
    for (const { value } of await readStore.tally({
      collection: DELIVERIES,
      by: 'origin',
      range,
      limit: MOST_ORIGINS,
    })) {
      if (matches(value, scheme)) found.add(value);
    }
  }
  return [...found].sort();
}
