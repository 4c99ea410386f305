/** Tables that an auditor exports: flat rows with one documented set of columns each. */
import type { Instant } from '../../runtime/instant.ts';
import type { ReadableLog } from '../readable-log.ts';

/** How a column is typed; each format writes every type in one way (docs/auditing.md). */
interface Values {
  readonly text: string;
  readonly integer: number;
  /** Base units of USDC. */
  readonly base_units: bigint;
  /** The same amount in USDC, also kept in base units. */
  readonly usdc: bigint;
  readonly time: Instant;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly boolean: boolean;
}

export type ColumnType = keyof Values;

export interface Column<Type extends ColumnType = ColumnType> {
  readonly type: Type;
  readonly meaning: string;
}

export const column = <const Type extends ColumnType>(type: Type, meaning: string): Column<Type> => ({ type, meaning });

export type Columns = Readonly<Record<string, Column>>;

/** A row of these columns. Any cell may be empty. */
export type RowOf<Of extends Columns> = { readonly [Name in keyof Of]: Values[Of[Name]['type']] | null };

export type Cell = Values[ColumnType] | null;
export type Row = Readonly<Record<string, Cell>>;

export interface Selection {
  readonly wallet: string | null;
  /** Both ends are included. */
  readonly from: Instant | null;
  readonly to: Instant | null;
}

export interface Table {
  readonly columns: Columns;
  /** Rows in the table's order, with a memory that does not grow with the log. */
  rows(log: ReadableLog, selection: Selection): AsyncIterable<Row>;
}

export const isWithin = (at: Instant, { from, to }: Pick<Selection, 'from' | 'to'>): boolean =>
  (from === null || at >= from) && (to === null || at <= to);
