import { USDC_DECIMALS } from './addresses.ts';

/** Base units as a decimal amount of USDC with at least two places: 990000 is `0.99`. Never uses floating point. */
export function usdcText(baseUnits: bigint): string {
  const digits = String(baseUnits).padStart(USDC_DECIMALS + 1, '0');
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -USDC_DECIMALS)}.${fraction}`;
}
