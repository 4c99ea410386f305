/** The storage of the service, for commands that read or write it beside a running one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { type LogStorage, openEventLog, openStorage } from '../open-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { CliError, EXIT } from './command.ts';

const SET_FOLDER = 'Set DATA_DIR to the folder that the service keeps its state in.';

/** Whether there is an event log to open. The engines' is always there, even if empty. */
export const hasEventLog = (config: Config): boolean =>
  config.engines !== null || existsSync(join(config.dataDirectory, 'log.sqlite'));

function configWithLog(environment: NodeJS.ProcessEnv, hint: string): Config {
  const config = readConfig(environment);
  if (!hasEventLog(config)) {
    throw new CliError(`There is no event log in ${config.dataDirectory}.`, hint, EXIT.unavailable);
  }
  return config;
}

/**
 * Opens what the service uses.
 * @param hint what to do where nothing has been recorded yet
 * @throws CliError where there is no event log
 */
export const openServiceStorage = async (environment: NodeJS.ProcessEnv, hint = SET_FOLDER): Promise<Storage> =>
  openStorage(configWithLog(environment, hint));

/** Opens the event log alone. @throws CliError where there is none */
export const openServiceLog = async (environment: NodeJS.ProcessEnv, hint = SET_FOLDER): Promise<LogStorage> =>
  openEventLog(configWithLog(environment, hint));

/** Opens a storage, acts on it, and closes it whatever happens. */
export async function withStorage<Opened extends { close(): Promise<void> }, Result>(
  open: (environment: NodeJS.ProcessEnv) => Promise<Opened>,
  { environment }: { readonly environment: NodeJS.ProcessEnv },
  act: (storage: Opened) => Promise<Result>,
): Promise<Result> {
  const storage = await open(environment);
  try {
    return await act(storage);
  } finally {
    await storage.close();
  }
}
