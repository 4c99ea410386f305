/** The end of a run with callbacks in which one process survived every fault. */
import { expect } from 'vitest';
import type { RunningProcess } from '../support/processes.ts';
import { decidedPayments, expectAgreement } from './agreement.ts';
import type { CallbackStage } from './callback-stage.ts';
import { endedDeliveries, expectDeliveryAgreement } from './delivery-agreement.ts';
import type { Attempt } from './paid-load.ts';

/** Waits for every payment and delivery to end; the chain, the log, the callers and the receiver must agree on them. */
export async function expectOneStory(
  { stage, receiver, clock }: CallbackStage,
  service: RunningProcess,
  attempts: readonly Attempt[],
): Promise<void> {
  receiver.heal();
  const payments = await decidedPayments(stage, service, 240_000);
  const settled = await expectAgreement(stage, payments.values(), attempts);
  const ended = await endedDeliveries(stage, service, clock);
  const interrupted = expectDeliveryAgreement(ended, receiver.hits, null);
  console.log(
    `${attempts.length} payments, ${settled.length} settled, ${ended.deliveries.size} callbacks, ${interrupted} interrupted`,
  );
  expect(settled.length).toBeGreaterThan(0);
}
