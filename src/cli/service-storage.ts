/** The storage of the service, for commands that read or write it beside a running one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LogIdentity, loadLogIdentity } from '../commands/log-identity/log-identity.ts';
import { type Config, readConfig } from '../config.ts';
import { compareLog } from '../identity/identify-log.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { type LogStorage, openEventLog, openStorage } from '../service/open-storage.ts';
import { isGenesisOf } from '../solana/addresses.ts';
import type { Storage } from '../storage/storage.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
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
  openOwnStorage(configWithLog(environment, hint));

/**
 * Opens the storage of a configuration, once its log and its read models are known to belong together and to the
 * configured network. A log that no service has named yet may belong to any.
 * @throws StorageFailure if they do not
 */
export async function openOwnStorage(config: Config): Promise<Storage> {
  const storage = await openStorage(config);
  try {
    assertNetwork(await compareLog({ ...storage, projections: PROJECTIONS }), config);
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Opens the event log alone, to add to it: it must be of the configured network. @throws CliError where there is none */
export async function openOwnLog(environment: NodeJS.ProcessEnv): Promise<LogStorage> {
  const config = configWithLog(environment, SET_FOLDER);
  const opened = await openEventLog(config);
  try {
    assertNetwork(await loadLogIdentity(opened.log), config);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Which local chain it is cannot be asked while the service is stopped, and matters to payments alone. */
function assertNetwork(identity: LogIdentity | null, { solana: { network } }: Config): void {
  if (identity === null || isGenesisOf(network, identity.genesisHash)) return;
  const { logId, genesisHash } = identity;
  throw new StorageFailure(
    'log_chain_differs',
    `event log ${logId} belongs to the chain with genesis hash ${genesisHash}, which is not SOLANA_NETWORK=${network}`,
  );
}

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
