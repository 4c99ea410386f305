/** `docket sources`: given a storage, an operator issues and revokes tokens, and sees who may push. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createSourcesCommand } from '../../../src/cli/sources/sources.ts';
import { MOST_TOKENS } from '../../../src/commands/source-token/source-token.ts';
import { sourceTokenHash, sourceTokenId } from '../../../src/commands/source-token/token.ts';
import { type MoneyWorld, openMoneyWorld } from '../money-world.ts';

export const sourcesCases = () => {
  let world: MoneyWorld;
  beforeAll(async () => {
    world = await openMoneyWorld();
  });
  afterAll(() => world.close());

  const sources = (...argv: string[]) => world.run(createSourcesCommand, 'sources', ...argv);
  const rowsOf = (out: string) =>
    out
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  describe('docket sources token', () => {
    it('shows a new token once, and the log has only its hash', async () => {
      const { code, out, err } = await sources(
        'token',
        'new',
        'county-scraper',
        '--courts',
        'ca9,cand,arb',
        '--by',
        'Ann Lee',
      );
      const token = out.trim();
      expect([code, token]).toEqual([EXIT.ok, expect.stringMatching(/^dkt_push_/)]);
      expect(err).toContain('for ca9, cand, azb');
      expect(err).not.toContain(token);
      const recorded = await world.storage.log.read('operator-source-county-scraper');
      expect(recorded.map(({ type, data }) => [type, data])).toEqual([
        [
          'SourceTokenIssued',
          {
            source: 'county-scraper',
            tokenHash: sourceTokenHash(token),
            courts: ['ca9', 'cand', 'azb'],
            by: 'Ann Lee',
            reason: 'none given',
          },
        ],
      ]);
      const listed = await sources('token', 'list');
      expect(listed.out).toContain(sourceTokenId(sourceTokenHash(token)));
      expect(listed.out).not.toContain(token);
    });

    it('lists who may push, before and after the read model has caught up', async () => {
      await sources('token', 'new', 'county-scraper', '--json');
      for (const wait of [async () => undefined, () => world.caughtUp()]) {
        await wait();
        const [row, ...more] = rowsOf((await sources('list', '--json')).out);
        expect([more, row]).toEqual([
          [],
          { name: 'county-scraper', kind: 'push', tokens: 2, courts: null, last_push_at: null, last_push: null },
        ]);
      }
      expect((await sources('list')).out).toMatch(/^county-scraper +push +2 tokens +never pushed +all courts\n$/);
    });

    it('revokes one token or all', async () => {
      const [first] = rowsOf((await sources('token', 'list', '--json')).out);
      const one = await sources('token', 'revoke', 'county-scraper', '--token', first.token_id, '--json');
      expect(JSON.parse(one.out)).toEqual({ source: 'county-scraper', revoked: [first.token_id] });
      expect(rowsOf((await sources('token', 'list', '--json')).out)).toHaveLength(1);
      expect((await sources('token', 'revoke', 'county-scraper')).code).toBe(EXIT.ok);
      expect((await sources('list')).out).toMatch(/^No source may push/);
      const again = await sources('token', 'revoke', 'county-scraper');
      expect([again.code, again.error?.message]).toEqual([EXIT.found, 'county-scraper has no valid token.']);
    });

    it('issues only so many at a time', async () => {
      for (let count = 0; count < MOST_TOKENS; count++) await sources('token', 'new', 'many');
      const { code, out, error } = await sources('token', 'new', 'many');
      expect([code, out, error?.hint]).toEqual([EXIT.found, '', expect.stringMatching(/Revoke one first/)]);
    });

    it.each([
      [['token', 'new', 'rss'], /reserved/],
      [['token', 'new', 'courtlistener'], /reserved/],
      [['token', 'new', 'Not A Name'], /lower-case/],
      [['token', 'new', 'x'], /2 to 32/],
      [['token', 'new', 'fine', '--courts', 'moon'], /Unknown court/],
      [['token', 'new', 'fine', '--courts', ','], /names no court/],
      [['token', 'new', 'fine', '--reason', ' '], /--reason is empty/],
      [['token', 'revoke', 'many', '--token', 'dkt_push_secret'], /not the id/],
    ])('%j is refused', async (argv, fault) => {
      const { code, out, error } = await sources(...argv);
      expect([code, out]).toEqual([EXIT.usage, '']);
      expect(error?.message).toMatch(fault);
      expect(error?.hint).toMatch(/./);
    });
  });
};
