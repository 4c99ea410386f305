/**
 * Heads of the log: at intervals the root of the tree over all events so far is recorded and signed, so that a removed,
 * added or exchanged event is noticed (docs/design/audit.md#heads).
 */
import { z } from 'zod';
import { Instant } from '../runtime/instant.ts';
import { type EventOf, event } from './event.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Size = z.int().positive();

/** A key that signs heads came into use. It is derived from a version of the master key. */
export const LogHeadKeyIntroduced = event(
  'LogHeadKeyIntroduced',
  1,
  z.strictObject({
    masterVersion: z.int().positive(),
    /** Ed25519, 32 bytes, base64. */
    publicKey: z.base64(),
  }),
);

/** The log's first `size` events have this root. */
export const LogHeadRecorded = event(
  'LogHeadRecorded',
  1,
  z.strictObject({
    size: Size,
    root: Hash,
    /** Roots of the tree's complete subtrees, the largest first: nothing else is needed to continue the tree. */
    peaks: z.array(Hash).min(1),
    /** The last event that the root covers. */
    last: z.strictObject({ stream: z.string(), revision: z.int().nonnegative() }),
    /** The key that signed it. */
    masterVersion: z.int().positive(),
    /** Ed25519 signature of the head's note, 64 bytes, base64. */
    signature: z.base64(),
  }),
);

/** The root was written into a memo on the chain, in a transaction that is final. */
export const LogHeadAnchored = event(
  'LogHeadAnchored',
  1,
  z.strictObject({
    size: Size,
    root: Hash,
    transaction: z.string(),
    slot: z.int().nonnegative(),
    /** Time of the block, if the chain reported it. */
    blockTime: Instant.nullable(),
    /** Lamports. */
    fee: z.int().nonnegative(),
    by: z.string(),
  }),
);

export const LOG_HEAD_EVENTS = [LogHeadKeyIntroduced, LogHeadRecorded, LogHeadAnchored] as const;

export type LogHeadEvent = EventOf<(typeof LOG_HEAD_EVENTS)[number]>;

export const LOG_HEAD_STREAM = 'log-head';
