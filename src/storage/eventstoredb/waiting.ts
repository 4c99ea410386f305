/** Time limits, and how long to pause. */
import { NoAnswer } from './failures.ts';

/** The result, or `NoAnswer` when the limit comes first; then what it gives later is ignored. */
export async function within<Result>(milliseconds: number, what: string, promise: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(what)), milliseconds);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Growing pauses, each shortened by chance, so that many who fail together do not come back together. */
export function backOff(attempt: number, { first, longest }: { readonly first: number; readonly longest: number }) {
  const full = Math.min(longest, first * 2 ** Math.min(attempt, 16));
  return full * (0.5 + Math.random() / 2);
}
