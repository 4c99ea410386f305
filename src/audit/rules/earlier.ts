/** What is asked of an event depends on the version of the service that recorded it: earlier ones recorded less. */
import { DeliveryAttemptFinished, DeliveryRedeliveryRequested } from '../../events/delivery.ts';
import { PaymentAuthorized, PaymentSettled, PaymentSettledLate, QueryAnswered } from '../../events/payment.ts';
import { MasterKeyIntroduced } from '../../events/signing-key.ts';
import type { Findings, JudgedEvent } from '../judging.ts';

/** Whether a version recorded it that did not name the command of its events yet. Only then may something be absent. */
export const isEarlier = ({ metadata }: Pick<JudgedEvent, 'metadata'>): boolean => metadata.commandId === undefined;

/** The schema that each type had when events began to name their command; every other type had its first. */
const SCHEMA_WITH_COMMAND: ReadonlyMap<string, number> = new Map([
  [PaymentAuthorized.type, 2],
  [QueryAnswered.type, 2],
  [PaymentSettled.type, 2],
  [PaymentSettledLate.type, 2],
  [DeliveryAttemptFinished.type, 2],
  [DeliveryRedeliveryRequested.type, 2],
  [MasterKeyIntroduced.type, 2],
]);

/**
 * Whether an event claims an older schema than that of its time, so that it need not say what it hides. That is one
 * breach, and what is missing in such an event is no further one.
 */
export function isDowngraded(event: Pick<JudgedEvent, 'type' | 'metadata'>): boolean {
  return !isEarlier(event) && event.metadata.schemaVersion < schemaWithCommand(event.type);
}

const schemaWithCommand = (type: string): number => SCHEMA_WITH_COMMAND.get(type) ?? 1;

export function judgeSchema(event: JudgedEvent, findings: Findings): void {
  if (!isDowngraded(event)) return;
  const expected = `version ${schemaWithCommand(event.type)} or newer, since it names its command`;
  findings.breach('schema_of_its_time', expected, `version ${event.metadata.schemaVersion}`);
}
