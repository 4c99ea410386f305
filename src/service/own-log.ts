/** The log of this service: opened only if it belongs to everything else, and watched from then on. */
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Metrics } from '../http/admin/metrics/metrics.ts';
import { API_VERSION } from '../http/v2/status.ts';
import { identifyLog } from '../identity/identify-log.ts';
import { paymentTarget } from '../identity/payment-target.ts';
import { watchLog } from '../identity/watched-log.ts';
import { PROJECTIONS } from '../projections/all.ts';
import type { Clock } from '../runtime/instant.ts';
import { ChainUnavailable } from '../solana/chain.ts';
import { withAppendTimes } from '../storage/append-times.ts';
import type { Storage } from '../storage/storage.ts';
import type { PaymentChain } from './payment-chain.ts';
import { startContext } from './start-context.ts';

interface OwnLogParts {
  /** Called once, when the log is lost until a restart. */
  readonly onLost: () => void;
  readonly config: Config;
  readonly storage: Storage;
  readonly paymentChain: PaymentChain;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'appendEnded'>;
}

/**
 * Opens the log after checking that it belongs to these read models, this chain and this receiver. From then on it is
 * watched. @throws StorageFailure if it is another log
 */
export async function openOwnLog({ config, storage, paymentChain, clock, logger, metrics, onLost }: OwnLogParts) {
  const parts = { network: config.solana.network, receiver: paymentChain.receiver.payTo, chain: paymentChain.chain };
  const { identity, newest } = await identifyLog({
    ...storage,
    projections: PROJECTIONS,
    expected: await paymentTarget(parts),
    version: API_VERSION,
    clock,
    logger,
    context: startContext(),
  });
  const log = watchLog({
    log: storage.log,
    identity,
    newest,
    expected: () =>
      paymentTarget(parts).catch((error: unknown) => {
        if (error instanceof ChainUnavailable) return null;
        throw error;
      }),
    logger,
    onLost,
  });
  return { log: withAppendTimes(log, metrics.appendEnded), logIdentity: identity };
}
