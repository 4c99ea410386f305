/**
 * Describes this node to operators: a notice in the read store, written every ten seconds or when a part changes, and
 * the last alarms. Nothing depends on it: while the store does not answer, the node works on.
 */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Health } from '../http/admin/health.ts';
import { NODE_WRITES_EVERY_MS, type NodeReport } from '../queries/status-nodes.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import { onHeartbeat } from '../storage/heartbeat.ts';
import type { Notices } from '../storage/notices.ts';
import { Trouble } from '../storage/trouble.ts';
import type { AlarmKeeper } from './alarm-keeper.ts';

/** The interval of the leases, so that both share a commit. */
const BEAT_MS = 5_000;
/** How long a node that is gone without a stop is shown. */
const SHOWN_FOR: Micros = 3_600 * MICROS_PER_SECOND;
const SAMPLES_COVER: Micros = 60 * MICROS_PER_SECOND;

export interface NodeRoleOptions {
  readonly log: Pick<EventLog, 'head'>;
  readonly readStore: Pick<Notices, 'writeNotices'>;
  readonly health: () => Health;
  readonly feePayer: () => NodeReport['feePayer'];
  readonly alarms: AlarmKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Unique for this process: `leaseOwner()`. */
  readonly owner: string;
  readonly version: string;
}

export interface NodeRole {
  /** Tells where the node listens. */
  listens(addresses: Pick<NodeReport, 'url' | 'adminUrl'>): void;
  /** Writes now, if the store answers. */
  beat(): Promise<void>;
  /** Removes the node and writes the last alarms. */
  stop(): Promise<void>;
}

export function startNodeRole(options: NodeRoleOptions): NodeRole {
  const { log, readStore, health, feePayer, alarms, clock, logger, owner, version } = options;
  const trouble = new Trouble(logger, { process: 'node' });
  const startedAt = toInstant(clock.now());
  const samples: { readonly position: Position; readonly at: Micros }[] = [];
  let addresses: Pick<NodeReport, 'url' | 'adminUrl'> = { url: null, adminUrl: null };
  let written = { text: '', at: Number.NEGATIVE_INFINITY };
  let beating: Promise<void> | null = null;
  let isStopped = false;

  const sample = async (): Promise<void> => {
    // The parts say that the log does not answer; that must be written nevertheless.
    const position = await log.head().catch(() => null);
    const now = clock.now();
    if (position !== null) samples.push({ position, at: now });
    while ((samples[1]?.at ?? now) <= now - SAMPLES_COVER) samples.shift();
  };

  const report = (): NodeReport => {
    const [oldest] = samples;
    return {
      owner,
      host: hostname(),
      pid: process.pid,
      version,
      startedAt,
      ...addresses,
      parts: health(),
      sample: oldest ? { position: oldest.position, at: toInstant(oldest.at) } : null,
      feePayer: feePayer(),
    };
  };

  const write = async (): Promise<void> => {
    await sample();
    const at = clock.now();
    const text = JSON.stringify([addresses, health()]);
    const isDue = Math.abs(at - written.at) >= (NODE_WRITES_EVERY_MS - BEAT_MS / 2) * MICROS_PER_MS;
    if (text !== written.text || isDue) {
      await readStore.writeNotices([{ kind: 'node', id: owner, value: report(), at, expiresAt: at + SHOWN_FOR }]);
      written = { text, at };
    }
    await alarms.write(readStore);
  };

  const beat = (): Promise<void> => {
    beating ??= write()
      .then(
        () => trouble.recovered(),
        (error: unknown) => trouble.failed(error, 'the state of this node could not be written; it is tried again'),
      )
      .finally(() => {
        beating = null;
      });
    return beating;
  };

  const end = onHeartbeat(BEAT_MS, () => {
    if (!isStopped) void beat();
  });
  void beat();
  return {
    listens(where) {
      addresses = where;
      void beat();
    },
    beat,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      end();
      await beating;
      const at = clock.now();
      await readStore.writeNotices([{ kind: 'node', id: owner, value: {}, at, expiresAt: at }]).catch(() => undefined);
      await alarms.write(readStore).catch(() => undefined);
    },
  };
}
