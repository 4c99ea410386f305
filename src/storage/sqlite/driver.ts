/**
 * The SQLite driver. No other file imports better-sqlite3.
 *
 * No single version runs on every Node that is supported. Version 12 derives from `node::ObjectWrap`, which aborts the
 * process from Node 24.19 on; version 13 is built on Node-API, and its first call crashes Node 20.
 */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

export type Database = BetterSqlite3.Database;
export type Statement<Parameters extends unknown[] = unknown[], Row = unknown> = BetterSqlite3.Statement<
  Parameters,
  Row
>;

/** The package that holds the driver for a version of Node, such as `20.19.0`. */
export const driverPackage = (nodeVersion: string): string =>
  Number.parseInt(nodeVersion, 10) >= 22 ? 'better-sqlite3' : 'better-sqlite3-node20';

// Loaded with require, at once: the other package is not installed, and must not be loaded where it is.
export const Database: typeof BetterSqlite3 = createRequire(import.meta.url)(driverPackage(process.versions.node));
