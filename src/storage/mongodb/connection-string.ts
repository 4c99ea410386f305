/** Reads `MONGODB_URL` as far as this service needs to know it; the driver reads the rest. No error repeats it. */

const DEFAULT_DATABASE = 'docket';
const SHAPE = /^(mongodb(?:\+srv)?):\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^/?]*))?(?:\?.*)?$/;

/** @throws RangeError without a word of what the URL holds */
function parts(url: string) {
  const [, scheme, user, hosts, database] = SHAPE.exec(url.trim()) ?? [];
  if (!scheme || !hosts) throw new RangeError('a connection string of MongoDB is expected: mongodb://HOST:27017/NAME');
  return { scheme, user, hosts, database: database || DEFAULT_DATABASE };
}

export const isMongoUrl = (url: string): boolean => SHAPE.test(url.trim());

/** The database to use: the one that the URL names, or `docket`. */
export const databaseName = (url: string): string => parts(url).database;

/** Where a URL leads, fit to be shown: no user, no password, no options. */
export function maskMongoUrl(url: string): string {
  const { scheme, user, hosts, database } = parts(url);
  return `${scheme}://${user === undefined ? '' : '(masked)@'}${hosts}/${database}`;
}
