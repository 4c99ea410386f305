import { validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { describe, expect, it } from 'vitest';
import { wellKnownX402 } from '../../../src/http/docs/well-known-x402.ts';
import { OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { discoveryOf } from '../../../src/http/x402/bazaar.ts';
import { checkTerms } from '../../../src/http/x402/send-payment-required.ts';
import { termsFor } from '../../../src/http/x402/terms.ts';
import { NETWORKS } from '../../../src/solana/addresses.ts';

const merchant = {
  network: NETWORKS.mainnet,
  payTo: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  feePayer: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  publicUrl: 'https://a-rather-long-name-of-a-host.dockets.example',
};
const SOLD = OPERATIONS.filter(({ price }) => price !== null).map(({ method, path, summary }) => ({
  method: method === 'get' ? ('GET' as const) : ('POST' as const),
  path,
  description: summary,
  amount: 990_000n,
  purpose: { word: 'case', call: path, publicUrl: 'https://dockets.example', request: null } as const,
}));

describe('the extension bazaar', () => {
  it.each(SOLD)('of $method $path is valid for the reference implementation, and fits', (offer) => {
    const discovery = discoveryOf(offer.method, offer.path);
    expect(validateDiscoveryExtension(discovery as never)).toEqual({ valid: true });
    const occasion = { memos: { short: 'a'.repeat(34), inWords: 'a'.repeat(200) }, now: 0, latest: null };
    expect(termsFor(merchant, offer, occasion, 'Pay.').v2.extensions?.bazaar).toEqual(discovery);
    expect(() => checkTerms(merchant, offer)).not.toThrow();
  });

  it('names the required parameters, with valid values', () => {
    const { info } = discoveryOf('GET', '/v2/case') as { info: { input: { queryParams: Record<string, string> } } };
    expect(info.input.queryParams).toEqual({ case_id: '3:24-cv-01234', court_code: 'cand' });
    expect(discoveryOf('GET', '/v2/nothing')).toBeNull();
  });
});

describe('/.well-known/x402', () => {
  it('lists every endpoint that is sold and not deprecated, with terms', () => {
    const listed = wellKnownX402(merchant) as unknown as {
      version: number;
      resources: string[];
      items: { method: string; resource: string; accepts: { amount: string; payTo: string }[] }[];
    };
    expect(listed.version).toBe(1);
    expect(listed.resources.every((url) => URL.canParse(url))).toBe(true);
    const expected = SOLD.filter(({ path }) => !path.startsWith('/v1/'));
    expect(listed.items.map(({ method, resource }) => `${method} ${resource}`)).toEqual(
      expected.map(({ method, path }) => `${method} ${merchant.publicUrl}${path}`),
    );
    for (const { accepts } of listed.items) {
      expect(accepts[0]).toMatchObject({ amount: '990000', payTo: merchant.payTo });
    }
  });
});
