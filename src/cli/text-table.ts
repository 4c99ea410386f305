/** Lines of aligned columns for a terminal. */

/** The first column is text and aligned left, the others are numbers and aligned right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const shown = rows.map(([key = '', ...numbers]) => [clipped(key), ...numbers]);
  const widths = head.map((name, column) => Math.max(name.length, ...shown.map((row) => (row[column] ?? '').length)));
  return [head, ...shown].map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** The length of the longest wallet address. */
const LONGEST_KEY = 44;

const clipped = (text: string): string => (text.length > LONGEST_KEY ? `${text.slice(0, LONGEST_KEY - 1)}…` : text);
