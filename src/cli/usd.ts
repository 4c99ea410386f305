import { USDC_DECIMALS } from '../solana/addresses.ts';

/** US dollars as base units of USDC, rounded down. */
export function baseUnitsOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(`${whole}${fraction.slice(0, USDC_DECIMALS).padEnd(USDC_DECIMALS, '0')}`);
}
