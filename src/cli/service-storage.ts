/** Storage of the service for commands that read or write it, even while the service runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LogIdentity, loadLogIdentity } from '../commands/log-identity/log-identity.ts';
import { type Config, readConfig } from '../config.ts';
import { compareLog } from '../identity/identify-log.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { openRawLog } from '../service/open-raw-log.ts';
import {
  type CopySource,
  type LogStorage,
  openCopySource,
  openEventLog,
  openStorage,
} from '../service/open-storage.ts';
import { isGenesisOf } from '../solana/addresses.ts';
import type { RawEventLog } from '../storage/raw-events.ts';
import type { Storage } from '../storage/storage.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { CliError, EXIT } from './command.ts';

const SET_FOLDER = 'Set DATA_DIR to the data folder of the service.';

/** Whether there is an event log to open. On engines there always is one, even if empty. */
export const hasEventLog = (config: Config): boolean =>
  config.engines !== null || existsSync(join(config.dataDirectory, 'log.sqlite'));

/** @throws CliError if there is no event log */
export function configWithLog(environment: NodeJS.ProcessEnv, hint = SET_FOLDER): Config {
  const config = readConfig(environment);
  if (!hasEventLog(config)) {
    throw new CliError(`There is no event log in ${config.dataDirectory}.`, hint, EXIT.unavailable);
  }
  return config;
}

/**
 * Opens the storage that the service uses.
 * @param hint what to do if nothing has been recorded yet
 * @throws CliError if there is no event log
 */
export const openServiceStorage = async (environment: NodeJS.ProcessEnv, hint = SET_FOLDER): Promise<Storage> =>
  openOwnStorage(configWithLog(environment, hint));

/**
 * Opens the storage of a configuration, after checking that its log and read models belong together and to the
 * configured network. A log without an identity may belong to any.
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

/** Opens only the event log, to append to it: it must be of the configured network. @throws CliError if there is none */
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

/** Checks only the network: a stopped local chain cannot say which one it is, and only payments depend on that. */
function assertNetwork(identity: LogIdentity | null, { solana: { network } }: Config): void {
  if (identity === null || isGenesisOf(network, identity.genesisHash)) return;
  const { logId, genesisHash } = identity;
  throw new StorageFailure(
    'log_chain_differs',
    `event log ${logId} belongs to the chain with genesis hash ${genesisHash}, which is not SOLANA_NETWORK=${network}`,
  );
}

/** Opens only the event log. @throws CliError if there is none */
export const openServiceLog = async (environment: NodeJS.ProcessEnv, hint = SET_FOLDER): Promise<LogStorage> =>
  openEventLog(configWithLog(environment, hint));

/** Opens the event log as it is stored, broken events included. @throws CliError if there is none */
export const openServiceRawLog = async (environment: NodeJS.ProcessEnv): Promise<RawEventLog> =>
  openRawLog(configWithLog(environment, SET_FOLDER));

/** Opens what a copy of the storage reads. @throws CliError if there is no event log */
export const openServiceCopies = async (environment: NodeJS.ProcessEnv): Promise<CopySource> =>
  openCopySource(configWithLog(environment, SET_FOLDER));

/** Opens a storage, runs an action on it, and always closes it. */
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
