import { describe, expect, it } from 'vitest';
import { familyOf, shortStream } from '../../src/audit/replay/families.ts';
import { sourceStream } from '../../src/events/source.ts';

describe('the family of a stream about live sources', () => {
  const hash = 'ab'.repeat(32);
  it.each([
    sourceStream.itself('rss'),
    sourceStream.court('rss', 'cand'),
    sourceStream.sourceCase('courtlistener', '70'),
    sourceStream.wanted('cand', '3:26-cv-00042'),
    sourceStream.webhook('courtlistener', hash),
    sourceStream.alert('courtlistener', '70'),
    sourceStream.backfill('0b7c2f36-5c3a-4a7e-9d0e-0d8f4f1f2a11'),
  ])('%s is sources', (stream) => {
    expect(familyOf(stream)).toBe('sources');
  });

  it('is not that of a source that pushes, whose tokens are acts of operators', () => {
    expect(familyOf('operator-source-county-scraper')).toBe('log');
  });

  it('shortens the key of a message, and nothing that distinguishes cases', () => {
    expect(shortStream(sourceStream.webhook('courtlistener', hash))).toBe(
      `source-webhook-courtlistener-${hash.slice(0, 16)}`,
    );
    expect(shortStream(sourceStream.wanted('cand', '3:26-cv-00042'))).toBe('source-wanted-cand-3:26-cv-00042');
  });
});
