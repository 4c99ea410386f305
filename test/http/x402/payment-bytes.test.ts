import { randomBytes } from 'node:crypto';
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBase64, readTransactionText } from '../../../src/http/x402/payment-bytes.ts';
import { MAX_TRANSACTION_BYTES } from '../../../src/solana/verify-transaction-wire.ts';
import { selfPaid, sponsored } from '../../solana/payment-transactions.ts';

const parties = { feePayer: Keypair.generate().publicKey, payTo: new PublicKey(randomBytes(32)) };
const TRANSACTIONS = [
  selfPaid(parties, Keypair.generate()),
  selfPaid(parties, Keypair.generate(), { version: 'legacy' }),
  sponsored(parties, Keypair.generate()),
];

describe('base64 is accepted in each of its canonical forms', () => {
  it('with either alphabet, with and without padding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const padded = Buffer.from(bytes).toString('base64');
        const urlSafe = padded.replaceAll('+', '-').replaceAll('/', '_');
        for (const text of [padded, urlSafe, padded.replace(/=+$/, ''), urlSafe.replace(/=+$/, '')])
          expect(readBase64(text)).toEqual(Buffer.from(bytes));
      }),
    );
  });
  it.each([
    ['both alphabets in one text', '-_+/'],
    ['too little padding', 'ew='],
    ['too much padding', 'ewo=='],
    ['padding where none belongs', 'ewog===='],
    ['padding alone', '=='],
    ['padding inside', 'ew==ew=='],
    ['bits left over', 'ex=='],
    ['bits left over, unpadded', 'ex'],
    ['a lone digit', 'e'],
    ['a space', 'ewog '],
    ['a line break', 'ewog\n'],
    ['another alphabet', 'ew.g'],
  ])('but not with %s', (_title, text) => expect(readBase64(text)).toBeNull());
});

describe('a transaction in base58 or base64', () => {
  it('decodes to the same bytes', () => {
    for (const wire of TRANSACTIONS)
      for (const text of [wire.toString('base64'), wire.toString('base64url'), bs58.encode(wire)])
        expect(readTransactionText(text)).toEqual(wire);
  });
  it('is accepted in any size of a transaction, and no larger', () => {
    // The first instruction's data is the last that varies: only the outer bytes need to be a transaction here.
    const longest = Buffer.alloc(MAX_TRANSACTION_BYTES, 0xff);
    expect(bs58.encode(longest).length).toBeLessThanOrEqual(Math.ceil(MAX_TRANSACTION_BYTES * 1.366));
    expect(readTransactionText('z'.repeat(1_685))).toEqual(readBase64('z'.repeat(1_685)));
  });
  it('is recognized by its content if both are valid; other content stays base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const text = bs58.encode(bytes);
        expect(readTransactionText(text)).toEqual(readBase64(text));
      }),
    );
  });
  it('is rejected in any other alphabet', () => {
    const text = bs58.encode(TRANSACTIONS[0]!);
    for (const broken of [`${text.slice(0, -1)}0`, `${text} `, ` ${text}`, `1${text}`, text.slice(1)]) {
      const read = readTransactionText(broken);
      expect(read === null || !read.equals(TRANSACTIONS[0]!)).toBe(true);
    }
  });
});
