/**
 * The local chain on disk: accounts, transactions and the current slot, in one SQLite file. A batch of transactions and
 * all their effects is one commit, synced before any of them is acknowledged.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseFiles } from '../../storage/sqlite/database-files.ts';
import type { Database } from '../../storage/sqlite/driver.ts';
import { openDatabase } from '../../storage/sqlite/open-database.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { mentionedIn } from './transaction-outcome.ts';
import type { AccountState } from './virtual-machine.ts';

/** Another process runs a chain in the same folder. */
export class ChainInUse extends Error {
  readonly code = 'chain_in_use';
  constructor(file: string) {
    super(`the local chain in ${file} is already run by another process`);
    this.name = 'ChainInUse';
  }
}

/** A transaction that landed on the chain: it succeeded, or failed and paid its fee. */
export interface TransactionRecord {
  readonly signature: Buffer;
  readonly slot: number;
  /** Seconds since the Unix epoch. */
  readonly blockTime: number;
  readonly wire: Buffer;
  /** The error in the RPC's JSON; null for success. */
  readonly error: string | null;
  /** Logs, fee, balances before and after: JSON, see `transaction-outcome.ts`. */
  readonly outcome: string;
}

export interface StoredTransaction extends TransactionRecord {
  readonly sequence: number;
}

/** The results of one batch, written all or nothing. */
export interface ChainCommit {
  readonly slot: number;
  readonly unixTime: number;
  readonly transactions: readonly TransactionRecord[];
  /** By key in hexadecimal; null if the account ceased to exist. */
  readonly accounts: ReadonlyMap<string, AccountState | null>;
}

export interface ChainIdentity {
  /** Blockhashes are derived from it. */
  readonly seed: Buffer;
  /** Seed of the key that owns the faucet and has the mint authority. */
  readonly faucetSeed: Buffer;
  readonly slot: number;
  readonly unixTime: number;
}

export interface SignatureQuery {
  readonly address: Buffer;
  /** Sequence numbers, exclusive; newest first between them. */
  readonly before: number | null;
  readonly until: number | null;
  readonly latestSlot: number;
  readonly limit: number;
}

const SCHEMA = `
CREATE TABLE chain (
  id INTEGER PRIMARY KEY CHECK (id = 1), seed BLOB NOT NULL, faucet_seed BLOB NOT NULL,
  slot INTEGER NOT NULL, unix_time INTEGER NOT NULL, indexed INTEGER NOT NULL
) STRICT;
CREATE TABLE account (
  address BLOB PRIMARY KEY, lamports INTEGER NOT NULL, owner BLOB NOT NULL, executable INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE landed (
  sequence INTEGER PRIMARY KEY, signature BLOB NOT NULL UNIQUE, slot INTEGER NOT NULL, block_time INTEGER NOT NULL,
  wire BLOB NOT NULL, error TEXT, outcome TEXT NOT NULL
) STRICT;
CREATE INDEX landed_by_slot ON landed (slot);
CREATE TABLE mention (address BLOB NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (address, sequence)) STRICT, WITHOUT ROWID;
`;

const FORMAT = 1;
/** A new chain starts after its first final slots, so that finality takes as long as in an old one. */
const FIRST_SLOT = 64;
/** A start right after a kill may find the lock still held until the killed process is reaped. */
const LOCK_WAIT_MS = 1_000;
/**
 * Slots are saved unsynced, which survives a killed process. After this many a save is synced, to survive a power
 * failure.
 */
const SYNC_EVERY_SLOTS = 16;
/** Limits the share of a slot's time that indexing takes. */
const INDEXED_PER_SLOT = 1_000;
/** Size of the write-ahead log at which it is checkpointed, in pages of 4 KiB. */
const CHECKPOINT_PAGES = 4_000;

interface AccountRow {
  readonly address: Buffer;
  readonly lamports: number;
  readonly owner: Buffer;
  readonly executable: number;
  readonly data: Buffer;
}

const LANDED = 'sequence, signature, slot, block_time AS blockTime, wire, error, outcome';

export class ChainStore {
  readonly identity: ChainIdentity;
  /** Whether this start created the chain. */
  readonly created: boolean;
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #files: DatabaseFiles;
  #unsyncedSlots = 0;

  /** @throws ChainInUse */
  constructor(directory: string) {
    const file = join(directory, 'local-chain.sqlite');
    this.#database = openDatabase(file, LOCK_WAIT_MS);
    try {
      // Held until the process ends: the accounts are in its memory, so a second process would fork the chain.
      this.#database.pragma('locking_mode = EXCLUSIVE');
      this.#database.pragma('journal_mode = WAL');
      this.#database.pragma('synchronous = FULL');
      this.#database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      this.created = this.#open(file);
      this.#files = new DatabaseFiles(file);
      this.#assertInPlace();
    } catch (error) {
      this.#database.close();
      throw (error as { code?: string }).code?.startsWith('SQLITE_BUSY') ? new ChainInUse(file) : error;
    }
    this.#statements = prepare(this.#database);
    this.identity = this.#database
      .prepare<[], ChainIdentity>('SELECT seed, faucet_seed AS faucetSeed, slot, unix_time AS unixTime FROM chain')
      .get() as ChainIdentity;
  }

  /** Acquires the lock, and creates the tables of a new chain. */
  #open(file: string): boolean {
    return this.#database
      .transaction(() => {
        const format = this.#database.pragma('user_version', { simple: true });
        if (format === FORMAT) {
          // Any write, however small, acquires the lock permanently.
          this.#database.prepare('UPDATE chain SET slot = slot').run();
          return false;
        }
        if (format !== 0) throw new Error(`${file} has format ${format}; this version reads ${FORMAT}`);
        this.#database.exec(SCHEMA);
        this.#database
          .prepare('INSERT INTO chain VALUES (1, ?, ?, ?, 0, 0)')
          .run(randomBytes(32), randomBytes(32), FIRST_SLOT);
        this.#database.pragma(`user_version = ${FORMAT}`);
        return true;
      })
      .immediate();
  }

  /** Every account that a transaction ever wrote; programs last, since their data accounts must exist first. */
  *accounts(): Generator<readonly [Buffer, AccountState]> {
    const rows = this.#database.prepare<[], AccountRow>('SELECT * FROM account ORDER BY executable').iterate();
    for (const { address, executable, ...state } of rows) yield [address, { ...state, executable: executable === 1 }];
  }

  /** Token accounts of an owner under a token program, by address. */
  tokenAccounts(owner: Buffer, program: Buffer): readonly { address: Buffer; state: AccountState }[] {
    return this.#statements.tokenAccounts
      .all(program, owner)
      .map(({ address, executable, ...state }) => ({ address, state: { ...state, executable: executable === 1 } }));
  }

  /**
   * Writes a batch; it is synced to disk when this returns.
   * @throws StorageFailure `storage_replaced` if a file of the chain is no longer the one that was opened
   */
  commit({ slot, unixTime, transactions, accounts }: ChainCommit): void {
    const statements = this.#statements;
    statements.begin.run();
    try {
      for (const { signature, slot: landedIn, blockTime, wire, error, outcome } of transactions) {
        statements.landed.run(signature, landedIn, blockTime, wire, error, outcome);
      }
      for (const [key, state] of accounts) {
        const address = Buffer.from(key, 'hex');
        if (!state) statements.forget.run(address);
        else statements.account.run(address, state.lamports, state.owner, state.executable ? 1 : 0, state.data);
      }
      statements.slot.run(slot, unixTime);
      statements.commit.run();
      this.#assertInPlace();
    } catch (error) {
      if (this.#database.inTransaction) statements.rollback.run();
      throw error;
    }
    this.#unsyncedSlots = 0;
  }

  #assertInPlace(): void {
    const misplaced = this.#files.misplaced();
    if (misplaced !== null) throw new StorageFailure('storage_replaced', misplaced);
    // No other process can use the file, and this class never shrinks it.
    if (this.#files.rewritten()?.shrank) {
      throw new StorageFailure('storage_replaced', 'local-chain.sqlite was overwritten while it was in use');
    }
    this.#files.accept();
  }

  /**
   * Saves the current slot, and indexes some of the transactions that are not indexed yet.
   * @throws StorageFailure `storage_replaced` as `commit`
   */
  saveSlot(slot: number, unixTime: number): void {
    this.#assertInPlace();
    this.#unsyncedSlots++;
    const synced = this.#unsyncedSlots >= SYNC_EVERY_SLOTS;
    if (synced) this.#unsyncedSlots = 0;
    this.#write(synced, () => {
      this.#statements.slot.run(slot, unixTime);
      this.#index(INDEXED_PER_SLOT);
    });
  }

  #write(synced: boolean, work: () => void): void {
    if (!synced) this.#database.pragma('synchronous = NORMAL');
    try {
      this.#database.transaction(work).immediate();
    } finally {
      if (!synced) this.#database.pragma('synchronous = FULL');
    }
  }

  /**
   * Records which accounts transactions mention. This touches a page for each account, so it is not part of the commit
   * that a sender waits for; it can be rebuilt from the transactions.
   */
  #index(most: number): void {
    const { unindexed, mention, indexed } = this.#statements;
    const stored = unindexed.all(most);
    for (const { sequence, wire, outcome } of stored) {
      for (const address of mentionedIn(wire, outcome)) mention.run(address, sequence);
    }
    const last = stored.at(-1);
    if (last) indexed.run(last.sequence);
  }

  transaction(signature: Buffer): StoredTransaction | null {
    return this.#statements.bySignature.get(signature) ?? null;
  }

  /** Transactions of this slot and later ones, in order. */
  since(slot: number): IterableIterator<StoredTransaction> {
    return this.#statements.since.iterate(slot);
  }

  signatures({ address, before, until, latestSlot, limit }: SignatureQuery): readonly StoredTransaction[] {
    this.#write(false, () => this.#index(Number.MAX_SAFE_INTEGER));
    return this.#statements.mentioning.all(address, before ?? Number.MAX_SAFE_INTEGER, until ?? 0, latestSlot, limit);
  }

  transactionCount(): number {
    return this.#statements.count.get()?.count ?? 0;
  }

  close(): void {
    this.#database.close();
  }
}

function prepare(database: Database) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    landed: database.prepare(
      'INSERT INTO landed (signature, slot, block_time, wire, error, outcome) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    unindexed: database.prepare<[number], StoredTransaction>(
      `SELECT ${LANDED} FROM landed WHERE sequence > (SELECT indexed FROM chain) ORDER BY sequence LIMIT 0 + ?`,
    ),
    indexed: database.prepare('UPDATE chain SET indexed = ?'),
    mention: database.prepare('INSERT OR IGNORE INTO mention (address, sequence) VALUES (?, ?)'),
    account: database.prepare('INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?, ?)'),
    forget: database.prepare('DELETE FROM account WHERE address = ?'),
    slot: database.prepare('UPDATE chain SET slot = ?, unix_time = ?'),
    bySignature: database.prepare<[Buffer], StoredTransaction>(`SELECT ${LANDED} FROM landed WHERE signature = ?`),
    since: database.prepare<[number], StoredTransaction>(
      `SELECT ${LANDED} FROM landed WHERE slot >= ? ORDER BY sequence`,
    ),
    mentioning: database.prepare<[Buffer, number, number, number, number], StoredTransaction>(
      `SELECT ${LANDED} FROM mention JOIN landed USING (sequence)
       WHERE address = ? AND sequence < ? AND sequence > ? AND slot <= ? ORDER BY sequence DESC LIMIT 0 + ?`,
    ),
    // The owner of a token account is at byte 32 of its data, in both token programs.
    tokenAccounts: database.prepare<[Buffer, Buffer], AccountRow>(
      'SELECT * FROM account WHERE owner = ? AND substr(data, 33, 32) = ? AND length(data) >= 165 ORDER BY address',
    ),
    count: database.prepare<[], { count: number }>('SELECT coalesce(max(sequence), 0) AS count FROM landed'),
  };
}
