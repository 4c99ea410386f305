/**
 * A wait for what must come lasts at least 30 seconds, because a shared machine may pause for longer than Vitest's
 * default of one second. `expect.poll` gets the same from the configurations.
 */
import { vi } from 'vitest';

export const LEAST_PATIENCE_MS = 30_000;

type Options = number | { readonly timeout?: number; readonly interval?: number } | undefined;

const patient = (options: Options) => {
  const { timeout = 0, interval = 25 } = typeof options === 'number' ? { timeout: options } : (options ?? {});
  return { timeout: Math.max(timeout, LEAST_PATIENCE_MS), interval };
};

const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
