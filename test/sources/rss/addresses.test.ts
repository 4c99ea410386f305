/** Given the registry of courts, which feeds there are and where. */
import { describe, expect, it } from 'vitest';
import { courts, findCourt } from '../../../src/courts/registry.ts';
import { feedOf, feedsOf } from '../../../src/sources/rss/addresses.ts';

const urlOf = (code: string): string | undefined => {
  const court = findCourt(code);
  return court ? feedOf(court)?.url : undefined;
};

describe('addresses of feeds (docs/design/sources.md#feeds)', () => {
  it('are known for 204 courts: district, bankruptcy and appellate courts, cit, uscfc and jpml', () => {
    const kinds = courts.flatMap((court) => feedOf(court)?.kind ?? []);
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    expect([count('district'), count('nyed'), count('bankruptcy'), count('appellate')]).toEqual([96, 1, 94, 13]);
    expect(kinds).toHaveLength(204);
  });

  it.each([
    ['ilnd', 'https://ecf.ilnd.uscourts.gov/cgi-bin/rss_outside.pl'],
    ['ilcb', 'https://ecf.ilcb.uscourts.gov/cgi-bin/rss_outside.pl'],
    ['azb', 'https://ecf.azb.uscourts.gov/cgi-bin/rss_outside.pl'],
    ['cit', 'https://ecf.cit.uscourts.gov/cgi-bin/rss_outside.pl'],
    ['uscfc', 'https://ecf.cofc.uscourts.gov/cgi-bin/rss_outside.pl'],
    ['jpml', 'https://ecf.jpml.uscourts.gov/cgi-bin/rss_outside.pl'],
    ['nyed', 'https://ecf.nyed.uscourts.gov/cgi-bin/readyDockets.pl'],
    ['ared', 'https://ecf.ared.uscourts.gov/cgi-bin/rss_outside4.pl'],
    ['ca2', 'https://ecf.ca2.uscourts.gov/n/beam/servlet/TransportRoom?servlet=RSSGenerator'],
  ])('%s is at %s', (code, url) => expect(urlOf(code)).toBe(url));

  it.each(['scotus', 'cavc', 'tax', 'bap9', 'ok_oklahoma'])('%s has none', (code) =>
    expect(urlOf(code)).toBeUndefined(),
  );

  it('leaves out of `all` what is documented to have none, unless it is named', () => {
    const codes = (chosen: readonly string[]) => feedsOf(chosen).map(({ court }) => court.code);
    expect(codes(['all'])).toHaveLength(201);
    for (const code of ['mdd', 'alnd', 'ca1']) {
      expect(codes(['all'])).not.toContain(code);
      expect(codes(['all', code])).toContain(code);
      expect(codes([code])).toEqual([code]);
    }
  });

  it('accepts a pattern for all courts, and aliases of courts', () => {
    expect(
      feedsOf(['ilnd', 'cofc'], 'http://127.0.0.1:9/{court}/rss?of={court}')
        .map(({ url }) => url)
        .sort(),
    ).toEqual(['http://127.0.0.1:9/ilnd/rss?of=ilnd', 'http://127.0.0.1:9/uscfc/rss?of=uscfc']);
  });
});
