/**
 * The identity of a log: one id, one chain, one mint, and the receiver that an operator has set last. A log never
 * changes any of the others: payments of two chains in one log would each look rolled back to the other.
 */

import type { EventOf } from '../../events/event.ts';
import {
  type LOG_IDENTITY_EVENTS,
  LOG_IDENTITY_STREAM,
  LogFounded,
  ReceiverChanged,
} from '../../events/log-identity.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { type Decider, rejected, unreachable } from '../decider.ts';
import { load } from '../handle.ts';

/** The chain and the accounts that a log, or a configuration, names. */
export interface PaymentTarget {
  /** CAIP-2. */
  readonly network: string;
  readonly genesisHash: string;
  readonly mint: string;
  readonly receiver: string;
}

export interface LogIdentity extends PaymentTarget {
  readonly logId: string;
  /** The version of the service that founded it. */
  readonly version: string;
}

export type LogIdentityEvent = EventOf<(typeof LOG_IDENTITY_EVENTS)[number]>;

export type LogIdentityCommand =
  | ({ readonly type: 'Found' } & LogIdentity)
  | {
      readonly type: 'ChangeReceiver';
      readonly receiver: string;
      readonly reason: string;
      /** Who changes it. */
      readonly by: string;
    };

export const logIdentity: Decider<LogIdentity | null, LogIdentityCommand, LogIdentityEvent, 'not_founded'> = {
  initialState: null,

  decide(identity, command) {
    switch (command.type) {
      case 'Found': {
        const { type: _, ...named } = command;
        // Another node was first: its name holds.
        return identity === null ? [LogFounded.of(named)] : [];
      }
      case 'ChangeReceiver': {
        if (identity === null) return rejected('not_founded');
        const { receiver, reason, by } = command;
        if (receiver === identity.receiver) return [];
        return [ReceiverChanged.of({ receiver, previous: identity.receiver, reason, by })];
      }
      default:
        return unreachable(command);
    }
  },

  evolve(identity, event) {
    switch (event.type) {
      case 'LogFounded':
        return identity ?? event.data;
      case 'ReceiverChanged':
        return identity && { ...identity, receiver: event.data.receiver };
      default:
        return unreachable(event);
    }
  },
};

/** Null for a log that has no name yet. @throws StorageFailure */
export const loadLogIdentity = async (log: Pick<EventLog, 'read'>): Promise<LogIdentity | null> =>
  (await load(log, logIdentity, LOG_IDENTITY_STREAM)).state;

/** What is wrong with a log for this configuration; null where nothing is. */
export function differenceFrom(identity: LogIdentity, expected: PaymentTarget): StorageFailure | null {
  const { logId } = identity;
  if (identity.network !== expected.network || identity.genesisHash !== expected.genesisHash) {
    return new StorageFailure(
      'log_chain_differs',
      `event log ${logId} belongs to another chain: it was founded on ${identity.network} with genesis hash ` +
        `${identity.genesisHash}, and this service is on ${expected.network} with ${expected.genesisHash}`,
    );
  }
  if (identity.mint !== expected.mint) {
    return new StorageFailure(
      'log_mint_differs',
      `event log ${logId} holds payments in mint ${identity.mint}, and this service takes ${expected.mint}`,
    );
  }
  if (identity.receiver !== expected.receiver) {
    return new StorageFailure(
      'log_receiver_differs',
      `event log ${logId} holds payments to ${identity.receiver}, and this service is set to take them to ` +
        expected.receiver,
    );
  }
  return null;
}
