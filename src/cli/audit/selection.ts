/** The options by which audit commands select a wallet and a period. */
import { type Instant, parseTimestamp } from '../../runtime/instant.ts';
import { isAddress } from '../../solana/addresses.ts';
import { CliError } from '../command.ts';

export interface PeriodOptions {
  readonly from?: string;
  readonly to?: string;
}

export interface Period {
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** @throws CliError */
export function readWallet(wallet: string): string {
  if (isAddress(wallet)) return wallet;
  throw new CliError(`${JSON.stringify(wallet)} is not a Solana address.`, 'Give 32 bytes in base58.');
}

/** @throws CliError */
export function readPeriod(options: PeriodOptions): Period {
  const [from, to] = [instantOption('from', options.from), instantOption('to', options.to)];
  if (from && to && from > to) throw new CliError('--from is later than --to.', 'Give the earlier time as --from.');
  return { from, to };
}

function instantOption(name: string, text: string | undefined): Instant | null {
  if (text === undefined) return null;
  const instant = parseTimestamp(text);
  if (instant) return instant;
  throw new CliError(
    `--${name} is not a timestamp: ${text}`,
    'Give ISO-8601 with an offset, for example 2026-03-01T00:00:00Z.',
  );
}
