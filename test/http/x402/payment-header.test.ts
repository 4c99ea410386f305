import { Keypair } from '@solana/web3.js';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isProblem } from '../../../src/errors.ts';
import { readPayment, readPaymentObject, readPaymentText } from '../../../src/http/x402/payment-header.ts';
import { identifierHashOf } from '../../../src/http/x402/payment-identifier.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { selfPaid } from '../../solana/payment-transactions.ts';

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

describe('a payment that comes as an object', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 'x' : { deeper: deep(levels - 1) });

  it('is read as the text of it would be, whatever it holds', () => {
    const envelope = fc.oneof(
      fc.constant(second),
      fc.constant(first),
      fc.record({ ...Object.fromEntries(Object.keys(second).map((name) => [name, fc.jsonValue()])) }),
      fc.record({ x402Version: fc.constantFrom(1, 2, 3), accepted: fc.jsonValue(), payload: fc.jsonValue() }),
      fc.jsonValue().map((extensions) => ({ ...second, extensions })),
      fc.integer({ min: 1, max: 60 }).map((levels) => ({ ...second, extensions: { more: deep(levels) } })),
      fc
        .integer({ min: 11_000, max: 13_000 })
        .map((length) => ({ ...second, extensions: { more: 'é'.repeat(length / 2) } })),
    );
    fc.assert(
      fc.property(envelope, (value) => {
        expect(readPaymentObject(value as Record<string, unknown>, network)).toEqual(read(base64(value)));
      }),
    );
  });
});

describe('a payment is read by its content', () => {
  it('x402 v2, in the form of its own encoder, with the memo that the client sent back', () => {
    const text = encodePaymentSignatureHeader(second as Parameters<typeof encodePaymentSignatureHeader>[0]);
    expect(read(text)).toEqual({ x402Version: 2, transaction, memo: 'abc', identifier: null });
  });
  it('x402 v2 without a memo', () => {
    expect(read(base64({ ...second, accepted: { ...accepted, extra: {} } }))).toMatchObject({ memo: null });
    expect(read(base64({ ...second, accepted: { ...accepted, extra: null } }))).toMatchObject({ memo: null });
  });
  it('x402 v1, with any name of our network', () => {
    for (const named of [network.v1, network.selfPaid, network.caip2])
      expect(read(base64({ ...first, network: named }))).toEqual({
        x402Version: 1,
        transaction,
        memo: null,
        identifier: null,
      });
  });
  it('a bare transaction', () => {
    expect(read(transaction.toString('base64'))).toEqual({
      x402Version: null,
      transaction,
      memo: null,
      identifier: null,
    });
  });
  it('under any of the three headers', () => {
    for (const name of ['payment-signature', 'x-payment', 'x402-payment'])
      expect(readPayment({ [name]: base64(second) }, network)).toMatchObject({ x402Version: 2 });
    expect(readPayment({ authorization: base64(second) }, network)).toBeNull();
  });
  it('in base64url or without padding, outside and inside', () => {
    const bytes = Buffer.from([1, 0xfb, 0xff, 0xfe, 0xfb]);
    const urlSafe = bytes.toString('base64url');
    const payload = { transaction: urlSafe };
    for (const envelope of [
      { ...first, payload },
      { ...second, payload },
    ]) {
      const json = Buffer.from(JSON.stringify({ ...envelope, note: '\u00bf\u00bf?>~' }));
      for (const text of [json.toString('base64url'), json.toString('base64').replace(/=+$/, '')])
        expect(read(text)).toMatchObject({ transaction: bytes });
    }
    expect(read(urlSafe)).toMatchObject({ x402Version: null, transaction: bytes });
  });
  it('a self-paid transfer in base58, bare and in an envelope', () => {
    const parties = { feePayer: Keypair.generate().publicKey, payTo: Keypair.generate().publicKey };
    const wire = selfPaid(parties, Keypair.generate());
    const text = bs58.encode(wire);
    expect(read(text)).toMatchObject({ x402Version: null, transaction: wire });
    expect(read(base64({ ...first, payload: { transaction: text } }))).toMatchObject({ transaction: wire });
    // One payment in several encodings is one payment.
    const headers = {
      'payment-signature': text,
      'x-payment': wire.toString('base64'),
      'x402-payment': wire.toString('base64url'),
    };
    expect(readPayment(headers, network)).toMatchObject({ transaction: wire });
  });
  it('never by the client’s copy of our terms', () => {
    const echo = { ...accepted, amount: '1', asset: 'another', payTo: 'another' };
    expect(read(base64({ ...second, accepted: echo }))).toMatchObject({ transaction });
  });
});

describe('a payment identifier', () => {
  const withExtension = (extension: unknown) => base64({ ...second, extensions: { 'payment-identifier': extension } });
  const withId = (id: unknown) => withExtension({ info: { required: false, id }, schema: {} });

  it('is read if the client sent one', () => {
    for (const id of ['pay_7d5d747be160e280', 'a'.repeat(128)])
      expect(read(withId(id))).toMatchObject({ identifier: id });
  });
  it('is missing if the client sent nothing, or our own declaration back', () => {
    for (const extension of [undefined, null, {}, { info: { required: false } }, { info: null }])
      expect(read(withExtension(extension))).toMatchObject({ identifier: null });
    expect(read(base64({ ...second, extensions: null }))).toMatchObject({ identifier: null });
  });
  it.each([
    '',
    'a'.repeat(15),
    'a'.repeat(129),
    'sixteen-letters!',
    'ä'.repeat(20),
    `${'a'.repeat(20)}\n`,
    7,
    true,
    {},
  ])('that is malformed is an error, because its sender relies on it (%j)', (id) =>
    expect(reasonOf(withId(id))).toEqual(['invalid_payment', 'payment_identifier']),
  );
  it.each(['x', 7, true, { info: 'x' }, { info: 7 }])('and so is an extension of another shape (%j)', (extension) =>
    expect(reasonOf(withExtension(extension))).toEqual(['invalid_payment', 'payment_identifier']),
  );
  it('that is rejected is answered with the rule for valid ones', () =>
    expect(read(withId('short'))).toMatchObject({ details: { hint: expect.stringContaining('16 to 128 letters') } }));
  it('in two headers must be the same', () => {
    const other = base64({ ...second, extensions: { 'payment-identifier': { info: { id: 'b'.repeat(16) } } } });
    expect(readPayment({ 'payment-signature': withId('a'.repeat(16)), 'x-payment': other }, network)).toMatchObject({
      details: { reason: 'several_payments' },
    });
    expect(readPayment({ 'payment-signature': base64(first), 'x-payment': other }, network)).toMatchObject({
      identifier: 'b'.repeat(16),
    });
  });
  it('is hashed with its wallet', () => {
    expect(identifierHashOf('one', 'a'.repeat(16))).toMatch(/^[0-9a-f]{64}$/);
    expect(identifierHashOf('one', 'a'.repeat(16))).not.toBe(identifierHashOf('two', 'a'.repeat(16)));
  });
});

describe('an unreadable payment', () => {
  it.each([
    ['empty', '', 'empty'],
    ['not base64', '@@@@', 'not_base64'],
    ['both alphabets of base64', '-_+/', 'not_base64'],
    ['half of its padding', 'ew=', 'not_base64'],
    ['base64 with a space', `${base64(second)} `, 'not_base64'],
    ['base64 with bits left over', 'ew==', 'not_json'],
    ['base64 with other bits left over', 'ex==', 'not_base64'],
    ['the same header twice', `${base64(second)}, ${base64(second)}`, 'not_base64'],
    ['JSON null', base64('null'), 'not_an_object'],
    ['a JSON string', base64('"x"'), 'not_an_object'],
    ['a list', base64([second]), 'not_an_object'],
    ['bytes that are not text', Buffer.from([0x7b, 0xff, 0x7d]).toString('base64'), 'not_json'],
    ['cut JSON', base64(JSON.stringify(second).slice(0, -2)), 'not_json'],
    ['an empty object', base64({}), 'schema'],
    ['no accepted terms', base64({ x402Version: 2, payload: second.payload }), 'schema'],
    ['no payload', base64({ ...first, payload: undefined }), 'schema'],
    ['no transaction', base64({ ...first, payload: {} }), 'transaction_not_base64'],
    [
      'a transaction in both alphabets',
      base64({ ...first, payload: { transaction: 'AQ-_+/AQ' } }),
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
    ['a version that is not a number', { ...second, x402Version: '2' }, 'invalid_x402_version'],
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

  it('two headers may contain one payment, but not two', () => {
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

  const names = ['payment-signature', 'x-payment', 'x402-payment'] as const;
  const pairs = names.flatMap((one) => names.filter((other) => other !== one).map((other) => [one, other] as const));
  it.each(pairs)('in every pair of headers: %s and %s', (one, another) => {
    const different = { ...second, payload: { transaction: Buffer.from([1, 9]).toString('base64') } };
    const bare = transaction.toString('base64');
    for (const text of [
      base64(different),
      base64({ ...first, payload: different.payload }),
      Buffer.from([1, 9]).toString('base64'),
    ])
      expect(readPayment({ [one]: base64(second), [another]: text }, network)).toMatchObject({
        details: { reason: 'several_payments' },
      });
    for (const text of [base64(first), bare])
      expect(readPayment({ [one]: base64(second), [another]: text }, network)).toMatchObject({
        transaction,
        memo: 'abc',
      });
  });

  it('brackets inside strings do not count as nesting', () => {
    expect(read(base64({ ...first, note: '[{'.repeat(500), quoted: '\\"[[' }))).toMatchObject({ transaction });
  });

  it('any text is either read or rejected, and never throws', () => {
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
