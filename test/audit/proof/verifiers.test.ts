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
import { headKeyOf, noteTextOf, verifyHeadSignature } from '../../../src/events/log-note.ts';
import type { Vector, Vectors } from '../../support/verifier-vectors/vector-set.ts';
import { verifierVectors } from '../../support/verifier-vectors.ts';
import { LOG_ID } from '../../support/written-log.ts';

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
  it('are what the generator makes of the present code; `npx vitest run verifiers -u` writes them', async () => {
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

describe('invalid input', () => {
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

/** Runs a program that has verify.py as `verify` and gets `input` as JSON; gives what it prints as JSON. */
function inPython(program: string, input: unknown): unknown {
  const text = `import json, sys; sys.dont_write_bytecode = True; import verify; input = json.load(sys.stdin)\n${program}`;
  return JSON.parse(
    execFileSync('python3', ['-c', text], { cwd: folder, input: JSON.stringify(input), encoding: 'utf8' }),
  );
}

describe('what verify.py computes itself', () => {
  it('finds the same as verify.ts, word by word, also in a log that has no id', async () => {
    const [header = '', founded = '', ...rest] = (made.files.get('log-good.ndjson') ?? '').split('\n');
    const nameless = JSON.stringify({ ...JSON.parse(header), log_id: null });
    const logs = [
      ...made.vectors.filter(({ exit }) => exit === 1).map(({ file }) => made.files.get(file) ?? ''),
      ...[
        [nameless, founded, ...rest],
        [header, ...rest],
        [nameless, ...rest],
      ].map((lines) => lines.join('\n')),
    ];
    const words = async (text: string) => {
      const said: unknown[] = [];
      const kept = { heads: [], keys: [] };
      await check(Readable.from([Buffer.from(text)]), kept, ({ rule, stream, revision, expected, found }) =>
        said.push([rule, stream, revision, expected, found]),
      );
      return said;
    };
    const program = `import io
def words(text):
    said = []
    verify.check(io.BytesIO(text.encode()), verify.Kept(), lambda *breach: said.append(breach))
    return said
print(json.dumps([words(text) for text in input]))`;
    expect(inPython(program, logs)).toEqual(await Promise.all(logs.map(words)));
  });

  it('writes every double as JavaScript does', () => {
    const random = seeded(7);
    const view = new DataView(new ArrayBuffer(8));
    const anyDouble = () => {
      for (let byte = 0; byte < 8; byte++) view.setUint8(byte, Math.floor(random() * 256));
      return view.getFloat64(0);
    };
    const numbers = [
      ...Array.from({ length: 2000 }, anyDouble),
      ...Array.from({ length: 60 }, (_, power) => 1.5 * 10 ** (power - 30)),
      ...Array.from({ length: 60 }, (_, power) => 10 ** (power - 30)),
      ...[0, -0, 1, -1, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 5e-324, 1.7976931348623157e308],
    ].filter(Number.isFinite);
    const program = 'print(json.dumps([verify.canonical(verify.parse_json(text, "x"), "x") for text in input]))';
    const written = numbers.map((number) => JSON.stringify(number));
    expect(inPython(program, written)).toEqual(written);
  });

  it('accepts the signatures that OpenSSL accepts, and no others', () => {
    const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
    const cases = Array.from({ length: 12 }, (_, seed) => {
      const key = headKeyOf(Buffer.alloc(32, seed));
      const head = { size: seed + 1, root: 'ab'.repeat(32) };
      const good = Buffer.from(key.signHead(head, LOG_ID), 'base64');
      const flipped = Buffer.from(good);
      flipped.writeUInt8(flipped.readUInt8(seed * 5) ^ (1 << (seed % 8)), seed * 5);
      // The same signature with another scalar: RFC 8032 demands that it is rejected.
      const scalar = BigInt(`0x${Buffer.from(good.subarray(32)).reverse().toString('hex')}`) + ORDER;
      const malleable = Buffer.concat([
        good.subarray(0, 32),
        Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse(),
      ]);
      return [good, flipped, malleable].map((signature) => ({
        key: key.publicKey,
        text: noteTextOf(head, LOG_ID),
        ...head,
        signature: signature.toString('base64'),
      }));
    }).flat();
    const program = `import base64
print(json.dumps([verify.ed25519_matches(base64.b64decode(c["key"]), c["text"].encode(), base64.b64decode(c["signature"])) for c in input]))`;
    const expected = cases.map(({ key, ...head }) => verifyHeadSignature(head, LOG_ID, key));
    expect(expected.filter(Boolean)).toHaveLength(12);
    expect(inPython(program, cases)).toEqual(expected);
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
