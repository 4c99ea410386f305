/** Tests of deciders read as the specification: given what happened, when a command comes, then this happens. */
import { expect } from 'vitest';
import { type Decider, isRejection } from '../src/commands/decider.ts';
import type { DomainEvent } from '../src/events/event.ts';

export function given<State, Command, Event extends DomainEvent, Code extends string>(
  decider: Decider<State, Command, Event, Code>,
  ...history: readonly Event[]
) {
  const state = history.reduce((folded, event) => decider.evolve(folded, event), decider.initialState);
  return {
    when(command: Command) {
      const outcome = decider.decide(state, command);
      return {
        then(...expected: readonly Event[]) {
          expect(outcome).toEqual(expected);
        },
        thenRejected(code: Code) {
          expect(isRejection(outcome) ? outcome.rejected : outcome).toBe(code);
        },
      };
    },
    /** The state that the history leads to. */
    state,
  };
}
