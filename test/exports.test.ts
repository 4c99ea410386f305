/** Given all files, each value that a file of `src` exports is used in another one: what is not exported can be changed alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const CODE = /\.(?:ts|mts|mjs|js)$/;
const EXPORTED = /^export (?:abstract )?(?:async )?(?:function\*?|const|let|class|enum) ([A-Za-z_$][\w$]*)/gm;
const WORD = /[A-Za-z_$][\w$]*/g;

const texts = new Map(
  ['src', 'test', 'bench', 'scripts', 'bin']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => CODE.test(file) && !file.includes('node_modules'))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const),
);

/** In how many files a word occurs. */
const files = new Map<string, number>();
for (const text of texts.values())
  for (const word of new Set(text.match(WORD))) files.set(word, (files.get(word) ?? 0) + 1);

it('a value is exported only if another file uses it', () => {
  const unused = [...texts]
    .filter(([file]) => file.startsWith('src/'))
    .flatMap(([file, text]) =>
      [...text.matchAll(EXPORTED)].flatMap(([, name = '']) => (files.get(name) === 1 ? [`${file}: ${name}`] : [])),
    );
  expect(unused).toEqual([]);
});
