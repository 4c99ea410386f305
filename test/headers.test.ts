/** Given each file of `src`, its header is short: reasons that need more room are in docs/design, where a citation leads. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');
const MOST_LINES = 3;

it('a header has at most three lines', () => {
  const long = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => {
      const header = /^\/\*\*.*?\*\//s.exec(readFileSync(join(SOURCE, file), 'utf8'))?.[0] ?? '';
      return header.split('\n').filter((line) => /[^\s/*]/.test(line)).length > MOST_LINES;
    });
  expect(long).toEqual([]);
});
