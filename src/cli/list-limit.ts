/** `--limit` of commands that list things. */
import { CliError } from './command.ts';

/** @returns 0 for all @throws CliError for a text that is no number */
export function readLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new CliError(`--limit ${text.slice(0, 40)} is not a number.`, 'Give a whole number, or 0 for all.');
}
