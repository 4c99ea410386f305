/** Whether anything is sold to one wallet. An act that changes nothing records nothing. */
import type { EventOf } from '../../events/event.ts';
import { type WALLET_ACTS, WalletBanned, WalletUnbanned } from '../../events/operator.ts';
import type { Decider } from '../decider.ts';

export type WalletAct = EventOf<(typeof WALLET_ACTS)[number]>;

export interface WalletBan {
  /** Who banned it and why; null if it is not banned. */
  readonly banned: { readonly by: string; readonly reason: string } | null;
}

export interface WalletBanCommand {
  readonly type: 'Ban' | 'Unban';
  readonly wallet: string;
  readonly by: string;
  readonly reason: string;
}

export const walletBan: Decider<WalletBan, WalletBanCommand, WalletAct> = {
  initialState: { banned: null },

  decide({ banned }, { type, ...act }) {
    if (type === 'Ban') return banned ? [] : [WalletBanned.of(act)];
    return banned ? [WalletUnbanned.of(act)] : [];
  },

  evolve(state, { type, data: { by, reason } }) {
    if (type === 'WalletUnbanned') return { banned: null };
    return state.banned ? state : { banned: { by, reason } };
  },
};
