/** Rolling windows that apply together; the shortest is tested first, and refused requests are not counted. */
export interface ImitatedRate {
  readonly requests: number;
  readonly micros: number;
}

const NAMES = new Map([
  [60, 'min'],
  [3_600, 'hour'],
  [86_400, 'day'],
]);

export const nameOf = ({ requests, micros }: ImitatedRate): string =>
  `${requests}/${NAMES.get(micros / 1_000_000) ?? `${micros / 1_000_000}s`}`;

export function createRateWindows(rates: readonly ImitatedRate[]) {
  const windows = [...rates].sort((a, b) => a.micros - b.micros);
  let counted: number[] = [];
  return {
    /** Null if the request is within all rates; otherwise which one it breaks, and for how many seconds. */
    take(now: number): { readonly rate: ImitatedRate; readonly seconds: number } | null {
      counted = counted.filter((at) => at > now - Math.max(0, ...windows.map(({ micros }) => micros)));
      for (const rate of windows) {
        const within = counted.filter((at) => at > now - rate.micros);
        if (within.length < rate.requests) continue;
        const oldest = within[within.length - rate.requests] ?? now;
        return { rate, seconds: Math.max(1, Math.ceil((oldest + rate.micros - now) / 1_000_000)) };
      }
      counted.push(now);
      return null;
    },
    usage: (now: number) =>
      windows.map((rate) => {
        const used = counted.filter((at) => at > now - rate.micros).length;
        return { rate: nameOf(rate), used, limit: rate.requests, remaining: rate.requests - used, micros: rate.micros };
      }),
  };
}
