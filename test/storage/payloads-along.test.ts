/** Appends that include the payloads that their events name: on the embedded engine, and on separate engines. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Append, RevisionConflict } from '../../src/storage/event-log.ts';
import { withPayloadsFirst } from '../../src/storage/payloads-first.ts';
import { StorageFailure } from '../../src/storage/storage-failure.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';
import { freshStream, notes } from './samples.ts';

let directory: string;
let storage: TestStorage;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'along-'));
  storage = await openTestStorage(directory);
});
afterAll(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const seal = (text: string) => storage.payloads.seal('answer', Buffer.from(text));
const text = async (name: string) => (await storage.payloads.get(name))?.toString() ?? null;

describe('an append with payloads', () => {
  it('makes both visible, or as many as exist', async () => {
    const [one, other] = await Promise.all([seal('one'), seal('other')]);
    const stream = freshStream();
    await storage.log.append({ ...notes(stream, ['a', 'b']), payloads: [one, other] });
    expect((await storage.log.read(stream)).map(({ data }) => data.reason)).toEqual(['a', 'b']);
    expect([await text(one.name), await text(other.name)]).toEqual(['one', 'other']);
  });

  it('repeated returns the original outcome, whether its first attempt was answered or not', async () => {
    const payload = await seal('again');
    const append: Append = { ...notes(freshStream(), ['a']), payloads: [payload] };
    const first = await storage.log.append(append);
    expect(await storage.log.append(append)).toEqual(first);
    expect(await text(payload.name)).toBe('again');
  });

  it('reuses its payloads if an earlier attempt stored them and got no further', async () => {
    const payload = await seal('half');
    await storage.payloads.store(payload);
    const stream = freshStream();
    await storage.log.append({ ...notes(stream, ['a']), payloads: [payload] });
    expect(await storage.log.read(stream)).toHaveLength(1);
    expect(await text(payload.name)).toBe('half');
  });

  it('that arrives too late leaves no event', async () => {
    const stream = freshStream();
    await storage.log.append(notes(stream, ['first']));
    const late = { ...notes(stream, ['late']), payloads: [await seal('late')] };
    await expect(storage.log.append(late)).rejects.toThrow(RevisionConflict);
    expect((await storage.log.read(stream)).map(({ data }) => data.reason)).toEqual(['first']);
  });

  it('works among many concurrent ones, each with its own', async () => {
    const appends = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => ({
        ...notes(freshStream(), [`event ${n}`]),
        payloads: [await seal(`payload ${n}`)],
      })),
    );
    await Promise.all(appends.map((append) => storage.log.append(append)));
    const stored = await Promise.all(appends.map(({ payloads: [payload] }) => text(payload?.name ?? '')));
    expect(stored).toEqual(appends.map((_, n) => `payload ${n}`));
  });
});

describe('an append with payloads to a log on another engine', () => {
  it('is not made if they cannot be stored', async () => {
    const silent = new StorageFailure('storage_unavailable', 'no answer');
    const apart = withPayloadsFirst(storage.log, { store: () => Promise.reject(silent) });
    const stream = freshStream();
    const append = { ...notes(stream, ['a']), payloads: [await seal('lost')] };
    // Certain, whether they exist by now or not.
    const refused = { code: 'storage_unavailable', nothingWritten: true, cause: silent };
    await expect(apart.append(append)).rejects.toMatchObject(refused);
    expect(await storage.log.read(stream)).toEqual([]);
  });

  it('is made once they are all stored', async () => {
    const stored: string[] = [];
    const log = withPayloadsFirst(
      {
        ...storage.log,
        append: async (append) => {
          expect([...stored].sort()).toEqual(sealed.map(({ name }) => name).sort());
          expect(append).not.toHaveProperty('payloads');
          return { revision: 0, position: '1' };
        },
      },
      {
        async store({ name }) {
          await new Promise((resolve) => setImmediate(resolve));
          stored.push(name);
        },
      },
    );
    const sealed = await Promise.all(['a', 'b', 'c'].map(seal));
    await log.append({ ...notes(freshStream(), ['a']), payloads: sealed });
    expect(stored).toHaveLength(3);
  });
});
