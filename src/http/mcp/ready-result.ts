/** Results that are the same for everybody: made anew at most once a second, and only when somebody asks. */
import { type Clock, MICROS_PER_SECOND } from '../../instant.ts';
import type { ToolResult } from './tool-result.ts';

/** How many results are kept; a caller who asks for ever new ones is not to fill the memory. */
const MOST_KEPT = 200;

export function readyResults(clock: Clock): (name: string, make: () => ToolResult) => ToolResult {
  const kept = new Map<string, { readonly result: ToolResult; readonly madeAt: number }>();
  return (name, make) => {
    const now = clock.now();
    const known = kept.get(name);
    if (known && Math.abs(now - known.madeAt) < MICROS_PER_SECOND) return known.result;
    if (kept.size >= MOST_KEPT) kept.clear();
    const result = make();
    kept.set(name, { result, madeAt: now });
    return result;
  };
}
