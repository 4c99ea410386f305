/** Reads the parts of `MONGODB_URL` that this service needs; the driver reads the rest. No error repeats the URL. */

const DEFAULT_DATABASE = 'docket';
const SHAPE = /^(mongodb(?:\+srv)?):\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^/?]*))?(?:\?.*)?$/;

/** @throws RangeError that never quotes the URL */
function parts(url: string) {
  const [, scheme, user, hosts, database] = SHAPE.exec(url.trim()) ?? [];
  if (!scheme || !hosts) throw new RangeError('expected a connection string of MongoDB: mongodb://HOST:27017/NAME');
  return { scheme, user, hosts, database: database || DEFAULT_DATABASE };
}

export const isMongoUrl = (url: string): boolean => SHAPE.test(url.trim());

/** The database to use: the one that the URL names, or `docket`. */
export const databaseName = (url: string): string => parts(url).database;

/** The target of a URL, safe to display: no user, no password, no options. */
export function maskMongoUrl(url: string): string {
  const { scheme, user, hosts, database } = parts(url);
  return `${scheme}://${user === undefined ? '' : '(masked)@'}${hosts}/${database}`;
}
