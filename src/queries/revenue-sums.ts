/**
 * Revenue for reports with any number of rows: sums in a temporary SQLite database, which sorts them. A million wallets
 * then take disk, not memory.
 */
import type { Figures } from '../projections/revenue-shares.ts';
import type { Database } from '../storage/sqlite/driver.ts';
import { openTemporary } from '../storage/sqlite/open-database.ts';
import {
  type Days,
  type RevenueGroup,
  type RevenueRow,
  type RevenueStore,
  recordsOfGroup,
  revenueOf,
} from './revenue.ts';

const COUNTS = ['payments', 'late', 'answers', 'rolledBack', 'failed', 'failedQueries'] as const;
const AMOUNTS = ['usdc', 'fees', 'rolledBackUsdc', 'failedFees'] as const;

/** An amount may have 64 bits, and the sum more, but an integer of SQLite has 63: so each is kept in two parts. */
const PART = 1_000_000_000n;
const COLUMNS = [...COUNTS, ...AMOUNTS.flatMap((name) => [`${name}High`, `${name}Low`] as const)];

const CACHE_KIB = 16_384;

type Sums = Readonly<Record<(typeof COLUMNS)[number], bigint>>;

/** Which rows: all of them, or those with something that was not earned. */
type Of = 'all' | 'not_earned';

const WHERE: Readonly<Record<Of, string>> = {
  all: COLUMNS.map((name) => `${name} <> 0`).join(' OR '),
  not_earned: 'rolledBack + failed + failedQueries > 0',
};

export class RevenueSums {
  readonly #database: Database;
  readonly #order: string;
  /** Counts each payment once, while a payment for several courts is in the row of each. */
  readonly total: Figures;
  /** Whether a payment counts in more than one row. */
  readonly countsTwice: boolean;

  private constructor(database: Database, by: RevenueGroup, total: Figures | null) {
    this.#database = database;
    // Days in their order; everything else by USDC, highest first.
    this.#order = by === 'day' ? 'key' : `usdcHigh + usdcLow / ${PART} DESC, usdcLow % ${PART} DESC, key`;
    const sums = COLUMNS.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(', ');
    const ofRows = figures(database.prepare<[], Sums>(`SELECT ${sums} FROM sums`).get() as Sums);
    this.total = total ?? ofRows;
    this.countsTwice = ofRows.payments > this.total.payments;
  }

  /** Reads the read model once. Close what it returns. */
  static async read(readStore: RevenueStore, by: RevenueGroup, days: Days): Promise<RevenueSums> {
    const database = openTemporary();
    try {
      database.pragma(`cache_size = -${CACHE_KIB}`);
      database.defaultSafeIntegers(true);
      const columns = COLUMNS.map((name) => `${name} INTEGER NOT NULL`).join(', ');
      // STRICT: a sum that 64 bits cannot hold is an error, never a rounded number.
      database.exec(`CREATE TABLE sums (key TEXT PRIMARY KEY, ${columns}) STRICT, WITHOUT ROWID`);
      const add = database.prepare(
        `INSERT INTO sums (key, ${COLUMNS.join(', ')}) VALUES (?, ${COLUMNS.map(() => '?').join(', ')})
         ON CONFLICT (key) DO UPDATE SET ${COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
      );
      database.exec('BEGIN');
      for await (const { key, ...record } of recordsOfGroup(readStore, by, days)) {
        const amounts = AMOUNTS.map((name) => BigInt(record[name]));
        add.run(key, ...COUNTS.map((name) => record[name]), ...amounts.flatMap((one) => [one / PART, one % PART]));
      }
      database.exec('COMMIT');
      const total = by === 'court' ? (await revenueOf(readStore, 'endpoint', days)).total : null;
      return new RevenueSums(database, by, total);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  count(of: Of): number {
    const sql = `SELECT count(*) AS count FROM sums WHERE ${WHERE[of]}`;
    return Number(this.#database.prepare<[], { readonly count: bigint }>(sql).get()?.count);
  }

  /** @param limit 0 for all */
  *rows(of: Of, limit: number): IterableIterator<RevenueRow> {
    const sql = `SELECT * FROM sums WHERE ${WHERE[of]} ORDER BY ${this.#order} LIMIT ?`;
    for (const row of this.#database.prepare<[number], Sums & { readonly key: string }>(sql).iterate(limit || -1)) {
      yield { key: row.key, ...figures(row) };
    }
  }

  close(): void {
    this.#database.close();
  }
}

function figures(sums: Sums): Figures {
  const amount = (name: (typeof AMOUNTS)[number]): bigint => sums[`${name}High`] * PART + sums[`${name}Low`];
  return {
    payments: Number(sums.payments),
    late: Number(sums.late),
    answers: Number(sums.answers),
    usdc: amount('usdc'),
    fees: amount('fees'),
    rolledBack: Number(sums.rolledBack),
    rolledBackUsdc: amount('rolledBackUsdc'),
    failed: Number(sums.failed),
    failedFees: amount('failedFees'),
    failedQueries: Number(sums.failedQueries),
  };
}
