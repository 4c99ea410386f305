import { onAbort } from './on-abort.ts';

/** Waits so many milliseconds, at most until the signal aborts; that is no error. */
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
