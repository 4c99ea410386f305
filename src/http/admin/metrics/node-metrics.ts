/** Metrics of this node: what runs, whether its parts work, what its storage does, and the alarms that it raised. */
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { RaisedAlarm } from '../../../runtime/alarms.ts';
import { MICROS_PER_SECOND } from '../../../runtime/instant.ts';
import type { AppendOutcome } from '../../../storage/append-times.ts';
import { CLOSE_REASONS, type CloseReason } from '../../unread-answers.ts';
import { type Health, isReady, PART_STATUSES } from '../health.ts';
import type { Sources } from './sources.ts';
import { TimeHistogram } from './time-histogram.ts';

export interface NodeMetrics {
  /** Damaged stored content was found, for the first time. */
  payloadDamaged(): void;
  /** A line with this alarm was logged. */
  alarmRaised(alarm: Pick<RaisedAlarm, 'name' | 'level' | 'at'>): void;
  /** An append to the event log has ended. */
  appendEnded(outcome: AppendOutcome, seconds: number): void;
  /** A connection was closed because its client did not read its answers. */
  unreadClosed(reason: CloseReason): void;
  /** Sets the source for the bytes of unread answers. */
  watchUnread(pendingBytes: () => number): void;
  /** Sets the source for the free disk space; without it the metric does not exist. */
  watchDisk(freeBytes: () => Promise<number | null>): void;
  /** Sets the source for the health of the parts. */
  watchHealth(health: () => Health): void;
}

const APPEND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Left out of prom-client's own: gauges that are named like counters, and the smallest delay, which is a huge number if
 * two scrapes follow each other at once.
 */
const LEFT_OUT = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_min_seconds',
];

export function nodeMetrics(registry: Registry, sources: Sources, version: string): NodeMetrics {
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT) registry.removeSingleMetric(name);
  new Gauge({
    name: 'docket_build_info',
    help: 'Always 1; the labels say which version of the service and of Node this process runs',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.version }, 1);
  const damaged = new Counter({
    name: 'docket_damaged_payloads_total',
    help: 'Blobs of stored content found damaged',
    registers,
  });
  const alarms = new Counter({
    name: 'docket_alarms_total',
    help: 'Log lines with an alarm, by its name and the level of the line',
    labelNames: ['alarm', 'level'],
    registers,
  });
  const alarmedAt = new Gauge({
    name: 'docket_alarm_last_timestamp_seconds',
    help: 'When an alarm was last logged by this process; unlike the counter, it also shows the first one after a start',
    labelNames: ['alarm', 'level'],
    registers,
  });
  const appends = new TimeHistogram(registry, {
    name: 'docket_log_append_seconds',
    help: 'Duration of appends to the event log, by outcome',
    labelNames: ['outcome'],
    buckets: APPEND_SECONDS,
  });
  const unreadClosed = new Counter({
    name: 'docket_unread_answers_closed_total',
    help: 'Connections closed because of unread answers: slow, or a limit was reached (address, total, pipelined)',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of CLOSE_REASONS) unreadClosed.inc({ reason }, 0);
  return {
    payloadDamaged: () => damaged.inc(),
    alarmRaised({ name: alarm, level, at }) {
      alarms.inc({ alarm, level });
      alarmedAt.set({ alarm, level }, at / MICROS_PER_SECOND);
    },
    appendEnded: (outcome, seconds) => appends.observe(seconds, outcome),
    unreadClosed: (reason) => unreadClosed.inc({ reason }),
    watchUnread(pendingBytes) {
      new Gauge({
        name: 'docket_unread_answer_bytes',
        help: 'Bytes of answers written but not yet accepted by clients',
        registers,
        collect() {
          this.set(pendingBytes());
        },
      });
    },
    watchDisk(freeBytes) {
      const free = new Gauge({
        name: 'docket_disk_free_bytes',
        help: 'Free bytes on the file system of DATA_DIR',
        registers,
      });
      sources.add({
        name: 'disk',
        read: freeBytes,
        show(bytes) {
          if (bytes === null) free.remove();
          else free.set(bytes);
        },
      });
    },
    watchHealth(health) {
      new Gauge({
        name: 'docket_ready',
        help: 'Whether this node is ready (1 or 0), as /readyz says',
        registers,
        collect() {
          this.set(Number(isReady(health())));
        },
      });
      new Gauge({
        name: 'docket_part_health',
        help: 'Health of each part that /readyz checks: 1 for its present status, 0 for the others',
        labelNames: ['part', 'status'],
        registers,
        collect() {
          for (const [part, found] of Object.entries(health())) {
            for (const status of PART_STATUSES) this.set({ part, status }, Number(found.status === status));
          }
        },
      });
    },
  };
}
