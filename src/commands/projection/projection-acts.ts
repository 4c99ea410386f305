/**
 * What operators decide about one projection: which events it skips, and which generation of its documents is built, seen,
 * kept and dropped (docs/design/operations.md#rebuilding).
 */
import type { EventOf } from '../../events/event.ts';
import {
  EventSkipped,
  GenerationActivated,
  GenerationRetired,
  type PROJECTION_ACTS,
  RebuildCancelled,
  RebuildStarted,
} from '../../events/operator.ts';
import type { Position } from '../../storage/event-log.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

export type ProjectionAct = EventOf<(typeof PROJECTION_ACTS)[number]>;

export interface Building {
  readonly generation: number;
  /** The head of the log when it was started; null for an empty log. */
  readonly through: Position | null;
  readonly by: string;
  readonly reason: string;
}

export interface ProjectionActs {
  /** The highest generation that an operator has named; numbers are never used twice. */
  readonly newest: number;
  readonly building: Building | null;
  /** The newest move of the pointer; null before the first. */
  readonly activation: {
    readonly generation: number;
    readonly previous: number;
    readonly act: 'swap' | 'rollback';
  } | null;
  /** Generations that readers saw before and that still follow the log, the latest first. */
  readonly kept: readonly number[];
  readonly skipped: readonly SkippedEvent[];
}

export interface SkippedEvent {
  readonly position: Position;
  /** Null in events of earlier versions. */
  readonly eventId: string | null;
}

interface By {
  readonly projection: string;
  readonly by: string;
  readonly reason: string;
}

/** The generation that the pointer of the read store names, which the log may not know: see `startOver`. */
interface Present {
  readonly present: number;
}

export type ProjectionCommand = By &
  (
    | ({
        readonly type: 'StartRebuild';
        /** The highest generation in the read store. */
        readonly highest: number;
        readonly through: Position | null;
      } & Present)
    | { readonly type: 'CancelRebuild' }
    | ({
        readonly type: 'Swap';
        /** The generation that was compared with the present one. */
        readonly generation: number;
        readonly comparedAt: Position | null;
        readonly differences: number;
        /** Documents that could not be compared; none if omitted. */
        readonly undecided?: number;
        readonly acceptDifferences: boolean;
      } & Present)
    | ({
        readonly type: 'Rollback';
        /** The generations in the read store. */
        readonly available: readonly number[];
      } & Present)
    | { readonly type: 'Retire'; readonly generation: number }
    | { readonly type: 'Skip'; readonly position: Position; readonly eventId: string }
  );

export type ProjectionRejection =
  /** A rebuild is running already. */
  | 'building'
  | 'not_building'
  /** Another generation is being built than the one that was compared. */
  | 'other_generation'
  | 'differs'
  | 'no_previous'
  /** Readers were moved back already: another operator was first. */
  | 'rolled_back'
  /** The generation is not kept for a rollback. */
  | 'not_kept'
  | 'skipped';

export const projectionActs: Decider<ProjectionActs, ProjectionCommand, ProjectionAct, ProjectionRejection> = {
  initialState: { newest: 1, building: null, activation: null, kept: [], skipped: [] },

  decide(acts, command) {
    const { projection, by, reason } = command;
    const act = { projection, by, reason };
    switch (command.type) {
      case 'StartRebuild': {
        if (acts.building) return rejected('building');
        const { present, highest, through } = command;
        const generation = Math.max(acts.newest, present, highest) + 1;
        return [RebuildStarted.of({ ...act, generation, through })];
      }
      case 'CancelRebuild':
        if (!acts.building) return rejected('not_building');
        return [RebuildCancelled.of({ ...act, generation: acts.building.generation })];
      case 'Swap': {
        const { generation, present, comparedAt, differences, undecided = 0, acceptDifferences } = command;
        if (!acts.building) return rejected('not_building');
        if (acts.building.generation !== generation) return rejected('other_generation');
        // What could not be compared is not known to be right either.
        if (differences + undecided > 0 && !acceptDifferences) return rejected('differs');
        const compared = { comparedAt, differences, ...(undecided > 0 && { undecided }) };
        const moved = { ...act, generation, previous: present, act: 'swap', ...compared } as const;
        // A rollback leads to the generation before; those before that one are not kept any longer.
        const older = acts.kept.filter((kept) => kept !== present);
        return [
          GenerationActivated.of(moved),
          ...older.map((kept) => GenerationRetired.of({ ...act, generation: kept })),
        ];
      }
      case 'Rollback': {
        const { present, available } = command;
        if (acts.activation?.act === 'rollback') return rejected('rolled_back');
        const generation = rollbackTarget(acts, present, available);
        if (generation === null) return rejected('no_previous');
        const moved = { generation, previous: present, act: 'rollback', comparedAt: null, differences: null } as const;
        return [GenerationActivated.of({ ...act, ...moved })];
      }
      case 'Retire':
        if (!acts.kept.includes(command.generation)) return rejected('not_kept');
        return [GenerationRetired.of({ ...act, generation: command.generation })];
      case 'Skip': {
        const { position, eventId } = command;
        if (acts.skipped.some((skipped) => isSkipped(skipped, { position, id: eventId }))) return rejected('skipped');
        return [EventSkipped.of({ projection, position, reason, by, eventId })];
      }
      default:
        return unreachable(command);
    }
  },

  evolve(acts, event) {
    switch (event.type) {
      case 'EventSkipped': {
        const { position, eventId = null } = event.data;
        return { ...acts, skipped: [...acts.skipped, { position, eventId }] };
      }
      case 'RebuildStarted': {
        const { generation, through, by, reason } = event.data;
        return { ...acts, newest: Math.max(acts.newest, generation), building: { generation, through, by, reason } };
      }
      case 'RebuildCancelled':
        return { ...acts, building: acts.building?.generation === event.data.generation ? null : acts.building };
      case 'GenerationActivated': {
        const { generation, previous, act } = event.data;
        return {
          ...acts,
          newest: Math.max(acts.newest, generation, previous),
          building: acts.building?.generation === generation ? null : acts.building,
          activation: { generation, previous, act },
          kept: [previous, ...acts.kept.filter((kept) => kept !== generation && kept !== previous)],
        };
      }
      case 'GenerationRetired':
        return { ...acts, kept: acts.kept.filter((kept) => kept !== event.data.generation) };
      default:
        return unreachable(event);
    }
  },
};

/** The generation to which a rollback leads; null if there is none. */
export const rollbackTarget = (acts: ProjectionActs, present: number, available: readonly number[]): number | null =>
  acts.kept.find((kept) => kept !== present && available.includes(kept)) ?? null;

/**
 * Whether an act names this event. Positions differ from engine to engine, so the id decides wherever it was recorded.
 */
export const isSkipped = (
  skipped: SkippedEvent,
  event: { readonly position: Position; readonly id: string },
): boolean => (skipped.eventId === null ? skipped.position === event.position : skipped.eventId === event.id);

/**
 * The move that the log has recorded and the pointer has not made yet, because a process died in between; null if there
 * is none. A pointer elsewhere was moved for another reason: its read models were lost or did not match the log.
 */
export const unfinishedMove = (
  { activation }: ProjectionActs,
  present: number,
  available: readonly number[],
): number | null =>
  activation !== null && activation.previous === present && available.includes(activation.generation)
    ? activation.generation
    : null;
