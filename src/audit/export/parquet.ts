/**
 * Parquet with typed columns: 64-bit integers, DECIMAL(18, 6) for USDC, TIMESTAMP in microseconds of UTC, and DATE. Rows
 * are written in groups, so that memory does not grow with the file.
 */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { toMicros } from '../../runtime/instant.ts';
import { USDC_DECIMALS } from '../../solana/addresses.ts';
import type { Cell, Columns, ColumnType, Row } from './table.ts';

/** Small enough for a few dozen megabytes, large enough for readers that skip whole groups. */
const ROWS_IN_GROUP = 10_000;
const MS_PER_DAY = 86_400_000;

/** A value in the log is out of the range of its column. Nothing that the service records is. */
export class OutOfRange extends Error {
  constructor(column: string, cell: Cell) {
    super(`${column} ${cell} does not fit into its Parquet column`);
    this.name = 'OutOfRange';
  }
}

export async function* parquet(
  columns: Columns,
  rows: AsyncIterable<Row>,
  rowsInGroup = ROWS_IN_GROUP,
): AsyncIterable<Buffer> {
  const named = Object.entries(columns);
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema: schemaOf(columns), createdBy: 'docket audit export' });
  let group = named.map(([name]) => ({ name, data: [] as unknown[] }));
  let size = 0;
  for await (const row of rows) {
    for (const [index, [name, { type }]] of named.entries())
      group[index]?.data.push(stored(name, type, row[name] ?? null));
    size += 1;
    if (size < rowsInGroup) continue;
    await file.write({ columnData: group, rowGroupSize: rowsInGroup });
    yield taken(writer);
    group = named.map(([name]) => ({ name, data: [] }));
    size = 0;
  }
  if (size > 0) await file.write({ columnData: group, rowGroupSize: rowsInGroup });
  await file.finish();
  yield taken(writer);
}

/** Takes the bytes written so far out of the writer, which keeps counting its offset. */
function taken(writer: ByteWriter): Buffer {
  const bytes = Buffer.from(new Uint8Array(writer.buffer, 0, writer.index));
  writer.index = 0;
  return bytes;
}

const ELEMENTS: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT64' },
  base_units: { type: 'INT64' },
  usdc: {
    type: 'INT64',
    converted_type: 'DECIMAL',
    scale: USDC_DECIMALS,
    precision: 18,
    logical_type: { type: 'DECIMAL', scale: USDC_DECIMALS, precision: 18 },
  },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  day: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  boolean: { type: 'BOOLEAN' },
};

const schemaOf = (columns: Columns): SchemaElement[] => [
  { name: 'root', num_children: Object.keys(columns).length },
  ...Object.entries(columns).map(
    ([name, { type }]): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[type] }),
  ),
];

const MOST_DIGITS = 10n ** 18n;

function stored(name: string, type: ColumnType, cell: Cell): unknown {
  if (cell === null) return null;
  switch (type) {
    case 'integer':
      return BigInt(cell);
    case 'base_units':
    case 'usdc':
      if ((cell as bigint) >= MOST_DIGITS) throw new OutOfRange(name, cell);
      return cell;
    case 'time':
      if (!isDay(String(cell).slice(0, 10))) throw new OutOfRange(name, cell);
      return BigInt(toMicros(String(cell)));
    case 'day':
      if (!isDay(String(cell))) throw new OutOfRange(name, cell);
      return Date.parse(String(cell)) / MS_PER_DAY;
    case 'text':
    case 'boolean':
      return cell;
  }
}

/** Whether the day exists: `2026-02-30` would be read as a day of March. */
function isDay(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}
