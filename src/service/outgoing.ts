/** How requests of this installation introduce themselves, and what they never reach: the installation itself. */
import type { Logger } from 'pino';
import { createOutbound } from '../callbacks/outbound/guarded-outbound.ts';
import type { Config } from '../config.ts';
import { API_VERSION } from '../http/v2/status.ts';
import { reachableHost } from '../runtime/listen.ts';

export interface OwnAddress {
  readonly port: number;
  readonly publicUrl: string;
}

export const userAgentOf = (publicUrl: string): string => `DocketMonitor/${API_VERSION} (+${publicUrl}/docs)`;

export const ownAddresses = ({ adminPort, solana }: Pick<Config, 'adminPort' | 'solana'>, own: OwnAddress) => ({
  ownHosts: [new URL(own.publicUrl).hostname],
  ownPorts: [own.port, adminPort, solana.localPort].filter((port) => port > 0),
});

/** For a command, which sends requests in place of the service. */
export function outgoingOf(config: Config) {
  const publicUrl = config.publicUrl ?? `http://${reachableHost(config.host)}:${config.port}`;
  return { userAgent: userAgentOf(publicUrl), ...ownAddresses(config, { port: config.port, publicUrl }) };
}

/** The guard that all callbacks pass through. */
export function openOutbound(config: Config, logger: Logger, own: OwnAddress) {
  const { callbackAllowPrivate, callbackNat64Prefixes } = config;
  if (callbackAllowPrivate.length > 0) {
    logger.warn(
      { allowed: callbackAllowPrivate, alarm: 'private_callbacks_allowed' },
      'callbacks may reach private addresses: anyone who pays for a query can make this service call them',
    );
  }
  return createOutbound({
    ...ownAddresses(config, own),
    trustedPairs: callbackAllowPrivate,
    refusedRanges: callbackNat64Prefixes,
  });
}
