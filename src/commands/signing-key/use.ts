/** A wallet's signing keys in the log: reads, creates and rotates them. */
import { walletStream } from '../../events/signing-key.ts';
import type { Clock, Micros } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { load, record, recordedOf } from '../handle.ts';
import { type SigningKeyCommand, signingKeys, type WalletKeys } from './signing-key.ts';

export interface SigningKeyPorts {
  readonly log: EventLog;
  readonly clock: Clock;
  /** Pauses before an append with an unknown outcome is repeated, milliseconds; the production values if omitted. */
  readonly appendRepeatsMs?: readonly number[];
}

export interface NewSigningKeyPorts extends SigningKeyPorts {
  /** A new id for a key. */
  newKeyId(): string;
}

/** The wallet's keys, read from its stream and therefore never outdated. */
export const loadSigningKeys = async (log: EventLog, wallet: string): Promise<WalletKeys> =>
  (await load(log, signingKeys, walletStream(wallet))).state;

/**
 * The wallet's keys; creates the first one if there is none. Of several parallel calls, one creates it and all return
 * the same.
 * @param masterVersion of the master key that new secrets are derived from
 * @throws the errors of the log; the outcome is then unknown, and repeating is safe
 */
export const ensureSigningKey = (
  ports: NewSigningKeyPorts,
  wallet: string,
  masterVersion: number,
  context: CommandContext,
): Promise<WalletKeys> =>
  change(ports, wallet, (at) => ({ type: 'Ensure', keyId: ports.newKeyId(), masterVersion, at }), context);

/**
 * Makes the key with this id the current one. Idempotent, even after later rotations.
 * @throws the errors of the log; the outcome is then unknown, and repeating is safe
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
      // With any number of writers, one always succeeds.
      decisions: Number.POSITIVE_INFINITY,
    },
  );
  if ('rejected' in outcome) return outcome.at.state;
  const { state } = recordedOf(outcome);
  // Another writer may have rotated since; a key that was just replaced must not be shown as the current one.
  return 'since' in outcome && outcome.since ? outcome.since.state : state;
}
