/** The orders to forget: each is given once and completed once. */
import {
  ForgetCompleted,
  type ForgetEvent,
  type ForgetOrder,
  ForgetOrdered,
  type RemovedCounts,
} from '../../events/forget.ts';
import { type Decider, rejected } from '../decider.ts';

export interface KnownOrder {
  readonly order: ForgetOrder;
  /** Null while it is open. */
  readonly removed: RemovedCounts | null;
}

export type ForgetOrders = ReadonlyMap<string, KnownOrder>;

export type ForgetCommand =
  | { readonly type: 'Order'; readonly order: ForgetOrder }
  | { readonly type: 'Complete'; readonly forgetId: string; readonly removed: RemovedCounts };

export const forgetOrders: Decider<ForgetOrders, ForgetCommand, ForgetEvent, 'not_ordered'> = {
  initialState: new Map(),

  decide(orders, command) {
    if (command.type === 'Order') return orders.has(command.order.forgetId) ? [] : [ForgetOrdered.of(command.order)];
    const { forgetId, removed } = command;
    const known = orders.get(forgetId);
    if (!known) return rejected('not_ordered');
    return known.removed === null ? [ForgetCompleted.of({ forgetId, removed })] : [];
  },

  evolve(orders, { type, data }) {
    const next = new Map(orders);
    if (type === 'ForgetOrdered') next.set(data.forgetId, { order: data, removed: null });
    else {
      const known = orders.get(data.forgetId);
      if (known) next.set(data.forgetId, { ...known, removed: data.removed });
    }
    return next;
  },
};
