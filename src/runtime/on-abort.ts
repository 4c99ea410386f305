/**
 * Waits for a signal that has many waiters, e.g. one of the whole process. All share one listener on it: Node.js
 * reports an eleventh as a leak, with a warning in the log in the middle of an outage.
 */
interface Waiting {
  readonly listeners: Set<() => void>;
  readonly wakeAll: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls a listener once when the signal aborts; never if it has already aborted.
 * @returns a function that removes the listener
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, wakeAll } = waiting.get(signal) ?? begin(signal);
  // A separate function for each call, so that one listener may wait twice.
  const entry = () => listener();
  listeners.add(entry);
  return () => {
    if (!listeners.delete(entry) || listeners.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', wakeAll);
  };
}

/** Resolves once the signal aborts. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });

function begin(signal: AbortSignal): Waiting {
  const listeners = new Set<() => void>();
  const wakeAll = () => {
    waiting.delete(signal);
    for (const listener of [...listeners]) if (listeners.delete(listener)) listener();
  };
  const begun = { listeners, wakeAll };
  waiting.set(signal, begun);
  signal.addEventListener('abort', wakeAll, { once: true });
  return begun;
}
