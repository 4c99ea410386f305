import { describe, expect, it } from 'vitest';
import { isV1, V1_ENDS, v1Headers, v1Retired } from '../../../src/http/v1/sunset.ts';
import { toMicros } from '../../../src/runtime/instant.ts';

describe('version 1', () => {
  it.each([
    '/v1',
    '/v1/',
    '/v1/case?q=1',
    '/v1?q=1',
    '/v1#x',
    '/%761/case',
    '/v%31/case',
    '/v1/%zz',
    'http://any.example/v1/case',
  ])('includes %s', (target) => {
    expect(isV1(target)).toBe(true);
  });

  it.each(['/v2/case', '/v1x', '/V1/case', '//v1/case', '/v1%2Fcase', '/', '*', '', '/docs?at=/v1/case', '/%zz/v1'])(
    'is not called by %s',
    (target) => {
      expect(isV1(target)).toBe(false);
    },
  );

  it('ends with the first moment of 28 April 2027, UTC', () => {
    expect(V1_ENDS).toBe(toMicros('2027-04-28T00:00:00.000000Z'));
    expect(v1Retired('/v1/case', V1_ENDS - 1)).toBeNull();
    expect(v1Retired('/v1/case', V1_ENDS)).toMatchObject({ problem: 'version_retired' });
    expect(v1Retired('/v2/case', V1_ENDS)).toBeNull();
  });

  it.each([
    ['/v1/case?court_code=cand', '/v2/case'],
    ['/v1/monitor', '/v2/monitor'],
    ['/%761/status', '/v2/status'],
    ['/v1/anything', '/docs'],
    ['/v1', '/docs'],
  ])('%s has the successor %s', (target, successor) => {
    expect(v1Retired(target, V1_ENDS)?.details).toEqual({ successor });
    expect(v1Headers(target, 'https://dockets.example').link).toBe(
      `<https://dockets.example${successor}>; rel="successor-version"`,
    );
  });

  it('says since when it is deprecated and when it ends, in the formats of RFC 9745 and RFC 8594', () => {
    const { deprecation = '', sunset } = v1Headers('/v1/case', 'https://dockets.example');
    expect(new Date(Number(deprecation.slice(1)) * 1000).toISOString()).toBe('2026-04-28T00:00:00.000Z');
    expect(deprecation).toMatch(/^@\d+$/);
    expect(sunset).toBe('Wed, 28 Apr 2027 00:00:00 GMT');
  });
});
