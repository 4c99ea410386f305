/** Time limits and pauses between retries. */
import { NoAnswer } from './failures.ts';

/** The result, or `NoAnswer` if the limit comes first; a later result is then ignored. */
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

/** Growing pauses, each randomly shortened, so that clients that fail together do not all retry at the same moment. */
export function backOff(attempt: number, { first, longest }: { readonly first: number; readonly longest: number }) {
  const full = Math.min(longest, first * 2 ** Math.min(attempt, 16));
  return full * (0.5 + Math.random() / 2);
}
