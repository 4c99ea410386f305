/** Names of sources that push dockets. The name marks what they bring, so it must not pass for another source. */

import { LiveSourceName } from '../events/source.ts';

const NAME = /^[a-z][a-z0-9-]{1,31}$/;

/** Names of this service's own sources, and words that mean something else where a source is named. */
const RESERVED: ReadonlySet<string> = new Set<string>([
  ...LiveSourceName.options,
  'file',
  'files',
  'import',
  'imported',
  'push',
  'recovery',
  'sandbox',
  'source',
  'none',
  'null',
  'all',
  'docket',
  'unknown',
]);

/** Why a name cannot be used; null if it can. */
export function sourceNameFault(name: string): string | null {
  if (RESERVED.has(name)) return `${name} is a reserved name`;
  if (NAME.test(name)) return null;
  return 'a name has 2 to 32 characters: lower-case letters, digits and hyphens, and begins with a letter';
}
