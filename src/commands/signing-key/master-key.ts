/**
 * The versions of the master key that signing keys are derived from. The log keeps a fingerprint of each. A node with a
 * different key under a known version must not start: it would sign with secrets that no wallet has.
 */
import { MASTER_KEY_STREAM, type MasterKeyEvent, MasterKeyIntroduced } from '../../events/signing-key.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { type Decider, isRejection, rejected } from '../decider.ts';
import { handleWithRetry, load } from '../handle.ts';

/** Fingerprints by version. */
export type MasterKeyVersions = ReadonlyMap<number, string>;

export interface IntroduceMasterKey {
  readonly type: 'Introduce';
  readonly masterVersion: number;
  readonly fingerprint: string;
  /** Who brings it into use, and why. */
  readonly by: string;
  readonly reason: string;
}

const masterKeyVersions: Decider<MasterKeyVersions, IntroduceMasterKey, MasterKeyEvent, 'another_key'> = {
  initialState: new Map(),

  decide(versions, { type: _, ...introduced }) {
    const { masterVersion, fingerprint } = introduced;
    const known = versions.get(masterVersion);
    if (known === undefined) return [MasterKeyIntroduced.of(introduced)];
    return known === fingerprint ? [] : rejected('another_key');
  },

  evolve: (versions, { data }) => new Map([...versions, [data.masterVersion, data.fingerprint]]),
};

export interface MasterKeyPorts {
  readonly log: EventLog;
  readonly clock: Clock;
}

export const loadMasterKeyVersions = async (log: EventLog): Promise<MasterKeyVersions> =>
  (await load(log, masterKeyVersions, MASTER_KEY_STREAM)).state;

/**
 * Records that a version is in use.
 * @returns false if the log has another key for this version
 */
export async function introduceMasterKey(
  ports: MasterKeyPorts,
  version: Omit<IntroduceMasterKey, 'type'>,
  context: CommandContext,
): Promise<boolean> {
  const command: IntroduceMasterKey = { type: 'Introduce', ...version };
  return !isRejection(await handleWithRetry(ports, masterKeyVersions, MASTER_KEY_STREAM, command, context));
}
