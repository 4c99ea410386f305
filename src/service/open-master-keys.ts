/** Opens the master key at a start: from the configuration or the data folder, checked against the log. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseLogger } from 'pino';
import { type MasterKeys, MasterKeyUnreadable, readMasterKeys } from '../callbacks/master-keys.ts';
import { introduceMasterKey, loadMasterKeyVersions, type MasterKeyPorts } from '../commands/signing-key/master-key.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Config } from '../config.ts';
import { createSecretFile } from '../runtime/secret-file.ts';
import type { CommandContext } from '../storage/event-log.ts';

const VARIABLE = 'MASTER_KEY';
const MASTER_KEY_BYTES = 32;

/** The file of the generated master key, in the format of MASTER_KEY. */
export const masterKeyFile = (dataDirectory: string): string => join(dataDirectory, 'keys', 'master-key');

/** A new master key in the format of MASTER_KEY: 32 random bytes under this version. */
export const newMasterKey = (version: number): string => `${version}:${randomBytes(MASTER_KEY_BYTES).toString('hex')}`;

export interface OpenMasterKeysPorts extends MasterKeyPorts {
  readonly logger: Pick<BaseLogger, 'warn'>;
  /** Who is recorded for a version that the log does not know yet: `service` at its start, or an operator. */
  readonly by: string;
}

type IntroducingPorts = MasterKeyPorts & Pick<OpenMasterKeysPorts, 'by'>;

/**
 * The master keys of this process, all recorded in the log. If none is configured, reads the one in the data folder, or
 * generates it under a version that no other node has used.
 * @throws ConfigurationError if the log knows another key under one of these versions, or the file cannot be read
 */
export async function openMasterKeys(
  { log, clock, logger, by }: OpenMasterKeysPorts,
  config: Pick<Config, 'masterKey' | 'dataDirectory' | 'engines'>,
  context: CommandContext,
): Promise<MasterKeys> {
  const ports = { log, clock, by };
  const file = masterKeyFile(config.dataDirectory);
  if (config.masterKey !== null) {
    const masterKeys = readMasterKeys(config.masterKey);
    await introduce(ports, masterKeys, VARIABLE, context);
    return masterKeys;
  }
  const masterKeys = loadMasterKeyFile(file) ?? (await makeMasterKeyFile(ports, file, context));
  await introduce(ports, masterKeys, file, context);
  if (config.engines) {
    logger.warn(
      { file, alarm: 'master_key_generated' },
      'MASTER_KEY is not set, so the one in the data folder is used: other nodes cannot sign with keys that ' +
        'are created here. Set the same MASTER_KEY on every node',
    );
  }
  return masterKeys;
}

/**
 * The content of a master key file; null if there is none.
 * @throws ConfigurationError if it is damaged or unreadable
 */
export function loadMasterKeyFile(file: string): MasterKeys | null {
  const text = readMasterKeyFile(file);
  if (text === null) return null;
  try {
    return readMasterKeys(text);
  } catch (error) {
    if (!(error instanceof MasterKeyUnreadable)) throw error;
    throw wrong(file, `the file is damaged: ${error.message}`);
  }
}

/** The text of the file, in the format of MASTER_KEY; null if there is none. @throws ConfigurationError */
export function readMasterKeyFile(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw wrong(file, `the file cannot be read (${code})`);
  }
}

/** If several processes start at once on one data folder, all get the same key. */
async function makeMasterKeyFile(ports: IntroducingPorts, file: string, context: CommandContext): Promise<MasterKeys> {
  for (;;) {
    const version = Math.max(0, ...(await loadMasterKeyVersions(ports.log)).keys()) + 1;
    const text = newMasterKey(version);
    const made = readMasterKeys(text);
    // Recorded first: a process that dies in between has only used up a version number.
    const commandId = `${context.commandId}/${made.fingerprintOf(version)}`;
    const reason = `generated, because ${VARIABLE} was not set`;
    const recorded = { masterVersion: version, fingerprint: made.fingerprintOf(version), by: ports.by, reason };
    if (!(await introduceMasterKey(ports, recorded, { ...context, commandId }))) continue;
    try {
      createSecretFile(file, `${text}\n`);
      return made;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = loadMasterKeyFile(file);
    if (other) return other;
  }
}

async function introduce(
  ports: IntroducingPorts,
  masterKeys: MasterKeys,
  source: string,
  context: CommandContext,
): Promise<void> {
  const reason = source === VARIABLE ? `set by ${VARIABLE}` : 'found in the data folder';
  for (const version of masterKeys.versions) {
    const fingerprint = masterKeys.fingerprintOf(version);
    const commandId = `${context.commandId}/${fingerprint}`;
    const introduced = { masterVersion: version, fingerprint, by: ports.by, reason };
    if (await introduceMasterKey(ports, introduced, { ...context, commandId })) continue;
    throw wrong(
      source,
      `version ${version} is not the key that this event log knows under that version: its secrets would differ from ` +
        'those that were handed out. Use the key of the other nodes, or give this key an unused version',
    );
  }
}

const wrong = (variable: string, problem: string) => new ConfigurationError([{ variable, problem }]);
