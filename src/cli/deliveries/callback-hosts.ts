/** How commands name the host of callbacks: as scheme, host and port, or as the host alone. */

import { DELIVERIES } from '../../projections/deliveries.ts';
import { pausedHosts } from '../../queries/operator-acts.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { CliError, EXIT } from '../command.ts';

const FIND = 'Find hosts with docket hosts list.';
/** A host with more ports than this is not one receiver. */
const MOST_ORIGINS = 100;
/** A host has at most 253 characters. */
const LONGEST_NAME = 300;
const SCHEMES = ['https', 'http'] as const;

type Store = Pick<ReadStore, 'find' | 'tally'>;

/** The origins that a name stands for, of those to which callbacks were sent. @throws CliError if there is none */
export async function originsOf(readStore: Store, name: string): Promise<readonly string[]> {
  const found = isOrigin(name) ? await known(readStore, originOf(name)) : await knownOfHost(readStore, hostOf(name));
  if (found.length > 0) return found;
  throw new CliError(`No callback was ever sent to ${JSON.stringify(name)}.`, FIND, EXIT.found);
}

/** The one origin that a name stands for. @throws CliError if there is none, or several */
export async function oneOrigin(readStore: Store, name: string): Promise<string> {
  const [first, ...others] = await originsOf(readStore, name);
  if (first !== undefined && others.length === 0) return first;
  const all = [first, ...others].join(', ');
  throw new CliError(
    `${JSON.stringify(name)} is ambiguous: ${all}.`,
    'Name one of these, with its scheme.',
    EXIT.usage,
  );
}

/** A complete origin to which no callback was ever sent; null for any other name. @throws CliError if it is no origin */
export async function unseenOrigin(readStore: Store, name: string): Promise<string | null> {
  if (!isOrigin(name)) return null;
  const origin = originOf(name);
  return (await known(readStore, origin)).length === 0 ? origin : null;
}

const isOrigin = (name: string): boolean => /^[a-z]+:\/\//i.test(name);

function originOf(name: string): string {
  const url = parseUrl(name);
  const isPlain = name.length <= LONGEST_NAME && /^https?:\/\/[^\s/\\?#@]+\/?$/i.test(name);
  if (url && isPlain) return url.origin;
  throw new CliError(
    `${JSON.stringify(name)} is not a host of callbacks.`,
    'Give scheme, host and port without a path, such as https://receiver.example, or the host alone.',
  );
}

/** With a port, only origins with that port match. */
function hostOf(name: string): string {
  const url = /^[^\s/\\?#@]+$/.test(name) ? parseUrl(`https://${name}`) : null;
  if (url) return url.host;
  throw new CliError(
    `${JSON.stringify(name)} is not a host of callbacks.`,
    'Give a host, such as receiver.example, or scheme, host and port, such as https://receiver.example:8443.',
  );
}

async function known(readStore: Store, origin: string): Promise<readonly string[]> {
  const paused = await pausedHosts(readStore);
  if (paused.has(origin)) return [origin];
  const range = { field: 'origin', from: origin, upTo: origin };
  return (await readStore.tally({ collection: DELIVERIES, by: 'origin', range, limit: 1 })).map(({ value }) => value);
}

async function knownOfHost(readStore: Store, host: string): Promise<readonly string[]> {
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
