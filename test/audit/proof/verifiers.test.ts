/**
 * Given the published vectors, when the stand-alone verifiers check them, then both say what `expected.json` says. Given
 * hostile input, then they end with a breach or call it unreadable, and never fail otherwise.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Breach, check, parseKey, parseNote, Unreadable } from '../../../examples/verifier/verify.ts';
import { type Vector, type Vectors, verifierVectors } from '../../support/verifier-vectors.ts';

const folder = join(import.meta.dirname, '../../../examples/verifier');

let made: Vectors;
beforeAll(async () => {
  made = await verifierVectors();
});

async function verdict(text: string | Buffer, { head, key }: Pick<Vector, 'head' | 'key'> = {}) {
  const breaches: Breach[] = [];
  try {
    const kept = {
      heads: head === undefined ? [] : [parseNote(made.files.get(head) ?? '', head)],
      keys: key === undefined ? [] : [parseKey(key, 'key')],
    };
    await check(Readable.from([Buffer.from(text)]), kept, (breach) => breaches.push(breach));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { exit: 2, breaches: [] };
  }
  const listed = breaches.map(({ rule, stream, revision }) => ({ rule, stream, revision }));
  return { exit: breaches.length > 0 ? 1 : 0, breaches: listed };
}

describe('the published vectors', () => {
  it('are what the generator makes of the present code; vitest -u writes them', async () => {
    const { vectors, files } = made;
    const about =
      'Each file with what a verifier says of it: exit code, and rule, stream and revision of each breach. `head` is a file with a kept head, `key` a kept verifier key.';
    await expect(`${JSON.stringify({ about, vectors }, null, 2)}\n`).toMatchFileSnapshot(
      join(folder, 'vectors/expected.json'),
    );
    for (const [name, text] of files) await expect(text).toMatchFileSnapshot(join(folder, 'vectors', name));
    expect(readdirSync(join(folder, 'vectors')).sort()).toEqual(['expected.json', ...files.keys()].sort());
  });

  it('are judged as expected by verify.ts', async () => {
    for (const { file, exit, breaches, ...kept } of made.vectors) {
      expect(await verdict(made.files.get(file) ?? '', kept), file).toEqual({ exit, breaches });
    }
  });

  it('are judged as expected by verify.py', () => {
    const out = execFileSync('python3', ['verify.py', 'check', 'vectors'], { cwd: folder, encoding: 'utf8' });
    expect(out.trimEnd().split('\n')).toHaveLength(made.vectors.length);
    expect(out).not.toMatch(/WRONG/);
  });
});

/** Runs the Python verifier on one input and gives its exit code and what it said. */
function python(input: string | Buffer): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const { status, stdout, stderr } = spawnSync('python3', ['verify.py', '-'], { cwd: folder, input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('input that nobody should send', () => {
  const long = 'x'.repeat(10 * 1024 * 1024);

  it.each([
    ['a line of 10 MB that is not JSON', long],
    ['a proof of 10 MB', `{"format":"docket-proof","version":1,"log_id":"${long}"}`],
    ['a line beyond every limit', Buffer.alloc(17 * 1024 * 1024, 'x')],
    ['a number of a million digits', `{"format":"docket-log","version":${'1'.repeat(1_000_000)}}`],
    ['a million open brackets', '['.repeat(1_000_000)],
    ['a million nested lists', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x0a])],
    ['a byte order mark', '\ufeff{"format":"docket-log"}\n'],
    ['a proof of nothing', '{"format":"docket-proof","version":1,"events":[],"kind":"event","head":{},"anchor":null}'],
    ['a list', '[1,2,3]'],
    ['null', 'null'],
    ['blank lines', '\n\n\n'],
  ])('is unreadable to both: %s', async (_name, input) => {
    expect((await verdict(input)).exit).toBe(2);
    const { status, stderr } = python(input);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^unreadable: .{1,300}\n$/)]);
  });

  it('gets the same verdict from both, whichever byte of a good file is another', async () => {
    const random = seeded(21);
    const originals = ['log-good.ndjson', 'proof-request.json'].map((name) => Buffer.from(made.files.get(name) ?? ''));
    const directory = mkdtempSync(join(tmpdir(), 'docket-changed-'));
    try {
      const vectors: Pick<Vector, 'file' | 'exit' | 'breaches'>[] = [];
      for (let round = 0; round < 120; round++) {
        const bytes = Buffer.from(originals[round % 2] as Buffer);
        const at = Math.floor(random() * bytes.length);
        // A digit, a letter or a sign of JSON for another; seldom any byte.
        bytes[at] = '019af"{}[],:-.e \\\n'.charCodeAt(Math.floor(random() * 18)) || Math.floor(random() * 256);
        const file = `${round}`;
        writeFileSync(join(directory, file), bytes);
        vectors.push({ file, ...((await verdict(bytes)) as Pick<Vector, 'exit' | 'breaches'>) });
      }
      expect(new Set(vectors.map(({ exit }) => exit))).toEqual(new Set([0, 1, 2]));
      writeFileSync(join(directory, 'expected.json'), JSON.stringify({ vectors }));
      const out = execFileSync('python3', ['verify.py', 'check', directory], { cwd: folder, encoding: 'utf8' });
      expect(out.split('\n').filter((line) => line.startsWith('WRONG'))).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

/** Numbers from 0 to 1, the same at every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
