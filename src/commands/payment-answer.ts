import { type Clock, toInstant } from '../instant.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { Purchase } from './payment.ts';

/** The bytes that a payment bought; null where they are kept no longer, or never were (a key is handed out once). */
export async function keptAnswer(
  { payloads, clock }: { readonly payloads: Pick<PayloadStore, 'get'>; readonly clock: Clock },
  { answer: { answer, keepUntil } }: Pick<Purchase, 'answer'>,
): Promise<Buffer | null> {
  const isKept = answer !== null && toInstant(clock.now()) < keepUntil;
  return isKept ? payloads.get(answer) : null;
}
