/** Lets a command end its work in order at the first signal to stop; a second one ends the process at once. */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export interface Stopped {
  readonly signal: AbortSignal;
  /** From now on, signals end the process again. */
  end(): void;
}

export function whenStopped(): Stopped {
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  return {
    signal: stopping.signal,
    end() {
      for (const signal of SIGNALS) process.off(signal, stop);
    },
  };
}
