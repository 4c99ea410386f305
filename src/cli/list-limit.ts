/** `--limit` of commands that list things. */
import { CliError } from './command.ts';

/** @returns 0 for all @throws CliError for anything but digits, and for more than nine of them */
export function readLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(
    `--limit ${text.slice(0, 40)} cannot be used.`,
    'Give a whole number of up to nine digits, such as 50, or 0 for all.',
  );
}
