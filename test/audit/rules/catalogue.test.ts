/** The catalogue of rules: auditors find every rule in `docs/auditing.md`, and a test plants a breach of each. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RULES } from '../../../src/audit/rules/catalogue.ts';

const root = join(import.meta.dirname, '../../..');

it('is in docs/auditing.md, word for word', () => {
  const rows = Object.entries(RULES).map(([name, { holds }]) => `| \`${name}\` | ${holds} |`);
  const page = readFileSync(join(root, 'docs/auditing.md'), 'utf8');
  expect(page).toContain(['| rule | what holds |', '| --- | --- |', ...rows].join('\n'));
});

it('has a planted breach of each rule', () => {
  const tests = readdirSync(join(root, 'test/audit'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('rules/'))
    .map((file) => readFileSync(join(root, 'test/audit', file), 'utf8'))
    .join('\n');
  expect(Object.keys(RULES).filter((rule) => !new RegExp(`\\b${rule}\\b`).test(tests))).toEqual([]);
});
