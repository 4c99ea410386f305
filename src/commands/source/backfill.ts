/** An order to look at known cases from their beginning: given once, ended once (docs/design/sources.md#backfill). */
import type { EventOf } from '../../events/event.ts';
import { BackfillEnded, BackfillOrdered, type SourceEvent } from '../../events/source.ts';
import { type Decider, rejected } from '../decider.ts';

type Order = EventOf<typeof BackfillOrdered>['data'];
type Ending = EventOf<typeof BackfillEnded>['data'];

export interface BackfillState {
  readonly order: Order | null;
  readonly ended: Ending | null;
}

export type BackfillCommand =
  | { readonly type: 'Order'; readonly order: Order }
  | { readonly type: 'End'; readonly ending: Ending };

/** In the stream `sourceStream.backfill`. */
export const backfill: Decider<BackfillState, BackfillCommand, SourceEvent, 'not_ordered'> = {
  initialState: { order: null, ended: null },

  decide({ order, ended }, command) {
    if (command.type === 'Order') return order ? [] : [BackfillOrdered.of(command.order)];
    if (!order) return rejected('not_ordered');
    return ended ? [] : [BackfillEnded.of(command.ending)];
  },

  evolve(state, { type, data }) {
    if (type === 'BackfillOrdered') return state.order ? state : { ...state, order: data };
    return type === 'BackfillEnded' && !state.ended ? { ...state, ended: data } : state;
  },
};
