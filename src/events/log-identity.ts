/** The identity of the log: recorded by its first event, and changed later only by an operator. */
import { z } from 'zod';
import { event } from './event.ts';

const Text = z.string().min(1);

/**
 * The log received its id and is bound to one chain. The first event of a new log; an older log gets it at its next
 * start.
 */
export const LogFounded = event(
  'LogFounded',
  1,
  z.strictObject({
    logId: z.uuid(),
    /** CAIP-2. */
    network: Text,
    /** Hash of the chain's first block, base58; no two chains share one. */
    genesisHash: Text,
    mint: Text,
    /** The address that owns the account that payments go to. */
    receiver: Text,
    /** The version of the service that created the log. */
    version: Text,
  }),
);

/** From here on, payments go to another address: an operator's decision. */
export const ReceiverChanged = event(
  'ReceiverChanged',
  1,
  z.strictObject({ receiver: Text, previous: Text, reason: Text, by: Text }),
);

export const LOG_IDENTITY_EVENTS = [LogFounded, ReceiverChanged] as const;

export const LOG_IDENTITY_STREAM = 'log-identity';
