/**
 * Given the stand-alone verifiers as separate programs, when an auditor runs them, then both write the same lines and end
 * with the same code.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anchorMemo } from '../../../src/solana/anchor-transaction.ts';
import { LOG_ID, TRANSACTION, writtenLog } from '../../support/written-log.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'examples/verifier');
const vectors = join(folder, 'vectors');
const built = mkdtempSync(join(tmpdir(), 'verifier-'));
afterAll(() => rmSync(built, { recursive: true, force: true }));

beforeAll(() => {
  // Only types are removed, as Node 22.18 does by itself.
  const options = '--ignoreConfig --module nodenext --target es2023 --types node --strict --erasableSyntaxOnly'.split(
    ' ',
  );
  const tsc = join(root, 'node_modules/.bin/tsc');
  const compiled = spawnSync(tsc, [join(folder, 'verify.ts'), '--outDir', built, ...options], { encoding: 'utf8' });
  expect(compiled.stdout + compiled.stderr).toBe('');
  writeFileSync(join(built, 'package.json'), '{"type":"module"}');
});

const PROGRAMS = {
  TypeScript: [process.execPath, join(built, 'verify.js')],
  Python: ['python3', join(folder, 'verify.py')],
} as const;

function run(name: keyof typeof PROGRAMS, argv: readonly string[], input?: string | Buffer) {
  const [program, file] = PROGRAMS[name];
  const { status, stdout, stderr } = spawnSync(program, [file, ...argv], { cwd: vectors, input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function both(argv: readonly string[], input?: string | Buffer) {
  const [one, other] = [run('TypeScript', argv, input), run('Python', argv, input)];
  expect(one).toEqual(other);
  return one;
}

const keyIn = (file: string): string =>
  JSON.parse(readFileSync(join(vectors, file), 'utf8').trimEnd().split('\n').at(-1) ?? '').signed_head.key;

describe('the verifiers', () => {
  it('say that a log holds, and what it rests on', () => {
    const anchored = { size: 18, root: writtenLog().tree(18).root().toString('hex') };
    const { root: expected } = JSON.parse(
      readFileSync(join(vectors, 'log-good.ndjson'), 'utf8').trimEnd().split('\n').at(-1) ?? '',
    );
    const said = [
      `ok 21 events, 7 streams, 5 heads: hashes, revisions, heads and signatures hold; root ${expected}`,
      'WARNING: 1 event after the newest head: nothing proves that no stream was removed, added or moved there',
      `the first 18 events are signed by ${keyIn('log-good.ndjson')}`,
      'The key is what the file says. Compare it with one that you kept: --key',
      `anchored: transaction ${TRANSACTION} must have the memo "${anchorMemo({ logId: LOG_ID, ...anchored })}"`,
      '',
    ].join('\n');
    expect(both(['log-good.ndjson'])).toEqual({ status: 0, stdout: said, stderr: '' });
    expect(both(['-'], readFileSync(join(vectors, 'log-good.ndjson'))).stdout).toBe(said);
  });

  it('warn of a log without heads, and of nothing where there is nothing to prove', () => {
    const { status, stdout } = both(['log-without-heads.ndjson']);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^ok 2 events.+\nWARNING: no heads: nothing proves that no stream was removed.+--head\n$/),
    ]);
    expect(both(['log-empty.ndjson']).stdout).not.toContain('WARNING');
  });

  it('accept heads and keys that were kept', () => {
    const key = keyIn('log-short.ndjson');
    expect(both(['log-short.ndjson', '--key', key, '--head', 'kept-head.txt']).status).toBe(0);
    const cut = both(['log-tail-cut.ndjson', '--head', 'kept-head.txt', '--key', key]);
    expect(cut).toEqual({
      status: 1,
      stdout: 'breach head_kept_matches log-head -: expected "at least 7 events", found "5 events"\n1 breach\n',
      stderr: '',
    });
  });

  it('accept a head that was saved with other ends of lines', () => {
    const head = join(built, 'head.txt');
    writeFileSync(head, readFileSync(join(vectors, 'kept-head.txt'), 'utf8').trimEnd().replaceAll('\n', '\r\n'));
    expect(both(['log-short.ndjson', '--head', head]).status).toBe(0);
  });

  it('print one line for each breach', () => {
    const { status, stdout } = both(['proof-event-missing.json']);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^breach revisions_contiguous payment-\w+ 4: .+\nbreach hash_matches payment-\w+ 4: .+\n2 breaches\n$/,
    );
  });

  it('say of a proof what it rests on', () => {
    expect(both(['proof-request.json']).stdout).toMatch(
      /^ok 5 events of payment-\w+: in the first 15 events of log \S+\nroot \w+, signed by \S+\nThe key is what the file says\..+\nanchored: transaction \w+ must have the memo "docket-log \S+ 18 \S+"\n$/,
    );
  });

  it('write nothing that a terminal would obey', () => {
    const text = readFileSync(join(vectors, 'log-short.ndjson'), 'utf8').replaceAll(
      'docket-cand-3:24-cv-00043',
      '\\u001b[2J\\u009b\u202e',
    );
    const { status, stdout } = both(['-'], text);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^[ -~\n]+$/);
    expect(stdout).toContain('breach hash_matches "\\u001b[2J\\u009b\\u202e" 0: ');
  });

  it.each([
    ['a file that is not there', ['no-such-file']],
    ['a folder', ['.']],
    ['no file', []],
    ['an unknown option', ['log-good.ndjson', '--fast', '1']],
    ['an option without its value', ['log-good.ndjson', '--head']],
    ['a head that is none', ['log-good.ndjson', '--head', 'expected.json']],
    ['a head that is not text', ['log-good.ndjson', '--head', process.execPath]],
    ['a key that is none', ['log-good.ndjson', '--key', 'docket-log/x+00000000+AAAA']],
  ])('call it unreadable: %s', (_, argv) => {
    for (const name of ['TypeScript', 'Python'] as const) {
      const { status, stdout, stderr } = run(name, argv);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^unreadable: [^\n]{1,200}\n$/);
    }
  });

  it.each(['TypeScript', 'Python'] as const)(
    'reproduce the published vectors, and report another result: %s',
    (name) => {
      const checked = run(name, ['check', '.']);
      expect([checked.status, checked.stdout.match(/^WRONG/gm)]).toEqual([0, null]);
      const expected = { vectors: [{ file: 'log-good.ndjson', exit: 1, breaches: [] }] };
      writeFileSync(join(built, 'log-good.ndjson'), readFileSync(join(vectors, 'log-good.ndjson')));
      writeFileSync(join(built, 'expected.json'), JSON.stringify(expected));
      expect(run(name, ['check', built])).toMatchObject({ status: 1, stdout: 'WRONG log-good.ndjson: 0 \n' });
    },
  );
});
