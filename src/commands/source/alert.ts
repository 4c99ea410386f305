/** The alert of one id of a source: at most one is in force (docs/design/sources.md#alerts). */
import type { EventOf } from '../../events/event.ts';
import { AlertEnded, AlertSubscribed } from '../../events/source.ts';
import { type Decider, unreachable } from '../decider.ts';

export type AlertEvent = EventOf<typeof AlertSubscribed> | EventOf<typeof AlertEnded>;
export type Subscription = Omit<EventOf<typeof AlertSubscribed>['data'], 'renewed'>;
export type AlertEnd = EventOf<typeof AlertEnded>['data']['why'];

export interface AlertState {
  /** The alert in force. */
  readonly alert: Subscription | null;
  /** The case of the newest alert, in force or not. */
  readonly of: { readonly court: string; readonly caseNumber: string } | null;
  /** Why the newest alert ended; null while it is in force, and if there was none. */
  readonly ended: AlertEnd | null;
}

export type AlertCommand =
  /** The source has such an alert, new or found there. */
  | { readonly type: 'Subscribe'; readonly subscription: Subscription }
  /** The source was asked to keep it. */
  | { readonly type: 'Renew'; readonly subscription: Subscription }
  /** With an id, only that alert ends. */
  | { readonly type: 'End'; readonly alertId: string | null; readonly why: AlertEnd; readonly by: string };

export const alert: Decider<AlertState, AlertCommand, AlertEvent> = {
  initialState: { alert: null, of: null, ended: null },

  decide({ alert: current }, command) {
    switch (command.type) {
      case 'Subscribe':
        if (current?.alertId === command.subscription.alertId) return [];
        return [AlertSubscribed.of({ ...command.subscription, renewed: false })];
      case 'Renew':
        return [AlertSubscribed.of({ ...command.subscription, renewed: true })];
      case 'End': {
        const { alertId, why, by } = command;
        if (current === null || (alertId !== null && alertId !== current.alertId)) return [];
        const { source, sourceCaseId } = current;
        return [AlertEnded.of({ source, sourceCaseId, alertId: current.alertId, why, by })];
      }
      default:
        return unreachable(command);
    }
  },

  evolve({ of }, { type, data }) {
    if (type === 'AlertEnded') return { alert: null, of, ended: data.why };
    const { renewed: _, ...subscription } = data;
    return { alert: subscription, of: { court: data.court, caseNumber: data.caseNumber }, ended: null };
  },
};
