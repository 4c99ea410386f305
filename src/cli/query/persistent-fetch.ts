/** A `fetch` that retries a paid request when its connection breaks, so that the answer is not lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { PAYMENT_HEADERS } from '../../http/x402/payment-header.ts';

export interface Persistence {
  /** How long to repeat the same request, milliseconds. */
  readonly patienceMs: number;
  readonly pauseMs: number;
  /** Called once, before the first repeat. */
  readonly onRepeat: () => void;
}

/** The paid request was not answered, so whether the payment succeeded is unknown here. */
export class AnswerLost extends Error {
  readonly code = 'answer_lost';
}

/** The payment is being processed: the same request finds its outcome in a moment. */
const UnderWay = z.object({ error: z.object({ details: z.object({ transaction: z.null() }) }) });

/**
 * Repeats a paid request unchanged until it gets a complete answer. One payment is charged once, so a repeat costs
 * nothing; a new payment would. Requests without a payment are made once.
 * @throws AnswerLost when the time is up; if no connection was ever made, what `fetch` throws
 */
export function persistentFetch({ patienceMs, pauseMs, onRepeat }: Persistence): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (!PAYMENT_HEADERS.some((name) => request.headers.has(name))) return fetch(request);
    const deadline = performance.now() + patienceMs;
    let handedOver = false;
    for (let repeats = 0; ; repeats++) {
      if (repeats === 1) onRepeat();
      let failure: unknown = null;
      try {
        const response = await fetch(request.clone());
        // A connection can also break in the middle of a body.
        const body = await response.arrayBuffer();
        const { status, statusText, headers } = response;
        const whole = new Response(body, { status, statusText, headers });
        if (!(await isUnderWay(whole))) return whole;
        handedOver = true;
        if (performance.now() + pauseMs > deadline) return whole;
      } catch (error) {
        failure = error;
        handedOver ||= !wasRefused(error);
      }
      if (performance.now() + pauseMs > deadline) {
        throw handedOver ? new AnswerLost('the request was not answered', { cause: failure }) : failure;
      }
      await sleep(pauseMs);
    }
  };
}

async function isUnderWay(response: Response): Promise<boolean> {
  if (response.status !== 409) return false;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return UnderWay.safeParse(body).success;
}

/** Whether no connection was made, so that no payment can have been sent. */
function wasRefused(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === 'ECONNREFUSED' || cause?.code === 'ENOTFOUND';
}
