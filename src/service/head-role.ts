/** The role `heads`: the process that records signed heads of the log, and anchors them if that is configured. */
import type { Logger } from 'pino';
import type { MasterKeys } from '../callbacks/master-keys.ts';
import type { Config } from '../config.ts';
import { createLogAnchors } from '../processes/log-anchors.ts';
import { createLogHeads } from '../processes/log-heads.ts';
import type { Clock } from '../runtime/instant.ts';
import { leaseOwner } from '../storage/lease-owner.ts';
import type { Storage } from '../storage/storage.ts';
import type { PaymentChain } from './payment-chain.ts';

export interface HeadRoleOptions {
  readonly storage: Storage;
  readonly paymentChain: Pick<PaymentChain, 'chain' | 'feePayer'>;
  readonly config: Pick<Config, 'audit'>;
  readonly logId: string;
  readonly masterKeys: MasterKeys;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface HeadRole {
  /** Records the last head, if this node has the lease and something is new, and releases the lease. */
  stop(): Promise<void>;
}

export function startHeadRole({ storage, paymentChain, config, ...options }: HeadRoleOptions): HeadRole {
  if (!config.audit.heads) return { stop: async () => undefined };
  const stopping = new AbortController();
  const { log, readStore } = storage;
  const { anchor } = config.audit;
  const working = createLogHeads({
    ...options,
    log,
    readStore,
    owner: leaseOwner(),
    ...(anchor && { afterRound: createLogAnchors({ ...options, ...paymentChain, log, every: anchor }) }),
  }).run(stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await working;
    },
  };
}
