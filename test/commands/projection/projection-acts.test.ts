/**
 * Given what operators have decided about a projection, when one decides something more, then exactly that is recorded, or
 * a rule rejects it: one rebuild at a time, no number twice, no unaccepted difference, no way back that is not there.
 */
import { describe, expect, it } from 'vitest';
import {
  isSkipped,
  type ProjectionAct,
  type ProjectionCommand,
  projectionActs,
  unfinishedMove,
} from '../../../src/commands/projection/projection-acts.ts';
import {
  EventSkipped,
  GenerationActivated,
  GenerationRetired,
  RebuildCancelled,
  RebuildStarted,
} from '../../../src/events/operator.ts';
import { given } from '../../given-when-then.ts';

const ACT = { projection: 'cases', by: 'Ann Lee', reason: 'new rules' };
const EVENT_ID = '0b6f7c0e-54a5-4d9a-9d3f-0d7a3c1d2e4f';

const when = (...history: readonly ProjectionAct[]) => given(projectionActs, ...history);
const stateAfter = (...history: readonly ProjectionAct[]) =>
  history.reduce(projectionActs.evolve, projectionActs.initialState);

const started = (generation: number) => RebuildStarted.of({ ...ACT, generation, through: '9' });
const cancelled = (generation: number) => RebuildCancelled.of({ ...ACT, generation });
const retired = (generation: number) => GenerationRetired.of({ ...ACT, generation });
const swapped = (generation: number, previous: number, differences = 0) =>
  GenerationActivated.of({ ...ACT, generation, previous, act: 'swap', comparedAt: '9', differences });
const rolledBack = (generation: number, previous: number) =>
  GenerationActivated.of({ ...ACT, generation, previous, act: 'rollback', comparedAt: null, differences: null });

const start = (present: number, highest = present): ProjectionCommand => {
  return { ...ACT, type: 'StartRebuild', present, highest, through: '9' };
};
const cancel: ProjectionCommand = { ...ACT, type: 'CancelRebuild' };
const swap = (generation: number, present: number, differences = 0, acceptDifferences = false): ProjectionCommand => {
  return { ...ACT, type: 'Swap', generation, present, comparedAt: '9', differences, acceptDifferences };
};
const rollback = (present: number, ...available: number[]): ProjectionCommand => {
  return { ...ACT, type: 'Rollback', present, available };
};
const retire = (generation: number): ProjectionCommand => ({ ...ACT, type: 'Retire', generation });
const skip = (position: string, eventId = EVENT_ID): ProjectionCommand => {
  return { ...ACT, type: 'Skip', position, eventId };
};

describe('a rebuild', () => {
  it('gets the next number', () => {
    when().when(start(1)).then(started(2));
    when(started(2), cancelled(2)).when(start(1)).then(started(3));
  });
  it('uses no number that the log, the pointer or the read store has used', () => {
    when().when(start(4)).then(started(5));
    when().when(start(1, 7)).then(started(8));
    when(started(2), swapped(2, 1), started(3), cancelled(3)).when(start(1)).then(started(4));
  });
  it('is the only one', () => {
    when(started(2)).when(start(1)).thenRejected('building');
  });
  it('is cancelled while it runs', () => {
    when(started(2)).when(cancel).then(cancelled(2));
    when().when(cancel).thenRejected('not_building');
    when(started(2), cancelled(2)).when(cancel).thenRejected('not_building');
    when(started(2), swapped(2, 1)).when(cancel).thenRejected('not_building');
  });
});

describe('a swap', () => {
  it('makes the generation that was built the active one', () => {
    when(started(2)).when(swap(2, 1)).then(swapped(2, 1));
  });
  it('needs a rebuild, and of the generation that was compared', () => {
    when().when(swap(2, 1)).thenRejected('not_building');
    when(started(2), cancelled(2), started(3)).when(swap(2, 1)).thenRejected('other_generation');
    when(started(2), swapped(2, 1)).when(swap(2, 1)).thenRejected('not_building');
  });
  it('is rejected for differences, unless they are accepted; then they are recorded', () => {
    when(started(2))
      .when(swap(2, 1, 3))
      .thenRejected('differs');
    when(started(2))
      .when(swap(2, 1, 3, true))
      .then(swapped(2, 1, 3));
  });
  it('keeps the generation before, and drops the one before that', () => {
    when(started(2), swapped(2, 1), started(3)).when(swap(3, 2)).then(swapped(3, 2), retired(1));
    expect(stateAfter(started(2), swapped(2, 1), started(3), swapped(3, 2), retired(1)).kept).toEqual([2]);
  });
});

describe('a rollback', () => {
  it('leads to the generation before', () => {
    when(started(2), swapped(2, 1))
      .when(rollback(2, 1, 2))
      .then(rolledBack(1, 2));
  });
  it('needs one that is still there', () => {
    when().when(rollback(1, 1)).thenRejected('no_previous');
    when(started(2), swapped(2, 1)).when(rollback(2, 2)).thenRejected('no_previous');
    when(started(2), swapped(2, 1), retired(1))
      .when(rollback(2, 1, 2))
      .thenRejected('no_previous');
  });
  it('of a second operator does not undo that of the first', () => {
    when(started(2), swapped(2, 1), rolledBack(1, 2))
      .when(rollback(1, 1, 2))
      .thenRejected('rolled_back');
  });
  it('can follow the next swap', () => {
    when(started(2), swapped(2, 1), rolledBack(1, 2), started(3), swapped(3, 1))
      .when(rollback(3, 1, 2, 3))
      .then(rolledBack(1, 3));
  });
});

describe('a kept generation', () => {
  it('is retired once', () => {
    when(started(2), swapped(2, 1)).when(retire(1)).then(retired(1));
    when(started(2), swapped(2, 1), retired(1)).when(retire(1)).thenRejected('not_kept');
    when().when(retire(1)).thenRejected('not_kept');
  });
});

describe('a move of readers', () => {
  const acts = stateAfter(started(2), swapped(2, 1));
  it('is unfinished while the pointer is where it was', () => {
    expect(unfinishedMove(acts, 1, [1, 2])).toBe(2);
    expect(unfinishedMove(acts, 2, [1, 2])).toBeNull();
  });
  it('is not made to a generation that was lost, nor from one that the log does not know', () => {
    expect(unfinishedMove(acts, 1, [1])).toBeNull();
    expect(unfinishedMove(acts, 3, [2, 3])).toBeNull();
    expect(unfinishedMove(projectionActs.initialState, 1, [1, 2])).toBeNull();
  });
});

describe('a skipped event', () => {
  const skipped = EventSkipped.of({ ...ACT, position: '7', eventId: EVENT_ID });
  it('is recorded with its id, once', () => {
    when().when(skip('7')).then(skipped);
    when(skipped).when(skip('7')).thenRejected('skipped');
    when(skipped)
      .when(skip('8', '3b6f7c0e-54a5-4d9a-9d3f-0d7a3c1d2e4f'))
      .then(EventSkipped.of({ ...ACT, position: '8', eventId: '3b6f7c0e-54a5-4d9a-9d3f-0d7a3c1d2e4f' }));
  });
  it('is found by its id on an engine where it has another position', () => {
    const [one] = stateAfter(skipped).skipped;
    expect(one && isSkipped(one, { position: '99', id: EVENT_ID })).toBe(true);
    expect(one && isSkipped(one, { position: '7', id: 'another' })).toBe(false);
  });
  it('of an earlier version is found by its position', () => {
    const [one] = stateAfter(EventSkipped.of({ projection: 'cases', position: '7', reason: 'x' })).skipped;
    expect(one && isSkipped(one, { position: '7', id: 'any' })).toBe(true);
    expect(one && isSkipped(one, { position: '8', id: 'any' })).toBe(false);
  });
});
