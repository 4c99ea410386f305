import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { differenceFrom, type LogIdentity, logIdentity } from '../../../src/commands/log-identity/log-identity.ts';
import { LogFounded, ReceiverChanged } from '../../../src/events/log-identity.ts';
import { given } from '../../given-when-then.ts';

const identity: LogIdentity = {
  logId: randomUUID(),
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  receiver: 'an address',
  version: '2.0.1',
};
const change = { type: 'ChangeReceiver', receiver: 'another', reason: 'a new treasury', by: 'ann' } as const;
const changed = ReceiverChanged.of({
  receiver: 'another',
  previous: 'an address',
  reason: 'a new treasury',
  by: 'ann',
});

describe('the identity of a log', () => {
  it('is set once, by the first of the nodes that start together', () => {
    given(logIdentity)
      .when({ type: 'Found', ...identity })
      .then(LogFounded.of(identity));
    given(logIdentity, LogFounded.of(identity))
      .when({ type: 'Found', ...identity, logId: randomUUID() })
      .then();
  });

  it('is fixed except for its receiver, which an operator changes with a reason', () => {
    given(logIdentity, LogFounded.of(identity)).when(change).then(changed);
    given(logIdentity, LogFounded.of(identity), changed).when(change).then();
    expect(given(logIdentity, LogFounded.of(identity), changed).state).toEqual({ ...identity, receiver: 'another' });
  });

  it('has no receiver to change before it is founded', () => {
    given(logIdentity).when(change).thenRejected('not_founded');
  });

  it('is compared with the configuration for every value that binds a log, the chain first', () => {
    const codes = (different: Partial<LogIdentity>) => differenceFrom(identity, { ...identity, ...different })?.code;
    expect(codes({})).toBeUndefined();
    expect(codes({ version: '3.0.0' })).toBeUndefined();
    expect(codes({ receiver: 'another' })).toBe('log_receiver_differs');
    expect(codes({ receiver: 'another', mint: 'another' })).toBe('log_mint_differs');
    expect(codes({ genesisHash: 'another', mint: 'another' })).toBe('log_chain_differs');
    expect(codes({ network: 'another' })).toBe('log_chain_differs');
  });
});
