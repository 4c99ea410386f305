/**
 * The SQLite driver. No other file imports better-sqlite3.
 *
 * No single version runs on every Node that is supported. Version 12 derives from `node::ObjectWrap`, which aborts the
 * process from Node 24.19 on. Version 13 needs Node-API 10, and its first call crashes a Node without it.
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
 * @param nodeApi the version of Node-API that the running Node has: 9 in line 20 and up to 22.13, 10 from 22.14 on
 */
export const driverPackage = (nodeApi: number): string => (nodeApi >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20');

// Loaded with require, at once: the other package is not installed, and must not be loaded where it is.
export const Database: typeof BetterSqlite3 = createRequire(import.meta.url)(
  driverPackage(Number(process.versions.napi)),
);
