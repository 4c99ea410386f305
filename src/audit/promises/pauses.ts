/** Which hosts an operator has paused: callbacks to them wait, and use up none of their attempts. */
import type { DomainEvent, EventOf } from '../../events/event.ts';
import { type HOST_ACTS, HostPaused, HostResumed } from '../../events/operator.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { CallbackPromise } from './promise.ts';

type HostAct = EventOf<(typeof HOST_ACTS)[number]>;

export const isHostAct = (event: DomainEvent): event is HostAct =>
  event.type === HostPaused.type || event.type === HostResumed.type;

export interface Pause {
  readonly since: Instant;
  readonly by: string;
  readonly reason: string;
}

export class Pauses {
  /** By origin. There are few: each is an operator's act. */
  readonly #paused = new Map<string, Pause>();

  apply({ type, data: { origin, by, reason } }: HostAct, at: Instant): void {
    if (type === HostResumed.type) this.#paused.delete(origin);
    // Repeated, it changes nothing.
    else if (!this.#paused.has(origin)) this.#paused.set(origin, { since: at, by, reason });
  }

  of({ origin }: Pick<CallbackPromise, 'origin'>): Pause | null {
    return this.#paused.get(origin) ?? null;
  }
}
