/**
 * Which partitions of the deliveries this process handles. Nodes announce themselves in one cell, and each acquires at
 * most its fair share of the leases. A new node gets its share within seconds, and the share of a dead node is
 * redistributed. Leases only avoid duplicate work; the log ensures that two nodes never make the same attempt.
 */
import type { BaseLogger } from 'pino';
import { PARTITIONS } from '../../projections/deliveries.ts';
import { type Clock, MICROS_PER_MS, type Micros } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import { HeldLease } from '../../storage/held-lease.ts';
import { isDeadOwner } from '../../storage/lease-owner.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { Trouble } from '../../storage/trouble.ts';

export interface PartitionOptions {
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly owner: string;
  readonly logger: Pick<BaseLogger, 'warn' | 'error'>;
  /** How long the partitions of a dead node stay unavailable, milliseconds. */
  readonly leaseMs?: number;
}

export interface Partitions {
  holds(partition: number): boolean;
  held(): readonly number[];
  /**
   * Acquires and releases leases until the signal aborts, then releases all. `changed` receives the acquired and the
   * lost partitions.
   */
  run(signal: AbortSignal, changed: (taken: readonly number[], lost: readonly number[]) => void): Promise<void>;
}

const LEASE_MS = 15_000;
const LOOKS_IN_A_LEASE = 15;
const NODES = 'callback-nodes';
/** A node renews its announcement this many times per lease. */
const ANNOUNCEMENTS_IN_A_LEASE = 3;

/** Until when each node counts as alive, by its owner's name. */
type Nodes = Readonly<Record<string, Micros>>;

export function createPartitions(options: PartitionOptions): Partitions {
  const { readStore, clock, owner, logger, leaseMs = LEASE_MS } = options;
  const leases = new Map<number, HeldLease>();

  const holds = (partition: number): boolean => leases.get(partition)?.lost.aborted === false;

  async function run(
    signal: AbortSignal,
    changed: (taken: readonly number[], lost: readonly number[]) => void,
  ): Promise<void> {
    const trouble = new Trouble(logger, { process: 'callback-partitions' });
    while (!signal.aborted) {
      try {
        await balance(signal, changed);
        trouble.recovered();
      } catch (error) {
        trouble.failed(error, 'the partitions of deliveries could not be shared out; it is tried again');
      }
      await pause(leaseMs / LOOKS_IN_A_LEASE, signal);
    }
    const releases = [...leases.values()].map((lease) => lease.release().catch(() => undefined));
    leases.clear();
    await Promise.all(releases);
    await announce(0).catch(() => undefined);
  }

  async function balance(
    signal: AbortSignal,
    changed: (taken: readonly number[], lost: readonly number[]) => void,
  ): Promise<void> {
    const taken: number[] = [];
    const lost: number[] = [];
    const nodes = await announce(leaseMs * MICROS_PER_MS);
    const fair = Math.ceil(PARTITIONS / nodes);
    try {
      for (const [partition, lease] of [...leases]) {
        if (holds(partition) && leases.size <= fair) continue;
        leases.delete(partition);
        lost.push(partition);
        await lease.release();
      }
      // Each node starts at another partition, so that they do not all request the same ones first.
      const start = [...owner].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % PARTITIONS, 0);
      for (let step = 0; step < PARTITIONS && leases.size < fair && !signal.aborted; step++) {
        const partition = (start + step) % PARTITIONS;
        if (leases.has(partition)) continue;
        const name = `callbacks/${partition}`;
        const lease = await HeldLease.acquire({ readStore, clock, owner, name, durationMs: leaseMs });
        if (!lease) continue;
        leases.set(partition, lease);
        taken.push(partition);
      }
    } finally {
      if (taken.length > 0 || lost.length > 0) changed(taken, lost);
    }
  }

  /**
   * Announces until when this node is alive.
   * @returns the number of live nodes
   */
  async function announce(micros: Micros): Promise<number> {
    for (;;) {
      const now = clock.now();
      const { version, value } = await readStore.cell(NODES);
      const known = (value ?? {}) as Nodes;
      const others = Object.entries(known).filter(
        ([name, until]) =>
          name !== owner && until > now && until <= now + 10 * leaseMs * MICROS_PER_MS && !isDeadOwner(name),
      );
      const mine = known[owner] ?? 0;
      const isFresh =
        mine > now + (micros * (ANNOUNCEMENTS_IN_A_LEASE - 1)) / ANNOUNCEMENTS_IN_A_LEASE && mine <= now + micros;
      const wanted = Object.fromEntries([...others, ...(micros > 0 ? [[owner, now + micros] as const] : [])]);
      const unchanged = others.length === Object.keys(known).length - (owner in known ? 1 : 0);
      if (micros > 0 && isFresh && unchanged) return others.length + 1;
      if (await readStore.compareAndSet(NODES, version, wanted)) return others.length + 1;
    }
  }

  return { holds, held: () => [...leases.keys()].filter(holds), run };
}
