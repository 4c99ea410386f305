/**
 * The SQLite driver; no other file imports better-sqlite3. No version runs on every supported Node: 12 aborts from
 * Node 24.19 on (`node::ObjectWrap`), and 13 needs Node-API 10, without which its first call crashes Node.
 */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

export type Database = BetterSqlite3.Database;
export type Statement<Parameters extends unknown[] = unknown[], Row = unknown> = BetterSqlite3.Statement<
  Parameters,
  Row
>;

/**
 * The package that holds the driver.
 * @param nodeApi the Node-API version of the running Node: 9 in line 20 and up to 22.13, 10 from 22.14 on
 */
export const driverPackage = (nodeApi: number): string => (nodeApi >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20');

// Loaded synchronously with require: the other package may be missing, and must not be loaded if it is present.
export const Database: typeof BetterSqlite3 = createRequire(import.meta.url)(
  driverPackage(Number(process.versions.napi)),
);
