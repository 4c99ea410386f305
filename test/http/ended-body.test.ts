import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressedBefore } from '../../src/http/ended-body.ts';

describe('a body with a separate ending', () => {
  it('decompresses to both parts, for any content and any number of endings', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 2_000, unit: 'binary' }),
      fc
        .array(fc.constantFrom('{"court_code":"cand"}', ',', 'é', ' '), { maxLength: 5_000 })
        .map((all) => all.join('')),
    );
    const ending = fc.oneof(
      fc.string({ minLength: 1, maxLength: 300, unit: 'binary' }),
      fc.nat(60_000).map((length) => 'x'.repeat(length + 1)),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.array(ending, { minLength: 1, maxLength: 3 }), async (body, endings) => {
        const variants = await compressedBefore(Buffer.from(body));
        for (const last of endings) {
          const whole = body + last;
          const encoded = (coding: keyof typeof variants) =>
            Buffer.concat([variants[coding].body, variants[coding].ending(last)]);
          expect(encoded('identity').toString()).toBe(whole);
          expect(brotliDecompressSync(encoded('br')).toString()).toBe(whole);
          expect(gunzipSync(encoded('gzip')).toString()).toBe(whole);
        }
      }),
      { numRuns: 100 },
    );
  });
});
