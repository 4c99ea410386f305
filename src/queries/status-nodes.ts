/** The nodes that run the service, as each describes itself, and what each owns (docs/design/operations.md#status). */
import { z } from 'zod';
import { Instant, type Micros, toInstant } from '../runtime/instant.ts';
import { isDeadOwner, isHeldBy } from '../storage/lease-owner.ts';
import type { Notices } from '../storage/notices.ts';
import type { ReadStore } from '../storage/read-store.ts';

const Part = z.object({
  status: z.enum(['nominal', 'degraded', 'down']),
  since: Instant,
  reason: z.string().nullable(),
  code: z.string().optional(),
  hint: z.string().optional(),
});
export type StatusPart = z.infer<typeof Part>;

/** What a node writes about itself every few seconds. */
export const NodeReport = z.object({
  owner: z.string(),
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  startedAt: Instant,
  /** Null until the node listens. */
  url: z.string().nullable(),
  adminUrl: z.string().nullable(),
  parts: z.record(z.string(), Part),
  /** The oldest position of the log in the last minute, and when it was the newest one. */
  sample: z.object({ position: z.string(), at: Instant }).nullable(),
  /** Lamports, decimal. Null if the balance was never read. */
  feePayer: z.object({ address: z.string(), lamports: z.string(), at: Instant }).nullable(),
});
export type NodeReport = z.infer<typeof NodeReport>;

export interface NodeStanding extends NodeReport {
  /** `dead`: its process has ended without a stop. `silent`: it has not written for longer than it ever should. */
  readonly state: 'running' | 'silent' | 'dead';
  /** By the node's clock. */
  readonly lastSeen: Instant;
  /** Names of the leases that it holds. */
  readonly leases: readonly string[];
}

/** A node writes at least every `NODE_WRITES_EVERY_MS`. */
export const NODE_WRITES_EVERY_MS = 10_000;
const SILENT_AFTER: Micros = 3 * NODE_WRITES_EVERY_MS * 1000;

export interface OtherLease {
  readonly name: string;
  readonly owner: string;
  readonly expiresAt: Instant;
}

export interface Nodes {
  readonly nodes: readonly NodeStanding[];
  /** Leases of processes that are not nodes, or of nodes of an earlier version. */
  readonly others: readonly OtherLease[];
}

export async function statusNodes(readStore: Notices & Pick<ReadStore, 'leases'>, now: Micros): Promise<Nodes> {
  const [notices, leases] = await Promise.all([readStore.notices('node', now), readStore.leases(now)]);
  const nodes = notices.flatMap(({ value, at }): readonly NodeStanding[] => {
    const { data: report } = NodeReport.safeParse(value);
    if (!report) return [];
    const held = leases.filter(({ owner }) => isHeldBy(owner, report.owner)).map(({ name }) => name);
    return [{ ...report, state: stateOf(report, at, now), lastSeen: toInstant(at), leases: held }];
  });
  return {
    nodes: nodes.toSorted((a, b) => (a.host + a.startedAt < b.host + b.startedAt ? -1 : 1)),
    others: leases
      .filter(({ owner }) => !nodes.some((node) => isHeldBy(owner, node.owner)))
      .map(({ name, owner, expiresAt }) => ({ name, owner, expiresAt: toInstant(expiresAt) })),
  };
}

function stateOf({ owner }: NodeReport, at: Micros, now: Micros): NodeStanding['state'] {
  if (isDeadOwner(owner)) return 'dead';
  return now - at > SILENT_AFTER ? 'silent' : 'running';
}
