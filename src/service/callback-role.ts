/** The role `callbacks`: the process that follows settlements and the deliveries that result. */
import type { Logger } from 'pino';
import type { MasterKeys } from '../callbacks/master-keys.ts';
import type { Outbound } from '../callbacks/outbound/outbound.ts';
import { applyKeyCall } from '../commands/signing-key/paid-call.ts';
import { ensureSigningKey } from '../commands/signing-key/use.ts';
import type { Metrics } from '../http/admin/metrics/metrics.ts';
import { createAfterSettlement } from '../processes/after-settlement.ts';
import { createCallbackDeliveries } from '../processes/callbacks/deliveries.ts';
import type { PausedHosts } from '../processes/operator-acts.ts';
import { deliveryStanding, PassedOver } from '../queries/delivery-standing.ts';
import { hostStanding } from '../queries/status-callbacks.ts';
import type { Clock } from '../runtime/instant.ts';
import type { Storage } from '../storage/storage.ts';
import type { Tracer } from '../tracing/tracer.ts';

export interface CallbackRoleOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outbound: Outbound;
  readonly masterKeys: MasterKeys;
  newKeyId(): string;
  readonly owner: string;
  readonly userAgent: string;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly hosts: PausedHosts;
}

export interface CallbackRole {
  /** Starts nothing new, gives running attempts up to ten seconds to end, and releases every lease. */
  stop(): Promise<void>;
}

/** Starts both processes; they resume by themselves what an earlier process left. */
export function startCallbackRole(options: CallbackRoleOptions): CallbackRole {
  const { storage, masterKeys, metrics } = options;
  const { newest } = masterKeys;
  const afterSettlement = createAfterSettlement({
    ...options,
    ...storage,
    ensureKey: (wallet, context) => ensureSigningKey({ ...options, log: storage.log }, wallet, newest, context),
    applyKeyCall: (purchase, context) => applyKeyCall({ ...options, log: storage.log }, purchase, context),
  });
  const deliveries = createCallbackDeliveries({
    ...options,
    ...storage,
    random: Math.random,
    observe: ({ failureClass, durationMs }) => metrics.attemptEnded(failureClass, durationMs / 1000),
  });
  const passed = new PassedOver();
  metrics.watchDeliveries(() => deliveryStanding(storage.readStore, options.clock.now(), passed));
  metrics.watchHosts(() => hostStanding(storage.readStore, options.clock.now()));
  const stopping = new AbortController();
  const following = afterSettlement.run(stopping.signal);
  deliveries.start();
  let stopped: Promise<unknown> | null = null;
  return {
    async stop() {
      stopping.abort();
      stopped ??= Promise.all([following, deliveries.stop()]);
      await stopped;
    },
  };
}
