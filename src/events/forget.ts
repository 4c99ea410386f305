/**
 * Orders to forget, all in one stream, so that an open one is found without searching. What an order removes is recorded
 * by `ContentRedacted` events that name it. No event contains the URL: `target` names a blob, removed last.
 */
import { z } from 'zod';
import { type EventOf, event } from './event.ts';
import { operatorStream } from './operator.ts';

const Text = z.string().min(1);
const Count = z.int().nonnegative();

/** What to forget. */
export const ForgetSubject = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('callback_url'),
    target: z.string().regex(/^[0-9a-f]{64}$/),
    /** Scheme, host and port, as sales name it. */
    origin: Text,
  }),
  z.strictObject({ kind: z.literal('wallet'), wallet: Text }),
  z.strictObject({ kind: z.literal('docket'), docket: Text }),
]);
export type ForgetSubject = z.infer<typeof ForgetSubject>;

/** An operator ordered that content be forgotten. Nothing was removed yet. */
export const ForgetOrdered = event(
  'ForgetOrdered',
  1,
  z.strictObject({ forgetId: z.uuid(), subject: ForgetSubject, by: Text, reason: Text }),
);

/** Everything that the order concerns was removed. */
export const ForgetCompleted = event(
  'ForgetCompleted',
  1,
  z.strictObject({
    forgetId: z.uuid(),
    /** Contents removed or replaced by it. */
    removed: z.strictObject({ docket: Count, answer: Count, target: Count, envelope: Count }),
  }),
);

export const FORGET_EVENTS = [ForgetOrdered, ForgetCompleted] as const;
export type ForgetEvent = EventOf<(typeof FORGET_EVENTS)[number]>;
export type ForgetOrder = EventOf<typeof ForgetOrdered>['data'];
export type RemovedCounts = EventOf<typeof ForgetCompleted>['data']['removed'];

export const FORGET_STREAM = operatorStream('forgetting');
