/**
 * Waits for a signal that many wait for: one of the process, or of a part of it. One listener on it serves all, since
 * the runtime takes the eleventh for a leak, and writes a warning into the log in the middle of an outage.
 */
interface Waiting {
  readonly listeners: Set<() => void>;
  readonly wakeAll: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls a listener once when the signal aborts; never where it has aborted already.
 * @returns what takes the listener away again
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, wakeAll } = waiting.get(signal) ?? begin(signal);
  // Of its own, so that one function may wait twice.
  const entry = () => listener();
  listeners.add(entry);
  return () => {
    if (!listeners.delete(entry) || listeners.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', wakeAll);
  };
}

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
