/** Order statistics of small samples. Benchmarks report these because one slow run would distort a mean. */

const ascending = (values) => Float64Array.from(values).sort();

/** The value below which the given share (0 to 1) of the sample lies, by nearest rank; NaN for an empty sample. */
export function percentile(values, share) {
  const sorted = ascending(values);
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] : NaN;
}

/** The middle value; the mean of the two middle ones for an even count; NaN for an empty sample. */
export function median(values) {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Smallest and largest value. */
export const spread = (values) => [Math.min(...values), Math.max(...values)];

/** To three significant digits, as a number: more would claim a precision that these machines do not have. */
export const rounded = (value) => (Number.isFinite(value) ? Number(value.toPrecision(3)) : null);
