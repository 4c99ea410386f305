/** Results that are the same for everybody: made anew at most once a second, and only when somebody asks. */
import { type Clock, MICROS_PER_SECOND } from '../../instant.ts';
import type { ToolResult } from './tool-result.ts';

/** What is kept at once: a caller who asks for ever new results, or for long ones, is not to fill the memory. */
const MOST_KEPT = 100;
const LONGEST_KEPT = 64 * 1024;

export function readyResults(clock: Clock): (name: string, make: () => ToolResult) => ToolResult {
  const kept = new Map<string, { readonly result: ToolResult; readonly madeAt: number }>();
  return (name, make) => {
    const now = clock.now();
    const known = kept.get(name);
    if (known && Math.abs(now - known.madeAt) < MICROS_PER_SECOND) return known.result;
    const result = make();
    if (result.parts.structured.length > LONGEST_KEPT) return result;
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(name, { result, madeAt: now });
    return result;
  };
}
