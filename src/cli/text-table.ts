/** Lines of aligned columns for a terminal. */

type Cells = readonly string[];

/** The first column is text and aligned left, the others are numbers and aligned right. */
export const textTable = (head: Cells, rows: readonly Cells[]): readonly string[] => pagedTable(head)(rows);

/**
 * A table of any number of rows: each call gives the lines of the next page, the first one with the head. Columns are as
 * wide as the pages so far need.
 * @param widest a later row for which the first page leaves space, such as a total
 */
export function pagedTable(head: Cells, widest: Cells = []): (rows: readonly Cells[]) => readonly string[] {
  const widths = head.map((name, column) => Math.max(name.length, (widest[column] ?? '').length));
  let isFirst = true;
  return (rows) => {
    const shown = rows.map(([key = '', ...numbers]) => [clipped(key), ...numbers]);
    for (const row of shown) {
      for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
    const lines = [...(isFirst ? [head] : []), ...shown].map((row) => line(row, widths));
    isFirst = false;
    return lines;
  };
}

const line = (row: Cells, widths: readonly number[]): string =>
  row
    .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
    .join('  ')
    .trimEnd();

/** The length of the longest wallet address. */
const LONGEST_KEY = 44;

const clipped = (text: string): string => (text.length > LONGEST_KEY ? `${text.slice(0, LONGEST_KEY - 1)}…` : text);
