// Preloaded into a service whose wall clock a test moves (NODE_OPTIONS=--require): every Date of the current time is
// shifted by the milliseconds in the file CLOCK_SHIFT_FILE. Timers and the monotonic clock are unchanged.
const { readFileSync } = require('node:fs');

const file = process.env.CLOCK_SHIFT_FILE;
if (file) {
  const Real = Date;
  let shift = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  const now = () => {
    if (performance.now() - readAt > 20) {
      readAt = performance.now();
      try {
        shift = Number(readFileSync(file, 'utf8')) || 0;
      } catch {
        // It has not been moved yet.
      }
    }
    return Real.now() + shift;
  };
  globalThis.Date = class ShiftedDate extends Real {
    constructor(...parts) {
      if (parts.length) super(...parts);
      else super(now());
    }
    static now() {
      return now();
    }
  };
}
