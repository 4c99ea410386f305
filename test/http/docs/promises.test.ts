/**
 * Checks the documentation's claims: each address that it calls free answers, and each endpoint that it lists exists.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GUIDES } from '../../../src/http/docs/guides.ts';
import { OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('the documentation', () => {
  it('shows calls of the sandbox that work', async () => {
    const calls = new Set<string>();
    for (const name of GUIDES) {
      const text = await (await fetch(`${world.url}/docs/${name}.md`)).text();
      for (const [, target = ''] of text.matchAll(/https:\/\/dockets\.example(\/v2\/\w+\?[^'"`\s]*test=1)/g))
        calls.add(target);
    }
    expect(calls.size).toBeGreaterThanOrEqual(4);
    for (const target of calls) {
      if (target.startsWith('/v2/mcp')) continue;
      const answer = await fetch(world.url + target);
      expect([target, answer.status]).toEqual([target, 200]);
    }
  });

  it('shows a docket that is truncated as described', async () => {
    const text = await (await fetch(`${world.url}/docs/truncation.md`)).text();
    const [, target = ''] = /(\/v2\/case\?[^']*test=1)/.exec(text) ?? [];
    const { meta } = (await (await fetch(world.url + target)).json()) as { meta: Record<string, unknown> };
    expect(meta).toMatchObject({ truncated: true, truncation_details: { total_entries: 6000 } });
  });

  it.each(OPERATIONS.map(({ method, path }) => [method.toUpperCase(), path] as const))(
    'lists %s %s, and it exists',
    async (method, path) => {
      const target = path.replace('{page}', 'payments').replace('{request_id}', '00000000-0000-4000-8000-000000000000');
      const answer = await fetch(world.url + target, { method });
      const refusal =
        answer.status >= 400 ? ((await answer.json()) as { error?: { code?: string } }).error?.code : null;
      expect(['endpoint_not_found', 'method_not_allowed']).not.toContain(refusal);
    },
  );
});
