/** What an attempt's outcome says against the response that it names. */
import { MOST_REPEATS, type ScheduledDelivery } from '../../commands/delivery/delivery.ts';
import type { DeliveryAttemptFinished } from '../../events/delivery.ts';
import type { EventOf } from '../../events/event.ts';
import type { FailureClass } from '../../events/failure-class.ts';
import type { Findings } from '../judging.ts';
import { counted } from './compare.ts';

type Finished = EventOf<typeof DeliveryAttemptFinished>['data'];

/** @param state the delivery before it */
export function judgeResult(state: ScheduledDelivery, finished: Finished, findings: Findings): void {
  const { outcome, responseCode, failureClass, redelivery } = finished;
  const fault = faultOf(finished);
  if (fault) findings.breach('attempt_result', fault, `${outcome}, response ${responseCode}, failure ${failureClass}`);
  if (failureClass !== 'interrupted') return;
  const interruptions = redelivery ? (state.redelivery?.interruptions ?? 0) : state.interruptions;
  const expected = interruptions < MOST_REPEATS ? 'interrupted' : 'failed';
  if (outcome !== expected) {
    findings.breach('attempt_repeats', `${expected} after ${counted(interruptions, 'interruption')}`, outcome);
  }
}

/** What is expected instead; null if the outcome is that of the response. */
function faultOf({ outcome, responseCode, failureClass }: Finished): string | null {
  const isAcknowledged = outcome === 'acknowledged';
  if (responseCode === null) {
    if (isAcknowledged) return 'a 2xx response without a failure';
    return failureClass === null || OF_RESPONSES.has(failureClass) ? 'a failure class, of no response' : null;
  }
  const expected = classOf(responseCode);
  if (expected === null) return isAcknowledged && failureClass === null ? null : 'acknowledged, since a 2xx came';
  return isAcknowledged || failureClass !== expected ? `a failure, of class ${expected}` : null;
}

const OF_RESPONSES: ReadonlySet<FailureClass> = new Set<FailureClass>(['http_3xx', 'http_4xx', 'http_5xx']);

/** Null: a success. */
function classOf(responseCode: number): FailureClass | null {
  if (responseCode >= 200 && responseCode < 300) return null;
  if (responseCode >= 300 && responseCode < 400) return 'http_3xx';
  if (responseCode >= 400 && responseCode < 500) return 'http_4xx';
  return responseCode >= 500 && responseCode < 600 ? 'http_5xx' : 'protocol_error';
}
