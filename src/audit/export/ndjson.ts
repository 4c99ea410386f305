/** One JSON object a line. Amounts are strings, as in the events, because a JSON number may lose digits. */
import { usdcText } from '../../solana/decimal-amount.ts';
import type { Cell, Columns, ColumnType, Row } from './table.ts';

const ROWS_AT_ONCE = 200;

export async function* ndjson(columns: Columns, rows: AsyncIterable<Row>): AsyncIterable<Buffer> {
  const named = Object.entries(columns);
  let waiting: string[] = [];
  for await (const row of rows) {
    const cells = named.map(([name, { type }]) => [name, jsonCell(type, row[name] ?? null)]);
    waiting.push(`${JSON.stringify(Object.fromEntries(cells))}\n`);
    if (waiting.length < ROWS_AT_ONCE) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
  }
  if (waiting.length > 0) yield Buffer.from(waiting.join(''));
}

function jsonCell(type: ColumnType, cell: Cell): string | number | boolean | null {
  if (typeof cell !== 'bigint') return cell;
  return type === 'usdc' ? usdcText(cell) : cell.toString();
}
