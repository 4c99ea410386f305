/** Each format, read back by a program that did not write it: what it says is what the rows held. */
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { csv, safeText } from '../../../src/audit/export/csv.ts';
import { ndjson } from '../../../src/audit/export/ndjson.ts';
import { OutOfRange, parquet } from '../../../src/audit/export/parquet.ts';
import { column, type Row } from '../../../src/audit/export/table.ts';

const COLUMNS = {
  text: column('text', ''),
  integer: column('integer', ''),
  units: column('base_units', ''),
  usdc: column('usdc', ''),
  time: column('time', ''),
  day: column('day', ''),
  flag: column('boolean', ''),
};

const row = (over: Partial<Row> = {}): Row => ({
  text: 'GET /v2/case',
  integer: 7,
  units: 12_990_001n,
  usdc: 12_990_001n,
  time: '2026-06-01T12:00:00.123456Z',
  day: '2026-06-01',
  flag: true,
  ...over,
});
const EMPTY: Row = Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, null]));

async function* rowsOf(...rows: readonly Row[]): AsyncIterable<Row> {
  yield* rows;
}

async function bytes(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of chunks) parts.push(part);
  return Buffer.concat(parts);
}

describe('CSV', () => {
  const text = async (...rows: readonly Row[]) => (await bytes(csv(COLUMNS, rowsOf(...rows)))).toString();

  it('has a header, CRLF, plain numbers, exact amounts and empty cells', async () => {
    expect(await text(row(), EMPTY)).toBe(
      'text,integer,units,usdc,time,day,flag\r\n' +
        'GET /v2/case,7,12990001,12.990001,2026-06-01T12:00:00.123456Z,2026-06-01,true\r\n' +
        ',,,,,,\r\n',
    );
  });

  it('has a header even without rows', async () =>
    expect(await text()).toBe('text,integer,units,usdc,time,day,flag\r\n'));

  it('quotes what RFC 4180 requires to be quoted', async () => {
    expect((await text(row({ text: 'a "b", c\nd' }))).split('\r\n')[1]).toMatch(/^"a ""b"", c\nd",7,/);
  });

  it.each([
    ['=HYPERLINK("https://evil.example")', `'=HYPERLINK("https://evil.example")`],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', "'\r=1"],
    ['＝1', "'＝1"],
    ['3:24-cv-00042', '3:24-cv-00042'],
    ['', ''],
  ])('makes a text safe that a spreadsheet would run: %j', (found, safe) => expect(safeText(found)).toBe(safe));

  it('writes all rows of a long table', async () => {
    const lines = (await text(...Array.from({ length: 1_001 }, (_, integer) => row({ integer })))).split('\r\n');
    expect([lines.length, lines[1_001]?.split(',')[1]]).toEqual([1_003, '1000']);
  });
});

describe('NDJSON', () => {
  it('has one object a line, with amounts as exact text', async () => {
    const lines = (await bytes(ndjson(COLUMNS, rowsOf(row(), EMPTY)))).toString().split('\n');
    expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual([
      { ...row(), units: '12990001', usdc: '12.990001' },
      EMPTY,
    ]);
  });

  it('is empty without rows', async () => expect((await bytes(ndjson(COLUMNS, rowsOf()))).length).toBe(0));
});

describe('Parquet', () => {
  async function readBack(rows: readonly Row[], rowsInGroup?: number) {
    const file = await bytes(parquet(COLUMNS, rowsOf(...rows), rowsInGroup));
    const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength) as ArrayBuffer;
    return { metadata: parquetMetadata(buffer), found: await parquetReadObjects({ file: buffer }) };
  }

  it('has typed columns, and keeps every value', async () => {
    const { found, metadata } = await readBack([row(), EMPTY]);
    expect(found).toEqual([
      {
        text: 'GET /v2/case',
        integer: 7n,
        units: 12_990_001n,
        usdc: 12.990001,
        // A date of this reader has milliseconds only.
        time: new Date('2026-06-01T12:00:00.123Z'),
        day: new Date('2026-06-01'),
        flag: true,
      },
      EMPTY,
    ]);
    expect(metadata.schema.slice(1).map(({ type, converted_type }) => [type, converted_type])).toEqual([
      ['BYTE_ARRAY', 'UTF8'],
      ['INT64', undefined],
      ['INT64', undefined],
      ['INT64', 'DECIMAL'],
      ['INT64', 'TIMESTAMP_MICROS'],
      ['INT32', 'DATE'],
      ['BOOLEAN', undefined],
    ]);
  });

  it.each([0, 1, 4, 5, 11])('writes %i rows in groups of 5', async (count) => {
    const rows = Array.from({ length: count }, (_, integer) => row({ integer, text: `row ${integer}` }));
    const { found, metadata } = await readBack(rows, 5);
    expect(found.map(({ integer, text }) => [integer, text])).toEqual(
      rows.map(({ integer, text }) => [BigInt(integer as number), text]),
    );
    expect(metadata.row_groups.length).toBe(Math.ceil(count / 5));
  });

  it.each([
    ['an amount of more digits', { units: 10n ** 18n }],
    ['a day that does not exist', { day: '2026-02-30' }],
    ['a time on a day that does not exist', { time: '2026-13-01T00:00:00.000000Z' }],
  ])('refuses %s instead of changing it', async (_what, over) => {
    await expect(readBack([row(over)])).rejects.toThrow(OutOfRange);
  });
});
