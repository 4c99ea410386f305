/**
 * One timer for all periodic work of this process that has the same interval, so that its writes share a commit. An
 * idle service holds more than twenty leases; written one by one, they came to 1 MB a minute.
 */
interface Beat {
  readonly timer: NodeJS.Timeout;
  readonly listeners: Set<() => void>;
}

const beats = new Map<number, Beat>();

/**
 * Calls a listener at least once per interval from now on; the first call may come earlier.
 * @returns a function that ends the calls
 */
export function onHeartbeat(intervalMs: number, listener: () => void): () => void {
  let beat = beats.get(intervalMs);
  if (!beat) {
    const listeners = new Set<() => void>();
    const timer = setInterval(() => {
      for (const each of [...listeners]) each();
    }, intervalMs);
    beat = { timer, listeners };
    beats.set(intervalMs, beat);
  }
  const { timer, listeners } = beat;
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    clearInterval(timer);
    beats.delete(intervalMs);
  };
}
