/**
 * Times that a callback or a key is counted from, against the times at which their events were recorded. Both are read
 * from one clock a moment apart, so a difference means that the clock was set, that the append took long, or that somebody
 * wrote another time. The log cannot say which of these, so it is listed and no breach.
 */
import {
  DeliveryAttemptFinished,
  DeliveryAttemptStarted,
  DeliveryCancelled,
  DeliveryRedeliveryRequested,
  DeliveryRescheduled,
  DeliveryScheduled,
} from '../../events/delivery.ts';
import { SigningKeyCreated, SigningKeyRotated } from '../../events/signing-key.ts';
import { toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent } from '../judging.ts';
import { RECORDED_WITHIN } from './limits.ts';

const TIMES: ReadonlyMap<string, string> = new Map([
  [DeliveryScheduled.type, 'createdAt'],
  [DeliveryAttemptStarted.type, 'startedAt'],
  [DeliveryAttemptFinished.type, 'finishedAt'],
  [DeliveryRedeliveryRequested.type, 'requestedAt'],
  [DeliveryCancelled.type, 'cancelledAt'],
  [DeliveryRescheduled.type, 'rescheduledAt'],
  [SigningKeyCreated.type, 'createdAt'],
  [SigningKeyRotated.type, 'createdAt'],
]);

export function judgeRecordedTime({ type, data, metadata: { recordedAt } }: JudgedEvent, findings: Findings): void {
  const member = TIMES.get(type);
  if (member === undefined) return;
  const at = String(data[member]);
  // Most are of the same minute, and there are millions.
  if (at.slice(0, 16) === recordedAt.slice(0, 16)) return;
  if (Math.abs(toMicros(at) - toMicros(recordedAt)) <= RECORDED_WITHIN) return;
  findings.breach('time_as_recorded', `${member} within a minute of ${recordedAt}`, at);
}
