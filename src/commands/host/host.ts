/** Whether callbacks to one host are paused. An act that changes nothing records nothing. */
import type { EventOf } from '../../events/event.ts';
import { type HOST_ACTS, HostPaused, HostResumed } from '../../events/operator.ts';
import type { Decider } from '../decider.ts';

export type HostAct = EventOf<(typeof HOST_ACTS)[number]>;

export interface Host {
  /** Who paused it and why; null if it is not paused. */
  readonly paused: { readonly by: string; readonly reason: string } | null;
}

export interface HostCommand {
  readonly type: 'Pause' | 'Resume';
  /** Scheme, host and port. */
  readonly origin: string;
  readonly by: string;
  readonly reason: string;
}

export const host: Decider<Host, HostCommand, HostAct> = {
  initialState: { paused: null },

  decide({ paused }, { type, ...act }) {
    if (type === 'Pause') return paused ? [] : [HostPaused.of(act)];
    return paused ? [HostResumed.of(act)] : [];
  },

  evolve(state, { type, data: { by, reason } }) {
    if (type === 'HostResumed') return { paused: null };
    return state.paused ? state : { paused: { by, reason } };
  },
};
