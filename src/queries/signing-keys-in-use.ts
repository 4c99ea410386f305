/** The signing keys of every wallet, and the master keys still needed. Read from the log, so it is never behind. */
import { ANSWER_RETENTION_DAYS } from '../commands/payment/answer.ts';
import { signingKeys, type ValidKeys, validKeysAt, type WalletKeys } from '../commands/signing-key/signing-key.ts';
import { decodeEvent } from '../events/codec.ts';
import { type SigningKeyEvent, WALLET_STREAM_EVENTS, walletOf } from '../events/signing-key.ts';
import { MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';

/** The keys of each wallet by address, in the order of their first key. */
export async function readAllSigningKeys(log: EventLog): Promise<ReadonlyMap<string, WalletKeys>> {
  const wallets = new Map<string, WalletKeys>();
  const types = WALLET_STREAM_EVENTS.map(({ type }) => type);
  for await (const { events } of log.readAll(null, { by: 'types', types })) {
    for (const recorded of events) {
      const wallet = walletOf(recorded.stream);
      if (wallet === null) continue;
      const known = wallets.get(wallet) ?? signingKeys.initialState;
      wallets.set(wallet, signingKeys.evolve(known, decodeEvent(recorded) as SigningKeyEvent));
    }
  }
  return wallets;
}

/** What still needs a version of the master key. */
export interface MasterVersionUse {
  readonly masterVersion: number;
  /** Keys that sign, or that receivers must still accept. */
  readonly liveKeys: number;
  /** Other keys that are so young that their secret may still wait at a result URL. */
  readonly youngKeys: number;
  /** Stored answers whose id derives from this version. */
  readonly results: number;
}

const SECRETS_WAIT: Micros = ANSWER_RETENTION_DAYS * 86_400 * MICROS_PER_SECOND;

/**
 * By version, oldest first; versions that are not included are no longer needed.
 * @param results the number of stored answers whose id derives from each version
 */
export function masterVersionsInUse(
  wallets: Iterable<WalletKeys>,
  results: ReadonlyMap<number, number>,
  now: Micros,
): readonly MasterVersionUse[] {
  const uses = new Map<number, { liveKeys: number; youngKeys: number; results: number }>();
  for (const [version, count] of results) uses.set(version, { liveKeys: 0, youngKeys: 0, results: count });
  const young = toInstant(now - SECRETS_WAIT);
  for (const keys of wallets) {
    const live = liveIds(validKeysAt(keys, now));
    for (const { keyId, masterVersion, createdAt } of keys.keys) {
      const isLive = live.has(keyId);
      if (!isLive && createdAt < young) continue;
      const use = uses.get(masterVersion) ?? { liveKeys: 0, youngKeys: 0, results: 0 };
      if (isLive) use.liveKeys++;
      else use.youngKeys++;
      uses.set(masterVersion, use);
    }
  }
  return [...uses]
    .map(([masterVersion, use]) => ({ masterVersion, ...use }))
    .toSorted((a, b) => a.masterVersion - b.masterVersion);
}

function liveIds(valid: ValidKeys | null): ReadonlySet<string> {
  if (!valid) return new Set();
  return new Set([valid.current.keyId, ...(valid.previous ? [valid.previous.keyId] : [])]);
}
