/**
 * One message that a source pushed: recorded once, however often it is sent, and applied once
 * (docs/design/sources.md#webhooks).
 */
import type { EventOf } from '../../events/event.ts';
import { WebhookApplied, WebhookReceived } from '../../events/source.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';

export type WebhookEvent = EventOf<typeof WebhookReceived> | EventOf<typeof WebhookApplied>;
export type ReceivedWebhook = EventOf<typeof WebhookReceived>['data'];
export type WebhookOutcome = EventOf<typeof WebhookApplied>['data']['outcome'];

export interface WebhookState {
  readonly received: ReceivedWebhook | null;
  readonly outcome: WebhookOutcome | null;
}

export type WebhookCommand =
  | {
      readonly type: 'Receive';
      readonly received: ReceivedWebhook;
      /** What becomes of a message without content; null if it is to be applied. */
      readonly outcome: WebhookOutcome | null;
    }
  | { readonly type: 'Apply'; readonly outcome: WebhookOutcome };

export type WebhookRejection = 'not_received';

export const webhook: Decider<WebhookState, WebhookCommand, WebhookEvent, WebhookRejection> = {
  initialState: { received: null, outcome: null },

  decide({ received, outcome }, command) {
    switch (command.type) {
      case 'Receive': {
        if (received !== null) return [];
        const arrived = WebhookReceived.of(command.received);
        return command.outcome === null ? [arrived] : [arrived, applied(command.received, command.outcome)];
      }
      case 'Apply':
        if (received === null) return rejected('not_received');
        return outcome === null ? [applied(received, command.outcome)] : [];
      default:
        return unreachable(command);
    }
  },

  evolve(state, event) {
    return event.type === 'WebhookReceived'
      ? { ...state, received: event.data }
      : { ...state, outcome: event.data.outcome };
  },
};

const applied = ({ source, keyHash }: ReceivedWebhook, outcome: WebhookOutcome): WebhookEvent =>
  WebhookApplied.of({ source, keyHash, outcome });
