/** The memo that binds a payment to what it buys. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitOf, newMemos, type Purpose } from '../../../src/http/x402/purpose.ts';
import { MAX_MEMO_BYTES } from '../../../src/solana/verify-transaction.ts';

const purpose = fc.record({
  word: fc.constantFrom('case', 'monitor', 'batch', 'keys', 'rotate-key', 'deliveries'),
  call: fc.constantFrom(
    'GET /v2/case',
    'POST /v2/wallet/keys',
    'GET /v2/wallet/deliveries',
    'tool service_wallet_info',
  ),
  publicUrl: fc.constantFrom('https://dockets.example', 'http://127.0.0.1:8080', `https://${'sub.'.repeat(60)}example`),
  request: fc.option(fc.string({ unit: 'binary' })),
}) as fc.Arbitrary<Purpose>;

describe('the memo of a payment', () => {
  it('states its purpose in words that a wallet can show, and matches it', () => {
    const shown = newMemos({
      word: 'rotate-key',
      call: 'POST /v2/wallet/keys',
      publicUrl: 'https://dockets.example',
      request: '',
    });
    expect(shown.inWords).toMatch(
      /^Docket Monitor 1: pays for POST \/v2\/wallet\/keys at dockets\.example, request [\w-]{22}, nonce [\w-]{8}$/,
    );
    expect(shown.short).toMatch(/^docket1 rotate-key [\w-]{15}$/);
  });

  it('matches its own purpose in both forms, and no other', () => {
    fc.assert(
      fc.property(purpose, purpose, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        for (const memo of Object.values(newMemos(one))) {
          expect(fitOf(memo, one)).toBe('bound');
          expect(fitOf(memo, other)).toBe(isSame ? 'bound' : 'another');
        }
      }),
    );
  });

  it('stays short enough for clients of x402 v2 and for every transaction, in ASCII', () => {
    fc.assert(
      fc.property(purpose, (one) => {
        const { short, inWords } = newMemos(one);
        expect(inWords.length).toBeLessThanOrEqual(MAX_MEMO_BYTES);
        expect(short + inWords).toMatch(/^[ -~]+$/);
        // What the deployed program used for 32 and for 60 characters; 6,200 for a transfer, 300 to set limit and
        // price.
        expect(1_050 + 365 * short.length + 6_200 + 300).toBeLessThanOrEqual(20_000);
      }),
    );
  });

  it('matches nothing after any change of a character, and is unbound under another prefix', () => {
    fc.assert(
      fc.property(purpose, fc.nat(), fc.constantFrom('A', 'b', '0'), (one, at, character) => {
        for (const memo of Object.values(newMemos(one))) {
          const index = at % memo.length;
          if (memo[index] === character) continue;
          const changed = memo.slice(0, index) + character + memo.slice(index + 1);
          expect(fitOf(changed, one)).not.toBe('bound');
        }
      }),
    );
    for (const memo of [null, '', 'deadbeef', 'docket2 case x']) {
      expect(fitOf(memo, { word: 'case', call: 'GET /v2/case', publicUrl: 'https://a.example', request: null })).toBe(
        'unbound',
      );
    }
  });

  it('differs in each 402', () => {
    const one: Purpose = { word: 'case', call: 'GET /v2/case', publicUrl: 'https://a.example', request: 'x' };
    const memos = Array.from({ length: 100 }, () => newMemos(one)).flatMap(Object.values);
    expect(new Set(memos).size).toBe(200);
  });
});
