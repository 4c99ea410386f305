/** Subscribes to one docket and records it (docs/design/sources.md#alerts). A repetition after a kill finds what it made. */
import { randomUUID } from 'node:crypto';
import { handleWithRetry, load } from '../../commands/handle.ts';
import { type AlertCommand, alert, type Subscription } from '../../commands/source/alert.ts';
import { sourceStream } from '../../events/source.ts';
import type { Clock } from '../../runtime/instant.ts';
import type { DocketAlerts, ListedAlert } from '../../sources/courtlistener/alerts.ts';
import { fault, isFault, type RequestAsking } from '../../sources/courtlistener/client.ts';
import type { Fault } from '../../sources/source.ts';
import type { EventLog } from '../../storage/event-log.ts';

export interface SubscribePorts {
  readonly log: Pick<EventLog, 'append' | 'read'>;
  readonly clock: Clock;
  readonly alerts: DocketAlerts;
  /** Recorded in the metadata of events. */
  readonly actor: string;
}

export type WantedAlert = Omit<Subscription, 'alertId' | 'source'>;

export type SubscribeOutcome =
  | { readonly subscribed: 'new' | 'found' | 'renewed' | 'before' }
  /** An operator has ended the last one, and nobody has asked for another since. */
  | { readonly declined: true }
  | { readonly full: string }
  | { readonly refused: string }
  | Fault;

const SOURCE = 'courtlistener';
/** Who subscribes for watched cases. */
export const WATCHED = 'watched';

/** @throws StorageFailure */
export async function subscribeTo(
  ports: SubscribePorts,
  wanted: WantedAlert,
  asking: RequestAsking,
): Promise<SubscribeOutcome> {
  const { log, alerts } = ports;
  const { sourceCaseId } = wanted;
  const { state } = await load(log, alert, sourceStream.alert(SOURCE, sourceCaseId));
  if (state.alert !== null) return { subscribed: 'before' };
  if (state.ended === 'unsubscribed' && wanted.by === WATCHED) return { declined: true };
  const answer = await alerts.subscribe(sourceCaseId, asking);
  if ('alert' in answer) {
    await recordAlert(ports, wanted, answer.alert, 'Subscribe');
    return { subscribed: 'new' };
  }
  return 'double' in answer ? adopt(ports, wanted, asking) : answer;
}

/** The account has an alert for the docket that the log does not have: by hand, or from before a kill. */
async function adopt(ports: SubscribePorts, wanted: WantedAlert, asking: RequestAsking): Promise<SubscribeOutcome> {
  const listed = await ports.alerts.list(asking);
  if (isFault(listed)) return listed;
  const found = listed.find(({ docketId }) => docketId === wanted.sourceCaseId);
  if (!found) return fault('unreadable', 'there is an alert already, which is not in the list');
  if (found.isOn) {
    await recordAlert(ports, wanted, found, 'Subscribe');
    return { subscribed: 'found' };
  }
  const renewed = await ports.alerts.renew(found.alertId, asking);
  if (renewed === null) return fault('unreadable', 'the alert that was listed is gone');
  if (isFault(renewed)) return renewed;
  await recordAlert(ports, wanted, renewed, 'Renew');
  return { subscribed: 'renewed' };
}

export function recordAlert(
  ports: SubscribePorts,
  { sourceCaseId, court, caseNumber, by }: WantedAlert,
  { alertId }: Pick<ListedAlert, 'alertId'>,
  type: 'Subscribe' | 'Renew',
): Promise<void> {
  const subscription = { source: SOURCE, sourceCaseId, court, caseNumber, by, alertId } as const;
  return decideAlert(ports, sourceCaseId, { type, subscription });
}

export async function decideAlert(
  { log, clock, actor }: Pick<SubscribePorts, 'log' | 'clock' | 'actor'>,
  sourceCaseId: string,
  command: AlertCommand,
): Promise<void> {
  const commandId = randomUUID();
  const context = { commandId, requestId: null, correlationId: commandId, causationId: null, actor };
  await handleWithRetry({ log, clock }, alert, sourceStream.alert(SOURCE, sourceCaseId), command, context);
}
