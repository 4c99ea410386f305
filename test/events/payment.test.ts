import { describe, expect, it } from 'vitest';
import { decodeEvent } from '../../src/events/codec.ts';
import { answer, authorization, settled } from '../commands/payment/payment.fixtures.ts';

const recorded = (type: string, schemaVersion: number, data: object) =>
  decodeEvent({ type, data: data as never, metadata: { schemaVersion } });

describe('payment events of an older log', () => {
  it('PaymentAuthorized 1: how many queries its amount paid for is unknown', () => {
    const { queries: _, ...older } = authorization;
    expect(recorded('PaymentAuthorized', 1, older).data).toEqual({ ...authorization, queries: null });
  });

  it('QueryAnswered 1: no key call and no callback was ever recorded', () => {
    const { keyCall: _, ...older } = { ...answer, reservedKeyId: null, callbacks: [] };
    expect(recorded('QueryAnswered', 1, older).data).toEqual({ ...answer, keyCall: null, callbacks: [] });
  });

  it.each(['PaymentSettled', 'PaymentSettledLate'])('%s 1: it owed nothing but its answer', (type) => {
    const { owes: _, ...older } = settled.data;
    expect(recorded(type, 1, older).data).toEqual({ ...settled.data, owes: null });
  });
});
