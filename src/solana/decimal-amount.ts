/** Converts token amounts between decimal text and integer base units. Never uses floats, never rounds. */
import { SOL_DECIMALS, USDC_DECIMALS } from './addresses.ts';

/** The text is not an amount of this token. */
export class AmountUnreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AmountUnreadable';
  }
}

const MOST_BASE_UNITS = 2n ** 64n - 1n;

/**
 * `12.5` with 6 decimals is 12,500,000 base units.
 *
 * @throws AmountUnreadable unless the text is a plain decimal number with no more than these decimals, within 64 bits
 */
export function parseAmount(text: string, decimals: number): bigint {
  const match = /^(\d{1,20})(?:\.(\d+))?$/.exec(text);
  if (!match) throw new AmountUnreadable(`${JSON.stringify(text)} is not a decimal number such as 10 or 0.99`);
  const [, whole = '0', fraction = ''] = match;
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > decimals) throw new AmountUnreadable(`${text} has more than ${decimals} decimals`);
  const amount = BigInt(whole) * 10n ** BigInt(decimals) + BigInt(digits.padEnd(decimals, '0') || '0');
  if (amount > MOST_BASE_UNITS) throw new AmountUnreadable(`${text} is more than a token account can hold`);
  return amount;
}

/**
 * The shortest exact notation of an amount.
 * @param places least number of decimal places, filled with zeros
 */
export function formatAmount(amount: bigint, decimals: number, places = 0): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(places, '0');
  return fraction ? `${whole}.${fraction}` : whole;
}

/** Base units of USDC as prices are written, with at least two places: 990000 is `0.99`. */
export const usdcText = (baseUnits: bigint): string => formatAmount(baseUnits, USDC_DECIMALS, 2);

/** Lamports as SOL: 5000 is `0.000005`. */
export const solText = (lamports: bigint): string => formatAmount(lamports, SOL_DECIMALS);

/** A price in USDC as base units. @throws AmountUnreadable as `parseAmount` */
export const usdcOf = (text: string): bigint => parseAmount(text, USDC_DECIMALS);
