/** Every citation of the design, and every path that it names, must lead somewhere. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const design = readdirSync(join(root, 'docs/design')).map((name) => `docs/design/${name}`);

/** The ids of a page's headings, as GitHub generates them; `<a id="4.4">` in a heading adds one. */
function headingsOf(markdown: string): ReadonlySet<string> {
  const ids = new Set<string>();
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    for (const [, own = ''] of heading.matchAll(/<a id="([^"]+)"><\/a>/g)) ids.add(own);
    const plain = heading.replace(/<[^>]+>|\[([^\]]*)\]\([^)]*\)/g, '$1');
    ids.add(
      plain
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    );
  }
  return ids;
}

const pages = new Map(design.map((path) => [path, headingsOf(read(path))]));

function isBroken(page: string, heading: string | undefined): boolean {
  const headings = pages.get(page);
  return headings === undefined || (heading !== undefined && !headings.has(heading));
}

const CODE = /\.(?:ts|mts|mjs|js|py|sh|ya?ml|json)$/;
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));
const code = files.filter((path) => /^(?:src|test|bench|scripts|bin|examples)\//.test(path) && CODE.test(path));

/** A page, in lower case like all pages, and any number of its headings: `interface.md#2.3 and #2.4`. */
const CITATION = /\bdocs\/design\/([a-z-]+\.md)((?:(?:, | and )?#[\w.-]*\w)*)/g;
const headingsIn = (text: string): readonly string[] => [...text.matchAll(/#([\w.-]*\w)/g)].map(([, id = '']) => id);

/** A comment may break its line inside a citation. */
const unwrapped = (text: string): string => text.replace(/(,| and)\n\s*(?:\*|\/\/) (?=#)/g, '$1 ');

describe('a citation of the design', () => {
  it('is always a path with a heading, never the bare name of a page or the number of a section', () => {
    const names = design.map((path) => path.slice('docs/design/'.length, -'.md'.length)).join('|');
    const bare = new RegExp(
      String.raw`\bdocs/design/[\w-]+\.md\b(?!#\w)|(?<![/\w-])(?:${names})\.md\b|\b[Ss]pecification \d`,
      'g',
    );
    const found = code
      .filter((path) => path !== 'test/citations.test.ts' && !path.startsWith('test/engines/'))
      .flatMap((path) => [...read(path).matchAll(bare)].map(([name]) => `${path}: ${name}`));
    expect(found).toEqual([]);
  });

  it('names a page and a heading that exist', () => {
    const broken = [...code, 'README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md'].flatMap((path) =>
      [...unwrapped(read(path)).matchAll(CITATION)].flatMap(([, page, headings = '']) =>
        [undefined, ...headingsIn(headings)]
          .filter((heading) => isBroken(`docs/design/${page}`, heading))
          .map((heading) => `${path}: docs/design/${page}#${heading ?? ''}`),
      ),
    );
    expect(broken).toEqual([]);
  });

  it('from one page of the design to another leads to a heading that exists', () => {
    const broken = design.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:)([\w-]+\.md)?(?:#([^)]+))?\)/g)].flatMap(([link, page, heading]) =>
        isBroken(page ? `docs/design/${page}` : path, heading) ? [`${path}: ${link}`] : [],
      ),
    );
    expect(broken).toEqual([]);
  });

  it.each([
    ['# One', 'one'],
    ['## GET /v2/results/{request_id}', 'get-v2resultsrequest_id'],
    ['### <a id="4.4"></a>4.4 GET /v2/status', '4.4'],
    ['## [Linked](x.md) `code`', 'linked-code'],
  ])('finds the heading %j as %s', (heading, id) => {
    expect(headingsOf(`${heading}\n`).has(id)).toBe(true);
  });

  it('does not read a comment in a sample as a heading', () => {
    expect(headingsOf('```sh\n# not a heading\n```\n').size).toBe(0);
  });
});

describe('a path in the documentation for maintainers', () => {
  it('exists', () => {
    const documents = [...design, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'docs/operating.md'];
    const known = new Set(files);
    const exists = (path: string): boolean =>
      known.has(path) || files.some((file) => file.startsWith(`${path.replace(/\/$/, '')}/`));
    const broken = documents
      .filter((path) => known.has(path))
      .flatMap((path) =>
        [...read(path).matchAll(/`((?:src|test|bench|scripts|docs|examples|registry|fixtures)\/[\w./-]*)`/g)].flatMap(
          ([, named = '']) => (exists(named) ? [] : [`${path}: ${named}`]),
        ),
      );
    expect(broken).toEqual([]);
  });
});
