import { type Clock, MICROS_PER_SECOND } from '../../instant.ts';
import type { ToolResult } from './tool-result.ts';

/** A result that is the same for everybody: made anew at most once a second, and only when somebody asks. */
export function readyResult(clock: Clock, make: () => ToolResult): () => ToolResult {
  let ready: ToolResult | null = null;
  let madeAt = 0;
  return () => {
    const now = clock.now();
    if (ready === null || Math.abs(now - madeAt) >= MICROS_PER_SECOND) {
      ready = make();
      madeAt = now;
    }
    return ready;
  };
}
