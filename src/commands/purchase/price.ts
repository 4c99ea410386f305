/** What queries cost: 0.99 USDC each, whatever they ask (docs/design/interface.md#1). */

/** The price of one query, in base units. */
export const PRICE_BASE_UNITS = 990_000n;

/** The price of that many queries, in base units. */
export const priceOf = (queries: number): bigint => PRICE_BASE_UNITS * BigInt(queries);
