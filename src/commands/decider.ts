/** A decider is plain data: three pure functions that state the rules of one aggregate. */
import type { DomainEvent } from '../events/event.ts';

/** A business rule rejected the command. Deciders are total: they return this instead of throwing. */
export interface Rejection<Code extends string = string> {
  readonly rejected: Code;
}

export const rejected = <const Code extends string>(code: Code): Rejection<Code> => ({ rejected: code });

export const isRejection = (outcome: object): outcome is Rejection => 'rejected' in outcome;

export interface Decider<State, Command, Event extends DomainEvent, Code extends string = never> {
  readonly initialState: State;
  decide(state: State, command: Command): readonly Event[] | Rejection<Code>;
  evolve(state: State, event: Event): State;
  /** Optional: applies several events with one copy of a large state. */
  evolveAll?(state: State, events: readonly Event[]): State;
}

/** Makes the compiler prove that a switch is complete. */
export function unreachable(value: never): never {
  throw new Error(`not reachable: ${JSON.stringify(value)}`);
}
