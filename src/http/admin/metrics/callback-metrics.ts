/** Metrics of callbacks: attempts that ended here, and the deliveries of the whole service. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type DeliveryStanding, MOST_COUNTED } from '../../../queries/delivery-standing.ts';
import type { HostStanding } from '../../../queries/status-callbacks.ts';
import type { Sources } from './sources.ts';

export interface CallbackMetrics {
  /** An attempt of a callback has ended; `failureClass` is null if the receiver acknowledged it. */
  attemptEnded(failureClass: string | null, seconds: number): void;
  /** Sets the source for the state of deliveries. */
  watchDeliveries(standing: () => Promise<DeliveryStanding>): void;
  /** Sets the source for what is overdue, and how many hosts are paused. */
  watchHosts(standing: () => Promise<HostStanding>): void;
}

/** Seconds; the last is past an attempt's deadline. */
const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function callbackMetrics(registry: Registry, sources: Sources): CallbackMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'docket_callback_attempts_total',
    help: 'Attempts of callbacks that have ended, by failure class, or acknowledged',
    labelNames: ['failure_class'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'docket_callback_attempt_seconds',
    help: 'Duration of callback attempts',
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  return {
    attemptEnded(failureClass, seconds) {
      attempts.inc({ failure_class: failureClass ?? 'acknowledged' });
      attemptSeconds.observe(seconds);
    },
    watchDeliveries(read) {
      const waiting = new Gauge({
        name: 'docket_callback_deliveries',
        help: `Deliveries with an attempt due or scheduled, counted up to ${MOST_COUNTED}: pending before the first, retrying after it`,
        labelNames: ['status'],
        registers,
      });
      const overdue = new Gauge({
        name: 'docket_callback_oldest_overdue_seconds',
        help: 'How long the oldest due attempt has been waiting',
        registers,
      });
      sources.add({
        name: 'deliveries',
        read,
        show(standing) {
          waiting.reset();
          overdue.remove();
          if (!standing) return;
          waiting.set({ status: 'pending' }, standing.pending);
          waiting.set({ status: 'retrying' }, standing.retrying);
          overdue.set(standing.oldestOverdueSeconds);
        },
      });
    },
    watchHosts(read) {
      const paused = new Gauge({
        name: 'docket_callback_hosts_paused',
        help: 'Hosts whose callbacks an operator has paused',
        registers,
      });
      const overdue = new Gauge({
        name: 'docket_callback_overdue',
        help: 'Attempts due for more than five minutes, without those that wait for a paused host',
        registers,
      });
      sources.add({
        name: 'hosts',
        read,
        show(standing) {
          overdue.remove();
          paused.remove();
          if (!standing) return;
          overdue.set(standing.overdue);
          paused.set(standing.paused);
        },
      });
    },
  };
}
