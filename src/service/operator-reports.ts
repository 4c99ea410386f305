/** What a running service reports to its operator if something fails outside a request. */
import type { Logger } from 'pino';
import type { Metrics } from '../http/admin/metrics/metrics.ts';

/** Alerts the operator, since only a backup can restore the content. Callers get an error when they ask for it. */
export const reportDamage = (logger: Logger, metrics: Pick<Metrics, 'payloadDamaged'>) => (blob: string) => {
  metrics.payloadDamaged();
  logger.error({ blob, alarm: 'payload_damaged' }, 'stored content is damaged: restore it from a backup');
};

/** Most peers reported: any direct caller can send the header, too. */
const MOST_PEERS_REPORTED = 10;

/** Reports each peer once: without its range, address limits cannot distinguish the clients behind a proxy. */
export function reportUntrustedProxies(logger: Logger) {
  const reported = new Set<string>();
  return (peer: string): void => {
    if (reported.has(peer) || reported.size >= MOST_PEERS_REPORTED) return;
    reported.add(peer);
    logger.warn(
      { peer, alarm: 'untrusted_proxy' },
      'a request with X-Forwarded-For came from an address outside TRUSTED_PROXIES; if it is your proxy, add its range',
    );
  };
}
