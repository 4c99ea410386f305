/** Checks that the event log belongs to this configuration and to these read models. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { differenceFrom, type LogIdentity, type PaymentTarget } from '../commands/log-identity/log-identity.ts';
import type { Config } from '../config.ts';
import { compareLog } from '../identity/identify-log.ts';
import { paymentTarget } from '../identity/payment-target.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { openStorage } from '../service/open-storage.ts';
import { ChainUnavailable } from '../solana/chain.ts';
import { loadOrCreateKey } from '../solana/keys.ts';
import { createRpcChain } from '../solana/rpc-chain.ts';
import type { Storage } from '../storage/storage.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import { bad, type Diagnosis, good, textOf } from './diagnosis.ts';

const LOG_IDENTITY = 'log identity';

export async function identityOnEngines(config: Config): Promise<Diagnosis> {
  const storage = await openStorage(config);
  try {
    return await logIdentityOf(config, storage);
  } finally {
    await storage.close();
  }
}

/** Checks that log, read models and configuration belong together, as the service does at its start. */
export async function logIdentityOf(config: Config, storage: Storage): Promise<Diagnosis> {
  try {
    const identity = await compareLog({ ...storage, projections: PROJECTIONS });
    if (identity === null) return good(LOG_IDENTITY, 'none yet; the next start creates it');
    const difference = differenceFrom(identity, await targetOf(config, identity));
    if (difference) throw difference;
    const { logId, network, receiver } = identity;
    return good(LOG_IDENTITY, `${logId}, on ${network}, paid to ${receiver}`);
  } catch (error) {
    if (error instanceof StorageFailure) return bad(LOG_IDENTITY, `${error.message} (${error.code})`, error.hint);
    return bad(LOG_IDENTITY, textOf(error), 'Correct the setting that the message names.');
  }
}

/** What the service would compare. An unreachable chain or a key that does not exist yet contradicts nothing. */
async function targetOf({ solana, dataDirectory }: Config, identity: LogIdentity): Promise<PaymentTarget> {
  const { network, rpcUrls, payTo } = solana;
  const keyFile = join(dataDirectory, 'keys', 'receiver.json');
  const receiver = payTo ?? (existsSync(keyFile) ? loadOrCreateKey(keyFile).address : identity.receiver);
  // The local chain of this data folder runs only inside the service, which compared it at its start.
  if (network === 'local' && rpcUrls.length === 0) return { ...identity, receiver };
  const chain = createRpcChain({ urls: rpcUrls, timeoutMs: 2_000, logger: { info: () => {}, warn: () => {} } });
  try {
    return await paymentTarget({ network, receiver, chain });
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { ...identity, receiver };
  } finally {
    chain.close();
  }
}
