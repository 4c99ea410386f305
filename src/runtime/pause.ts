import { onAbort } from './on-abort.ts';

/** Waits this many milliseconds, or until the signal aborts, which is not an error. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      leave?.();
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    const leave = signal && onAbort(signal, wake);
  });
}
