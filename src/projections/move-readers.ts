/**
 * Moves readers to another generation: to the one that was built beside (swap), or back to the one before (rollback). The
 * log's record of the move is the truth; the pointer follows it (docs/design/operations.md#rebuilding).
 */
import { isRejection } from '../commands/decider.ts';
import { handledOf, record } from '../commands/handle.ts';
import {
  type ProjectionCommand,
  type ProjectionRejection,
  projectionActs,
  rollbackTarget,
  unfinishedMove,
} from '../commands/projection/projection-acts.ts';
import { operatorStream, projectionSubject } from '../events/operator.ts';
import { pause } from '../runtime/pause.ts';
import type { CommandContext, Position } from '../storage/event-log.ts';
import { HeldLease } from '../storage/held-lease.ts';
import { partOf } from '../storage/lease-owner.ts';
import { type Comparison, compareGenerations } from './compare-generations.ts';
import { type KeeperPorts, keepGenerations, movePointer, swapLease } from './generation-keeper.ts';
import type { Projection } from './projection.ts';

export interface OperatorPorts extends KeeperPorts {
  readonly projection: Projection;
  readonly context: CommandContext;
  readonly by: string;
  readonly reason: string;
  readonly signal?: AbortSignal;
}

export interface MovePorts extends OperatorPorts {
  /** Waits until generations have folded everything up to a position. @throws if one of them cannot */
  readonly untilFolded: (generations: readonly number[], position: Position) => Promise<void>;
}

export type MoveRejection =
  | ProjectionRejection
  /** Another process is moving readers of this projection at this moment. */
  | 'moving';

export type Moved = {
  readonly from: number;
  readonly to: number;
  /** Null for a rollback. */
  readonly comparison: Comparison | null;
};

const LEASE_MS = 15_000;
/** Longer than a node takes to see the mark, and than a request takes between its check and its answer. */
const ANNOUNCED_MS = 750;

export interface SwapOptions {
  readonly acceptDifferences: boolean;
  readonly sample: number;
  readonly compared?: (documents: number) => void;
}

/** Compares the generation that was built with the one that readers see; makes it theirs if it is right. */
export async function swap(
  ports: MovePorts,
  { acceptDifferences, sample, compared }: SwapOptions,
): Promise<Moved | { readonly rejected: MoveRejection; readonly comparison?: Comparison }> {
  return moving(ports, async (present, lease) => {
    const { building } = (await keepGenerations(ports, ports.projection)).acts;
    if (building === null) return { rejected: 'not_building' };
    const { generation } = building;
    const untilBoth = (position: Position) => ports.untilFolded([present, generation], position);
    const { log, readStore, projection, signal } = ports;
    const comparison = await compareGenerations({
      ...{ log, readStore, projection, from: present, to: generation, untilBoth, sample },
      ...(signal && { signal }),
      ...(compared && { compared }),
    });
    const { position: comparedAt, differences, undecided } = comparison;
    const move = { generation, present, comparedAt, differences, undecided, acceptDifferences } as const;
    if (differences + undecided > 0 && !acceptDifferences) return { rejected: 'differs', comparison };
    const rejected = await moveTo(ports, lease, present, generation, { type: 'Swap', ...move });
    return rejected === null ? { from: present, to: generation, comparison } : { rejected, comparison };
  });
}

/** Readers see the generation before again, once it has folded everything that is in the log. */
export async function rollback(ports: MovePorts): Promise<Moved | { readonly rejected: MoveRejection }> {
  return moving(ports, async (present, lease) => {
    const { acts, prepared } = await keepGenerations(ports, ports.projection);
    if (acts.activation?.act === 'rollback') return { rejected: 'rolled_back' };
    const generation = rollbackTarget(acts, present, prepared);
    if (generation === null) return { rejected: 'no_previous' };
    await untilAtHead(ports, generation);
    const move = { type: 'Rollback', present, available: [generation] } as const;
    const rejected = await moveTo(ports, lease, present, generation, move);
    return rejected === null ? { from: present, to: generation, comparison: null } : { rejected };
  });
}

/** Runs one move at a time. Whatever happens, the pointer is left without a mark. */
async function moving<Outcome>(
  ports: MovePorts,
  move: (present: number, lease: HeldLease) => Promise<Outcome | { readonly rejected: MoveRejection }>,
): Promise<Outcome | { readonly rejected: MoveRejection }> {
  const { projection, readStore, owner, context } = ports;
  await finishEarlierMove(ports);
  const name = swapLease(projection.name);
  const lease = await HeldLease.acquire({
    ...ports,
    owner: partOf(owner, context.commandId),
    name,
    durationMs: LEASE_MS,
  });
  if (!lease) return { rejected: 'moving' };
  try {
    return await move(await readStore.activeGeneration(projection.name), lease);
  } finally {
    const pointer = await readStore.generationPointer(projection.name);
    // After the loss of the lease, the mark may be that of another operator; a keeper clears ours.
    if (pointer.next !== null && !lease.lost.aborted)
      await readStore.movePointer(projection.name, pointer, { ...pointer, next: null });
    await lease.release();
  }
}

/** A move that a process recorded before it died is completed first, as soon as its generation has caught up with it. */
async function finishEarlierMove(ports: MovePorts): Promise<void> {
  const { acts, pointer, prepared, movedAt } = await keepGenerations(ports, ports.projection);
  const unfinished = unfinishedMove(acts, pointer.active, prepared);
  if (unfinished === null || movedAt === null) return;
  await ports.untilFolded([unfinished], movedAt);
  await keepGenerations(ports, ports.projection);
}

async function untilAtHead({ log, untilFolded }: MovePorts, generation: number): Promise<void> {
  const head = await log.head();
  if (head !== null) await untilFolded([generation], head);
}

/**
 * Moves readers to a generation that has caught up. Announced first: from then on, whatever denies something to a caller
 * holds for both generations, and the nodes are ready to hand the folding over.
 * @returns why not; null if it did
 */
async function moveTo(
  ports: MovePorts,
  lease: HeldLease,
  present: number,
  generation: number,
  command: Body<ProjectionCommand>,
): Promise<MoveRejection | null> {
  // A comparison may take longer than the read store was reachable.
  await lease.assertHeld();
  if (!(await announce(ports, present, generation))) return 'moving';
  await pause(ANNOUNCED_MS, ports.signal);
  await untilAtHead(ports, generation);
  await lease.assertHeld();
  const decided = await decide(ports, command);
  if ('rejected' in decided) return decided.rejected;
  await point(ports, present, generation);
  return null;
}

/** False if the pointer has moved meanwhile. */
const announce = ({ readStore, projection: { name } }: MovePorts, active: number, next: number): Promise<boolean> =>
  readStore.movePointer(name, { active, next: null }, { active, next });

/** After the record of the move. Another process may have been first: then it made the same move. */
async function point({ readStore, projection: { name } }: MovePorts, from: number, to: number): Promise<void> {
  const pointer = await readStore.generationPointer(name);
  if (pointer.active === from) await movePointer(readStore, name, pointer, to);
}

type Body<Command> = Command extends ProjectionCommand ? Omit<Command, 'projection' | 'by' | 'reason'> : never;

/** Records what an operator decided about a projection. */
export async function decide(
  { log, clock, projection: { name }, by, reason, context }: Omit<OperatorPorts, 'readStore' | 'owner'>,
  command: Body<ProjectionCommand>,
) {
  const outcome = await record(
    { log, clock },
    {
      decider: projectionActs,
      stream: operatorStream(projectionSubject(name)),
      command: { ...command, projection: name, by, reason } as ProjectionCommand,
      context,
      decisions: 5,
    },
  );
  const handled = handledOf(outcome);
  return isRejection(handled) ? { rejected: handled.rejected as ProjectionRejection } : handled;
}
