/** The storage of the service, for commands that read or write it beside a running one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import type { Storage } from '../storage/storage.ts';
import { CliError, EXIT } from './command.ts';

/**
 * Opens what the service uses.
 * @param hint what to do where nothing has been recorded yet
 * @throws CliError where there is no event log
 */
export async function openServiceStorage(environment: NodeJS.ProcessEnv, hint: string): Promise<Storage> {
  const config = readConfig(environment);
  if (!config.engines && !existsSync(join(config.dataDirectory, 'log.sqlite'))) {
    throw new CliError(`There is no event log in ${config.dataDirectory}.`, hint, EXIT.unavailable);
  }
  const { openStorage } = await import('../main.ts');
  return openStorage(config);
}

/** Opens a storage, acts on it, and closes it whatever happens. */
export async function withStorage<Opened extends { close(): Promise<void> }>(
  open: (environment: NodeJS.ProcessEnv) => Promise<Opened>,
  { environment }: { readonly environment: NodeJS.ProcessEnv },
  act: (storage: Opened) => Promise<void>,
): Promise<void> {
  const storage = await open(environment);
  try {
    await act(storage);
  } finally {
    await storage.close();
  }
}
