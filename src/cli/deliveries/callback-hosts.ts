/** How commands name the host of callbacks: as scheme, host and port, or as the host alone. */

import { isKnownOrigin, originsOfHost } from '../../queries/known-origins.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { CliError, EXIT } from '../command.ts';

const FIND = 'Find hosts with docket hosts list.';
/** A host has at most 253 characters. */
const LONGEST_NAME = 300;

type Store = Pick<ReadStore, 'find' | 'tally'>;

/** The origins that a name stands for, of those to which callbacks were sent. @throws CliError if there is none */
export async function originsOf(readStore: Store, name: string): Promise<readonly string[]> {
  const found = isOrigin(name) ? await known(readStore, originOf(name)) : await originsOfHost(readStore, hostOf(name));
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
  return (await isKnownOrigin(readStore, origin)) ? null : origin;
}

const known = async (readStore: Store, origin: string): Promise<readonly string[]> =>
  (await isKnownOrigin(readStore, origin)) ? [origin] : [];

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
