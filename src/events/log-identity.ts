/** Which log this is: what its first event says of it, and what an operator has changed since. */
import { z } from 'zod';
import { event } from './event.ts';

const Text = z.string().min(1);

/** The log got its name, and is bound to one chain. The first event of a new log; an older log gets it at its next start. */
export const LogFounded = event(
  'LogFounded',
  1,
  z.strictObject({
    logId: z.uuid(),
    /** CAIP-2. */
    network: Text,
    /** Of the chain's first block, base58: two chains never share one. */
    genesisHash: Text,
    mint: Text,
    /** The address that owns the account which payments go to. */
    receiver: Text,
    /** The version of the service that made it. */
    version: Text,
  }),
);

/** From here on payments go to another address: an operator's act. */
export const ReceiverChanged = event(
  'ReceiverChanged',
  1,
  z.strictObject({ receiver: Text, previous: Text, reason: Text, by: Text }),
);

export const LOG_IDENTITY_EVENTS = [LogFounded, ReceiverChanged] as const;

export const LOG_IDENTITY_STREAM = 'log-identity';
