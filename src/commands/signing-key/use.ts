/** A wallet's signing keys in the log: read, made when first needed, rotated. */
import { walletStream } from '../../events/signing-key.ts';
import type { Clock, Micros } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { load, record, recordedOf } from '../handle.ts';
import { type SigningKeyCommand, signingKeys, type WalletKeys } from './signing-key.ts';

export interface SigningKeyPorts {
  readonly log: EventLog;
  readonly clock: Clock;
  /** Pauses before an append of unknown outcome is repeated, milliseconds; as in production where left out. */
  readonly appendRepeatsMs?: readonly number[];
}

export interface NewSigningKeyPorts extends SigningKeyPorts {
  /** Id of a key that does not exist yet. */
  newKeyId(): string;
}

/** The wallet's keys as its stream tells them: never behind. */
export const loadSigningKeys = async (log: EventLog, wallet: string): Promise<WalletKeys> =>
  (await load(log, signingKeys, walletStream(wallet))).state;

/**
 * The wallet's keys; makes its first one where it has none. Of many at once, one makes it and all get the same.
 * @param masterVersion of the master key that new secrets are derived from
 * @throws what the log throws; then it is not known whether the key was made, and asking again is safe
 */
export const ensureSigningKey = (
  ports: NewSigningKeyPorts,
  wallet: string,
  masterVersion: number,
  context: CommandContext,
): Promise<WalletKeys> =>
  change(ports, wallet, (at) => ({ type: 'Ensure', keyId: ports.newKeyId(), masterVersion, at }), context);

/**
 * Makes the key of this id the current one. It is made once, however often this is asked for, even after later keys.
 * @throws what the log throws; then it is not known whether the key was made, and asking again is safe
 */
export const rotateSigningKey = (
  ports: SigningKeyPorts,
  wallet: string,
  rotation: { readonly keyId: string; readonly masterVersion: number; readonly requireSignIn?: boolean },
  context: CommandContext,
): Promise<WalletKeys> => change(ports, wallet, (at) => ({ type: 'Rotate', ...rotation, at }), context);

async function change(
  { log, clock, appendRepeatsMs }: SigningKeyPorts,
  wallet: string,
  commandAt: (now: Micros) => SigningKeyCommand,
  context: CommandContext,
): Promise<WalletKeys> {
  const outcome = await record(
    { log, clock },
    {
      decider: signingKeys,
      stream: walletStream(wallet),
      command: commandAt,
      context,
      repeatsMs: appendRepeatsMs,
      // Among any number of writers one always gets on.
      decisions: Number.POSITIVE_INFINITY,
    },
  );
  if ('rejected' in outcome) return outcome.at.state;
  const { state } = recordedOf(outcome);
  // Others may have written since: a key that was just replaced must not be shown as the current one.
  return 'since' in outcome && outcome.since ? outcome.since.state : state;
}
