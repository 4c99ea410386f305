import { decodePaymentRequiredHeader } from '@x402/core/http';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { decodePaymentResponseHeader } from '@x402/fetch';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receiptHeaders } from '../../../src/http/x402/receipt.ts';
import { checkTerms } from '../../../src/http/x402/send-payment-required.ts';
import { type Merchant, termsFor, transferTermsOf } from '../../../src/http/x402/terms.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';
import { usdcText } from '../../../src/solana/decimal-amount.ts';

const merchant: Merchant = {
  network: NETWORKS.devnet,
  payTo: '3yFwqXBfZY4jBVUafQ1YEXw189y2dN3V5KQq9uzBDy1E',
  feePayer: '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW',
  publicUrl: 'https://dockets.example',
};
const offer = {
  path: '/v2/case',
  description: 'Case context and new filings',
  amount: 990_000n,
  purpose: { word: 'case', call: 'GET /v2/case', publicUrl: merchant.publicUrl, request: null } as const,
};
const memos = { short: 'm1', inWords: 'm1 in words' };
const latest = { blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N', lastValidBlockHeight: 1234 };

describe('the terms of a 402', () => {
  const terms = termsFor(merchant, offer, { memos, now: 0, latest }, 'why');

  it('for x402 v2 match its own schema', () => {
    expect(PaymentRequiredV2Schema.parse(terms.v2)).toMatchObject({
      x402Version: 2,
      error: 'why',
      resource: { url: 'https://dockets.example/v2/case', mimeType: 'application/json' },
      accepts: [
        {
          scheme: 'exact',
          network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
          amount: '990000',
          asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
          payTo: merchant.payTo,
          maxTimeoutSeconds: 60,
          extra: {
            feePayer: merchant.feePayer,
            memo: 'm1',
            recentBlockhash: latest.blockhash,
            lastValidBlockHeight: '1234',
          },
        },
      ],
    });
  });

  it('offer x402’s payment-identifier without requiring it', () => {
    expect(PaymentRequiredV2Schema.parse(terms.v2).extensions?.['payment-identifier']).toMatchObject({
      info: { required: false },
      schema: { properties: { id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' } } },
    });
  });

  it('for x402 v1 match its own schema, without null members', () => {
    const parsed = PaymentRequiredV1Schema.parse({ x402Version: 1, accepts: [terms.v1] });
    expect(parsed.accepts[0]).toMatchObject({
      network: 'solana-devnet',
      maxAmountRequired: '990000',
      resource: 'https://dockets.example/v2/case',
      extra: { feePayer: merchant.feePayer },
    });
    expect(JSON.stringify(terms.v1)).not.toContain('null');
  });

  it('for a self-paid transfer name no fee payer', () => {
    expect(terms.selfPaid).toMatchObject({ network: 'solana-devnet', extra: { memo: 'm1 in words' } });
    expect(JSON.stringify(terms.selfPaid)).not.toContain(merchant.feePayer);
  });

  it('have no blockhash if none is known yet', () => {
    const { v2 } = termsFor(merchant, offer, { memos, now: 0, latest: null }, 'why');
    expect(v2.accepts[0]?.extra).toEqual({ feePayer: merchant.feePayer, memo: 'm1' });
  });

  it('are checked before the endpoint opens: terms too long to send back are an error', () => {
    checkTerms(merchant, offer);
    expect(() => checkTerms(merchant, { ...offer, description: 'x'.repeat(3_000) })).toThrow(/shorten its description/);
    expect(() => transferTermsOf({ ...merchant, payTo: 'nobody' })).toThrow(/not a Solana address/);
  });

  it('are encoded in the way that x402 decodes', () => {
    const encoded = Buffer.from(JSON.stringify(terms.v2)).toString('base64');
    expect(decodePaymentRequiredHeader(encoded)).toEqual(terms.v2);
  });
});

describe('a receipt', () => {
  const receipt = {
    network: NETWORKS.mainnet,
    transaction: 'T',
    payer: 'P',
    amount: '990000',
    failure: null,
  };
  const decoded = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, decodePaymentResponseHeader(value)]));

  it('is sent in the header of its dialect', () => {
    const common = { success: true, transaction: 'T', payer: 'P', amount: '990000' };
    const caip2 = { ...common, network: NETWORKS.mainnet.caip2 };
    expect(decoded(receiptHeaders({ ...receipt, dialect: 'x402-v2' }))).toEqual({ 'payment-response': caip2 });
    expect(decoded(receiptHeaders({ ...receipt, dialect: 'x402-v1' }))).toEqual({
      'x-payment-response': { ...common, network: 'solana' },
    });
    expect(decoded(receiptHeaders({ ...receipt, dialect: 'self-paid' }))).toEqual({
      'payment-response': caip2,
      'x-payment-response': { ...common, network: 'solana-mainnet' },
    });
  });

  it('of a failed payment says that it failed', () => {
    expect(decoded(receiptHeaders({ ...receipt, dialect: 'x402-v2', failure: 'expired' }))).toMatchObject({
      'payment-response': { success: false, errorReason: 'expired' },
    });
  });
});

describe('base units as text', () => {
  it.each([
    [0n, '0.00'],
    [1n, '0.000001'],
    [490_000n, '0.49'],
    [990_000n, '0.99'],
    [1_000_000n, '1.00'],
    [1_100_000n, '1.10'],
    [49_500_000n, '49.50'],
    [123_456_789n, '123.456789'],
  ])('%s is %s', (amount, text) => {
    expect(usdcText(amount)).toBe(text);
  });

  it('lose nothing', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n }), (amount) => {
        const [whole, fraction = ''] = usdcText(amount).split('.');
        expect(BigInt(`${whole}${fraction.padEnd(6, '0')}`)).toBe(amount);
        expect(fraction.length).toBeGreaterThanOrEqual(2);
      }),
    );
  });
});
