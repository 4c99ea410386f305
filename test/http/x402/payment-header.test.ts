import { encodePaymentSignatureHeader } from '@x402/core/http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isProblem } from '../../../src/errors.ts';
import { readPayment, readPaymentText } from '../../../src/http/x402/payment-header.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';

const network = NETWORKS.devnet;
const transaction = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]);
const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

const accepted = {
  scheme: 'exact',
  network: network.caip2,
  amount: '990000',
  asset: network.usdcMint,
  payTo: 'anything',
  maxTimeoutSeconds: 60,
  extra: { memo: 'abc', feePayer: 'anything' },
};
const second = { x402Version: 2, accepted, payload: { transaction: transaction.toString('base64') } };
const first = {
  x402Version: 1,
  scheme: 'exact',
  network: network.v1,
  payload: { transaction: transaction.toString('base64') },
};

const read = (text: string) => readPaymentText(text, network);
function reasonOf(text: string) {
  const outcome = read(text);
  return isProblem(outcome) ? [outcome.problem, outcome.details.reason] : 'read';
}

describe('a payment is read by what it is', () => {
  it('x402 v2, as its own encoder writes it, with the memo that the client sent back', () => {
    const text = encodePaymentSignatureHeader(second as Parameters<typeof encodePaymentSignatureHeader>[0]);
    expect(read(text)).toEqual({ x402Version: 2, transaction, memo: 'abc' });
  });
  it('x402 v2 without a memo', () => {
    expect(read(base64({ ...second, accepted: { ...accepted, extra: {} } }))).toMatchObject({ memo: null });
    expect(read(base64({ ...second, accepted: { ...accepted, extra: null } }))).toMatchObject({ memo: null });
  });
  it('x402 v1, on any name of our network', () => {
    for (const named of [network.v1, network.selfPaid, network.caip2])
      expect(read(base64({ ...first, network: named }))).toEqual({ x402Version: 1, transaction, memo: null });
  });
  it('a bare transaction', () => {
    expect(read(transaction.toString('base64'))).toEqual({ x402Version: null, transaction, memo: null });
  });
  it('under any of the three headers', () => {
    for (const name of ['payment-signature', 'x-payment', 'x402-payment'])
      expect(readPayment({ [name]: base64(second) }, network)).toMatchObject({ x402Version: 2 });
    expect(readPayment({ authorization: base64(second) }, network)).toBeNull();
  });
  it('never by what the client says of our terms', () => {
    const echo = { ...accepted, amount: '1', asset: 'another', payTo: 'another' };
    expect(read(base64({ ...second, accepted: echo }))).toMatchObject({ transaction });
  });
});

describe('a payment that cannot be read', () => {
  it.each([
    ['empty', '', 'empty'],
    ['not base64', '@@@@', 'not_base64'],
    ['url-safe base64', base64(second).replace(/.$/, '-'), 'not_base64'],
    ['base64 without its padding', Buffer.alloc(8, 200).toString('base64').replace(/=+$/, ''), 'not_base64'],
    ['base64 with a space', `${base64(second)} `, 'not_base64'],
    ['base64 with bits left over', 'ew==', 'not_json'],
    ['base64 with other bits left over', 'ex==', 'not_base64'],
    ['the same header twice', `${base64(second)}, ${base64(second)}`, 'not_base64'],
    ['JSON null', base64('null'), 'not_an_object'],
    ['a JSON string', base64('"x"'), 'not_an_object'],
    ['a list', base64([second]), 'not_an_object'],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d]).toString('base64'), 'not_json'],
    ['cut JSON', base64(JSON.stringify(second).slice(0, -2)), 'not_json'],
    ['an empty object', base64({}), 'schema'],
    ['no accepted terms', base64({ x402Version: 2, payload: second.payload }), 'schema'],
    ['no payload', base64({ ...first, payload: undefined }), 'schema'],
    ['no transaction', base64({ ...first, payload: {} }), 'transaction_not_base64'],
    [
      'a transaction in url-safe base64',
      base64({ ...first, payload: { transaction: 'AQ-_' } }),
      'transaction_not_base64',
    ],
    ['a transaction with spaces', base64({ ...first, payload: { transaction: 'AQID ' } }), 'transaction_not_base64'],
    ['nested 3,000 deep', base64('['.repeat(3_000) + ']'.repeat(3_000)), 'not_json'],
    [
      'nested deep inside',
      base64({ ...first, payload: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) }),
      'not_json',
    ],
    ['over 16 KiB', 'A'.repeat(16 * 1024 + 1), 'too_long'],
  ])('%s is a 400', (_title, text, reason) => {
    expect(reasonOf(text)).toEqual(['invalid_payment', reason]);
  });

  it.each([
    ['another version', { ...second, x402Version: 3 }, 'invalid_x402_version'],
    ['a version that is no number', { ...second, x402Version: '2' }, 'invalid_x402_version'],
    ['another scheme', { ...first, scheme: 'upto' }, 'unsupported_scheme'],
    ['another network', { ...first, network: 'base' }, 'invalid_exact_svm_network_mismatch'],
    [
      'mainnet',
      { ...second, accepted: { ...accepted, network: NETWORKS.mainnet.caip2 } },
      'invalid_exact_svm_network_mismatch',
    ],
  ])('%s is a 402', (_title, value, reason) => {
    expect(reasonOf(base64(value))).toEqual(['payment_rejected', reason]);
  });

  it('two headers may carry one payment, and not two', () => {
    const other = { ...first, payload: { transaction: Buffer.from([1, 9]).toString('base64') } };
    expect(readPayment({ 'payment-signature': base64(second), 'x-payment': base64(first) }, network)).toMatchObject({
      x402Version: 2,
    });
    expect(readPayment({ 'payment-signature': base64(second), 'x-payment': base64(other) }, network)).toMatchObject({
      problem: 'invalid_payment',
      details: { reason: 'several_payments' },
    });
    expect(readPayment({ 'payment-signature': base64(second), 'x402-payment': '' }, network)).toMatchObject({
      problem: 'invalid_payment',
    });
  });

  it('brackets inside strings are no nesting', () => {
    expect(read(base64({ ...first, note: '[{'.repeat(500), quoted: '\\"[[' }))).toMatchObject({ transaction });
  });

  it('any text at all is read or refused, and never thrown at', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 300 }),
          fc.json().map(base64),
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64')),
        ),
        (text) => {
          const outcome = read(text);
          expect(isProblem(outcome) || outcome.transaction.length > 0).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
