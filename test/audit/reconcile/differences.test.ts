/** The table of differences in docs/auditing.md is the catalogue in the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DIFFERENCES } from '../../../src/audit/reconcile/differences.ts';

it('docs/auditing.md lists each difference with its meaning', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/auditing.md'), 'utf8');
  const [, section = ''] = /^## Compare with the chain\n(.*?)\n#/ms.exec(page) ?? [];
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
  expect(rows).toEqual(Object.entries(DIFFERENCES));
});
