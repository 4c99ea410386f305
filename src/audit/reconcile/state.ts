/**
 * What a reconciliation has read so far, in a SQLite file: a killed run continues from its last batch, and memory does not
 * grow with the log. Everything in it can be read again from log and chain.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LandedTransaction } from '../../solana/chain-history.ts';
import type { Database, Statement } from '../../storage/sqlite/driver.ts';
import { openDatabase, openTemporary, openUnchanged } from '../../storage/sqlite/open-database.ts';
import type { Landed } from './judge.ts';
import type { LoggedPayment } from './logged-payment.ts';
import {
  APPLICATION_ID,
  type Listing,
  type Outcome,
  type PaymentRow,
  packed,
  type RawSignature,
  rowOf,
  SCHEMA,
  type SignatureRow,
  type UnlistedPayment,
  VERSION,
} from './state-rows.ts';

/** The file is not one of this command, or of another log. */
export class StateUnusable extends Error {
  readonly code = 'reconcile_state_unusable';
  /** @param isChanged whether the log itself is another than it was */
  constructor(
    problem: string,
    readonly isChanged = false,
  ) {
    super(problem);
    this.name = 'StateUnusable';
  }
}

/** Looks at a file before anything is changed in it: it may be the database of another program. */
function assertOwn(path: string): void {
  // A folder that does not exist is most likely mistyped.
  if (!existsSync(dirname(path))) throw new StateUnusable(`there is no folder ${dirname(path)}`);
  if (!existsSync(path)) return;
  if (!statSync(path).isFile()) throw new StateUnusable('it is not a file');
  const database = openUnchanged(path);
  try {
    const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number };
    // Created, but never written.
    if (tables.count === 0) return;
    const version = database.pragma('user_version', { simple: true });
    if (database.pragma('application_id', { simple: true }) !== APPLICATION_ID)
      throw new StateUnusable('the file was not written by docket audit reconcile');
    if (version !== VERSION) throw new StateUnusable(`the file has version ${version}, and this is version ${VERSION}`);
  } finally {
    database.close();
  }
}

function unusable(error: unknown): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return new StateUnusable(`it cannot be created or written: ${message}`);
  if (code === 'SQLITE_BUSY') return new StateUnusable('another process uses the file');
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
    return new StateUnusable('the file is not a database, or it is damaged');
  return error;
}

export class ReconcileState {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement<unknown[], unknown>>();

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param path null for a temporary file that is removed at the end
   * @throws StateUnusable if the file is another one, or in use
   */
  static open(path: string | null): ReconcileState {
    let database: Database | null = null;
    try {
      if (path !== null) assertOwn(path);
      // SQLite's name for a temporary database.
      database = path === null ? openTemporary() : openDatabase(path, 0);
      database.pragma('locking_mode = EXCLUSIVE');
      database.pragma('synchronous = NORMAL');
      database.exec('BEGIN IMMEDIATE');
      const tables = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number };
      if (tables.count === 0) database.exec(SCHEMA);
      database.exec('COMMIT');
      return new ReconcileState(database);
    } catch (error) {
      database?.close();
      throw unusable(error);
    }
  }

  close(): void {
    this.#database.close();
  }

  /** Runs an action whose writes are stored together or not at all. */
  together(act: () => void): void {
    this.#database.transaction(act)();
  }

  fact(name: string): string | null {
    return (this.#get('SELECT value FROM facts WHERE name = ?', name) as { value: string } | undefined)?.value ?? null;
  }

  setFact(name: string, value: string): void {
    this.#run('INSERT INTO facts VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', name, value);
  }

  payment(stream: string): LoggedPayment | null {
    const row = this.#get('SELECT content FROM payments WHERE stream = ?', stream) as { content: string } | undefined;
    return row ? JSON.parse(row.content) : null;
  }

  setPayment(payment: LoggedPayment): void {
    const { stream, transaction, status, slot } = payment;
    const content = JSON.stringify(payment);
    this.#run('INSERT OR REPLACE INTO payments VALUES (?, ?, ?, ?, ?)', stream, transaction, status, slot, content);
  }

  /** The payments that name a transaction; more than one is a difference. */
  paymentsOf(transaction: string): readonly LoggedPayment[] {
    return this.#all('SELECT content FROM payments WHERE tx = ?', transaction).map((row) =>
      JSON.parse((row as { content: string }).content),
    );
  }

  *payments(): IterableIterator<PaymentRow> {
    const rows = this.#iterate(
      `SELECT p.content AS payment, s.signature, s.slot, s.listed, s.failed, s.outcome, s.content, s.kept_from
       FROM payments p LEFT JOIN signatures s ON s.signature = p.tx ORDER BY p.stream`,
    );
    for (const row of rows) {
      const { payment, ...found } = row as { payment: string } & { signature: string | null };
      yield { payment: JSON.parse(payment), found: found.signature === null ? null : rowOf(found as RawSignature) };
    }
  }

  /** The settled payment on the chain, final and without error, that was submitted first. */
  earliestLanded(): Landed | null {
    const row = this.#get(
      `SELECT p.content ->> '$.submittedAt' AS submittedAt, s.content ->> '$.slot' AS slot
       FROM payments p JOIN signatures s ON s.signature = p.tx
       WHERE p.status = 'settled' AND s.outcome = 'fetched' AND s.failed = 0 AND s.content IS NOT NULL
         AND p.content ->> '$.submittedAt' IS NOT NULL
       ORDER BY 1 LIMIT 1`,
    );
    return (row as Landed | undefined) ?? null;
  }

  /** The listed transactions, oldest first. */
  *listed(): IterableIterator<SignatureRow> {
    const rows = this.#iterate(
      'SELECT signature, slot, listed, failed, outcome, content, kept_from FROM signatures WHERE listed = 1 ORDER BY slot, signature',
    );
    for (const row of rows) yield rowOf(row as RawSignature);
  }

  listing(account: string): Listing | null {
    const row = this.#get('SELECT * FROM listings WHERE account = ?', account) as
      | (Omit<Listing, 'complete' | 'keptFrom'> & { complete: number; kept_from: number })
      | undefined;
    if (!row) return null;
    const { complete, kept_from: keptFrom, ...listing } = row;
    return { ...listing, complete: complete === 1, keptFrom };
  }

  setListing({ account, top, cursor, until, complete, keptFrom }: Listing): void {
    this.#run(
      'INSERT OR REPLACE INTO listings VALUES (?, ?, ?, ?, ?, ?)',
      ...[account, top, cursor, until, complete ? 1 : 0, keptFrom],
    );
  }

  slotOf(signature: string): number | null {
    const row = this.#get('SELECT slot FROM signatures WHERE signature = ?', signature);
    return (row as { slot: number | null } | undefined)?.slot ?? null;
  }

  /** The slot that a list gave for a transaction; null if none has it. */
  listedSlotOf(signature: string): number | null {
    const row = this.#get('SELECT slot FROM signatures WHERE signature = ? AND listed = 1', signature);
    return (row as { slot: number | null } | undefined)?.slot ?? null;
  }

  /** Transactions that more than one payment names. */
  namedTwice(): readonly { readonly transaction: string; readonly streams: readonly string[] }[] {
    return this.#all('SELECT tx FROM payments WHERE tx IS NOT NULL GROUP BY tx HAVING count(*) > 1').map((row) => {
      const { tx } = row as { tx: string };
      return { transaction: tx, streams: this.paymentsOf(tx).map(({ stream }) => stream) };
    });
  }

  /** Notes a listed transaction. What is known of it stays, unless it was not final or not found before. */
  addListed(signature: string, slot: number, failed: boolean): void {
    this.#run(
      `INSERT INTO signatures VALUES (?, ?, ?, 1, 'listed', NULL, NULL)
       ON CONFLICT DO UPDATE SET listed = 1, slot = excluded.slot, failed = excluded.failed,
         outcome = iif(outcome = 'fetched', outcome, 'listed')`,
      ...[signature, slot, failed ? 1 : 0],
    );
  }

  setOutcome(signature: string, outcome: Outcome, found: LandedTransaction | null, keptFrom: number): void {
    this.#run(
      `INSERT INTO signatures VALUES (?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome,
         content = excluded.content, kept_from = excluded.kept_from`,
      ...[signature, found?.slot ?? null, found !== null && found.error !== null ? 1 : 0, outcome],
      ...[found === null ? null : packed(found), keptFrom],
    );
  }

  /** What was not there may have become final, or was asked of an endpoint that has since been replaced. */
  askAgain(): void {
    this.#run("DELETE FROM signatures WHERE outcome IN ('missing', 'not_final') AND listed = 0");
    this.#run("UPDATE signatures SET outcome = 'listed' WHERE outcome IN ('missing', 'not_final')");
  }

  /** Listed transactions that are still to be fetched. Of failed ones only those of payments: they cost a fee. */
  toFetch(limit: number): readonly { readonly signature: string; readonly slot: number }[] {
    return this.#all(
      `SELECT signature, slot FROM signatures WHERE outcome = 'listed'
       AND (failed = 0 OR EXISTS (SELECT 1 FROM payments WHERE tx = signature)) LIMIT ?`,
      limit,
    ) as { signature: string; slot: number }[];
  }

  /** Settled and pending payments after one stream whose transaction no listing names, and that were not asked for. */
  toLookUp(after: string, limit: number): readonly UnlistedPayment[] {
    return this.#all(
      `SELECT stream, tx AS signature, slot FROM payments p
       WHERE stream > ? AND status IN ('settled', 'submitted') AND tx IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM signatures WHERE signature = p.tx) ORDER BY stream LIMIT ?`,
      ...[after, limit],
    ) as UnlistedPayment[];
  }

  counts(): { readonly payments: number; readonly listed: number; readonly fetched: number; readonly left: number } {
    return this.#get(
      `SELECT (SELECT count(*) FROM payments) AS payments,
         (SELECT count(*) FROM signatures WHERE listed = 1) AS listed,
         (SELECT count(*) FROM signatures WHERE outcome <> 'listed') AS fetched,
         (SELECT count(*) FROM signatures WHERE outcome = 'listed'
           AND (failed = 0 OR EXISTS (SELECT 1 FROM payments WHERE tx = signature)))
         + (SELECT count(DISTINCT tx) FROM payments p WHERE status IN ('settled', 'submitted') AND tx IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM signatures WHERE signature = p.tx)) AS left`,
    ) as { payments: number; listed: number; fetched: number; left: number };
  }

  #statement(sql: string): Statement<unknown[], unknown> {
    const known = this.#statements.get(sql);
    if (known) return known;
    const prepared = this.#database.prepare<unknown[], unknown>(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #get(sql: string, ...parameters: unknown[]): unknown {
    return this.#statement(sql).get(...parameters);
  }

  #all(sql: string, ...parameters: unknown[]): unknown[] {
    return this.#statement(sql).all(...parameters);
  }

  #iterate(sql: string): IterableIterator<unknown> {
    return this.#statement(sql).iterate();
  }

  #run(sql: string, ...parameters: unknown[]): void {
    this.#statement(sql).run(...parameters);
  }
}
