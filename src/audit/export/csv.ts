/** CSV by RFC 4180: a header, CRLF, UTF-8 without a byte order mark. Safe to open in a spreadsheet. */
import { stringify } from 'csv-stringify/sync';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { Cell, Columns, ColumnType, Row } from './table.ts';

const ROWS_AT_ONCE = 200;

/** A spreadsheet takes a text that begins so for a formula and runs it. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** A text cell that no spreadsheet runs: an apostrophe precedes what would start a formula. */
export const safeText = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

export async function* csv(columns: Columns, rows: AsyncIterable<Row>): AsyncIterable<Buffer> {
  const named = Object.entries(columns);
  yield lines([named.map(([name]) => name)]);
  let waiting: string[][] = [];
  for await (const row of rows) {
    waiting.push(named.map(([name, { type }]) => csvCell(type, row[name] ?? null)));
    if (waiting.length < ROWS_AT_ONCE) continue;
    yield lines(waiting);
    waiting = [];
  }
  if (waiting.length > 0) yield lines(waiting);
}

const lines = (cells: string[][]): Buffer => Buffer.from(stringify(cells, { record_delimiter: 'windows' }));

function csvCell(type: ColumnType, cell: Cell): string {
  if (cell === null) return '';
  if (type === 'usdc') return usdcText(cell as bigint);
  return type === 'text' ? safeText(String(cell)) : String(cell);
}
