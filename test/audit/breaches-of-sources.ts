/** Breaches of the rules of what sources push and of their alerts, planted by an insider who recomputes every hash. */
import type { PlantedBreach } from './planted-breach.ts';

export const BREACHES_OF_SOURCES: readonly PlantedBreach[] = [
  {
    name: 'a message that is received twice',
    rule: 'webhook_once',
    plant: (log, { pushed }) => log.repeat(log.at(pushed, 'WebhookReceived')),
  },
  {
    name: 'a message that is applied twice',
    rule: 'webhook_once',
    plant: (log, { pushed }) => log.repeat(log.at(pushed, 'WebhookApplied')),
  },
  {
    name: 'an outcome of a message that was never received',
    rule: 'webhook_once',
    plant(log, { pushed }) {
      log.drop(log.at(pushed, 'WebhookReceived'));
      return log.at(pushed, 'WebhookApplied');
    },
  },
  {
    name: 'a message in the stream of another',
    rule: 'webhook_once',
    plant: (log, { pushed }) => log.set(log.at(pushed, 'WebhookApplied'), { keyHash: 'c'.repeat(64) }),
  },
  {
    name: 'a message that is never applied',
    rule: 'webhook_in_time',
    plant(log, { pushed }) {
      log.drop(log.at(pushed, 'WebhookApplied'));
      return pushed;
    },
  },
  {
    name: 'an alert that ends twice',
    rule: 'alert_follows',
    plant: (log, { alert }) => log.repeat(log.at(alert, 'AlertEnded')),
  },
  {
    name: 'the end of another alert than the one in force',
    rule: 'alert_follows',
    plant: (log, { alert }) => log.set(log.at(alert, 'AlertEnded'), { alertId: '9002' }),
  },
  {
    name: 'a source that is paused twice',
    rule: 'operator_act_follows',
    plant: (log, { pausedSource }) => log.repeat(log.at(pausedSource, 'SourcePaused', 1)),
  },
  {
    name: 'a court of a source that is resumed though it is not paused',
    rule: 'operator_act_follows',
    plant: (log, { pausedSource }) => log.set(log.at(pausedSource, 'SourceResumed'), { court: 'ca9' }),
  },
  {
    name: 'a source that is paused without a reason',
    rule: 'operator_named',
    plant: (log, { pausedSource }) => log.set(log.at(pausedSource, 'SourcePaused', 1), { reason: ' ' }),
  },
  {
    name: 'an alert that nobody ended',
    rule: 'operator_named',
    plant: (log, { alert }) => log.set(log.at(alert, 'AlertEnded'), { by: ' ' }),
  },
];
