/** How `docket status` writes numbers, times and lines. */
import { type Instant, MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { printable } from '../command.ts';

export interface Row {
  /** Empty: a further line of the block above. */
  readonly label: string;
  readonly text: string;
}

const LABEL_WIDTH = 13;
const LEAST_TEXT_WIDTH = 20;

export const utc = (at: Instant): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

/** To the second, as ISO 8601. */
export const second = (at: Instant): string => `${at.slice(0, 19)}Z`;

/** `3 s`, `4 min`, `2 h`, `5 days`: as exact as an operator needs. */
export function seconds(number: number): string {
  const whole = Math.max(0, Math.round(number));
  if (whole < 120) return `${whole} s`;
  if (whole < 2 * 3_600) return `${Math.round(whole / 60)} min`;
  if (whole < 2 * 86_400) return `${Math.round(whole / 3_600)} h`;
  return `${Math.round(whole / 86_400)} days`;
}

/** Positions of engines are filled with zeros, so that they sort, and may have a second part. */
export const positionText = (position: string): string => position.replace(/^0+(?=\d)/, '').replace(/\/.*$/s, '');

export const age = (at: Instant, now: Micros): string => seconds((now - toMicros(at)) / MICROS_PER_SECOND);

/** A count that ends at a limit: `100,000+`. */
export const count = (number: number, most: number): string =>
  `${number.toLocaleString('en')}${number >= most ? '+' : ''}`;

export const counted = (number: number, what: string): string =>
  `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytes(number: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, number)) / 10)));
  const amount = number / 1024 ** unit;
  return `${amount < 10 && unit > 0 ? amount.toFixed(1) : Math.floor(amount)} ${UNITS[unit]}`;
}

/** The rows as lines, wrapped between words. @param width of the terminal; infinite elsewhere */
export function linesOf(rows: readonly Row[], width: number): readonly string[] {
  const room = Math.max(LEAST_TEXT_WIDTH, width - LABEL_WIDTH);
  return rows.flatMap(({ label, text }) => {
    // Made safe before it is measured: an escaped character is longer.
    const safe = printable(text).replace(/[\n\t]/g, ' ');
    return wrapped(safe, room).map((line, index) => (index === 0 ? label : '').padEnd(LABEL_WIDTH) + line);
  });
}

function wrapped(text: string, room: number): readonly string[] {
  if (text.length <= room) return [text];
  const indent = /^ */.exec(text)?.[0] ?? '';
  const lines: string[] = [];
  let line = indent;
  for (const word of text.trimStart().split(' ')) {
    const next = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (next.length <= room || line.trim() === '') line = next;
    else {
      lines.push(line);
      line = `${indent}  ${word}`;
    }
  }
  return [...lines, line];
}
