/**
 * Backups on disk. Given a storage with a little of everything; when a backup is taken, continued, damaged or made by
 * someone else; then it holds everything up to its head, and whatever is missing or changed is named.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf, manifestText, readManifest } from '../../src/backup/manifest.ts';
import { blobsNamedBy, CONTENT_FIELDS } from '../../src/backup/named-content.ts';
import { Backup } from '../../src/backup/read.ts';
import { type BackupSource, takeBackup } from '../../src/backup/take.ts';
import { verifyBackup } from '../../src/backup/verify.ts';
import { EXIT } from '../../src/cli/command.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { leaseOwner } from '../../src/storage/lease-owner.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { collect, note } from '../storage/samples.ts';
import { damageInSqlite } from '../support/damage.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { append, CASE, clockShowing, type Filled, fill, found, LOG_ID, scheduled } from './source.ts';

let folder: string;
let storage: Storage;
let filled: Filled;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-backup-'));
  storage = openSqlite({ directory: join(folder, 'data') });
  filled = await fill(storage);
  await mkdir(join(folder, 'data/keys'), { recursive: true });
  await writeFile(join(folder, 'data/keys/master-key'), '1:secret\n');
  await writeFile(join(folder, 'data/keys/fee-payer.json.1.tmp'), 'half');
});
afterEach(async () => {
  await storage.close();
  await rm(folder, { recursive: true, force: true });
});

const STREAM = 'operator-notes';
const directory = () => join(folder, 'backup');
const take = (incremental = false, from: Omit<BackupSource, 'keys'> = storage, owner = leaseOwner()) =>
  takeBackup({
    source: { ...from, keys: join(folder, 'data/keys') },
    directory: directory(),
    incremental,
    clock: systemClock,
    owner,
    onProgress: () => undefined,
  });
const verify = async () => verifyBackup(await Backup.open(directory()), () => undefined);
const problems = async () => (await verify()).problems;
async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
const eventsOf = async (backup: Backup) => (await all(backup.events())).flat();

describe('a backup', () => {
  it('holds every event as it was recorded, the content that they name, the case clocks and the keys', async () => {
    await take();
    const backup = await Backup.open(directory());
    const { events } = await collect(storage.log, null);
    expect(await eventsOf(backup)).toEqual(events);
    const payloads = (await all(backup.payloads())).flat();
    const as = Object.fromEntries(payloads.map((line) => [line.name, line.as]));
    expect(as).toEqual({
      [filled.kept]: 'stored',
      [filled.redacted]: 'replaced',
      [filled.replacement]: 'stored',
      [filled.gone]: 'absent',
    });
    expect((await all(backup.cells())).map(({ id }) => id)).toEqual([`case-clock-${CASE}`]);
    expect([...(await backup.keys())].map(([name, bytes]) => [name, String(bytes)])).toEqual([
      ['master-key', '1:secret\n'],
    ]);
    expect(await verify()).toMatchObject({ problems: [], remarks: [], events: events.length, payloads: 2, cells: 1 });
  });

  it('ends with a whole append, even if the head was read in the middle of one', async () => {
    const before = await storage.log.head();
    const { head: end } = await append(storage, STREAM, [note('one'), note('two'), note('three')]);
    const events = (await collect(storage.log, null)).events;
    const first = events.find(({ position }) => before !== null && position > before);
    await append(storage, STREAM, [note('four')], end);
    const { log } = storage;
    const source = {
      ...storage,
      log: {
        read: log.read.bind(log),
        readAll: log.readAll.bind(log),
        countAfter: log.countAfter.bind(log),
        head: async () => first?.position ?? null,
      },
    };
    await take(false, source);
    expect(await eventsOf(await Backup.open(directory()))).toEqual(events);
    expect(await problems()).toEqual([]);
  });

  it('is taken by one of two runs that start at the same moment', async () => {
    const runs = await Promise.allSettled([take(), take(), take()]);
    expect(runs.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const run of runs) {
      if (run.status === 'rejected')
        expect(String(run.reason)).toMatch(/Another process (?:is writing|has added)|is not empty/);
    }
    expect(await problems()).toEqual([]);
    expect(await readdir(directory())).toEqual(['backup.json', 'part-0001']);
  });

  it('can be read only by its owner', async () => {
    await take();
    for (const name of await readdir(directory(), { recursive: true })) {
      expect((await stat(join(directory(), name))).mode & 0o077, name).toBe(0);
    }
  });

  it('of a folder that is in use or holds something else is refused', async () => {
    await take();
    await expect(take()).rejects.toThrow('is not empty');
    await rm(directory(), { recursive: true });
    await mkdir(directory());
    await writeFile(join(directory(), 'note.txt'), '');
    await expect(take()).rejects.toThrow('is not empty');
    await expect(take(true)).rejects.toThrow('no backup to continue');
  });

  it('is not made of a log whose chain is broken', async () => {
    const at = (await append(storage, 'operator-x', [note('x')])).head;
    await append(storage, 'operator-x', [note('y')], { ...at, hash: 'f'.repeat(64) });
    await expect(take()).rejects.toThrow('stream operator-x, revision 1: its hash does not follow');
    expect(await readdir(directory())).toEqual([]);
  });

  it('names content that is damaged in the storage, and is made without it', async () => {
    await damageInSqlite(join(folder, 'data'), filled.kept);
    expect((await take())?.damaged).toEqual([filled.kept]);
    expect(await verify()).toMatchObject({
      problems: [],
      remarks: [expect.stringContaining('damaged in the storage')],
    });
  });

  it('replaces what a killed run left, and not what a living one writes', async () => {
    const partial = join(directory(), 'part-0001.partial');
    await mkdir(partial, { recursive: true });
    await writeFile(join(partial, 'owner'), leaseOwner());
    await expect(take()).rejects.toThrow('Another process is writing');
    await writeFile(join(partial, 'owner'), leaseOwner().replace(/\/\d+\//, '/999999999/'));
    await take();
    expect(await problems()).toEqual([]);
  });

  it('replaces what a run left that was killed before it had named itself', async () => {
    const partial = join(directory(), 'part-0001.partial');
    await mkdir(partial, { recursive: true });
    await writeFile(join(partial, 'owner'), '');
    const taking = take();
    // A living process does so in this moment.
    await writeFile(join(partial, 'owner'), leaseOwner());
    await expect(taking).rejects.toThrow('Another process is writing');
    await writeFile(join(partial, 'owner'), '');
    await take();
    expect(await problems()).toEqual([]);
  });
});

describe('an incremental backup', () => {
  it('adds what is newer, chained to the part before it', async () => {
    await take();
    const delivery = randomUUID();
    const fresh = await storage.payloads.put('envelope', Buffer.from('fresh'));
    await append(storage, deliveryStream(delivery), [scheduled(delivery, filled.kept, fresh)]);
    const second = await take(true);
    expect(second?.part).toMatchObject({ number: 2, events: 1 });
    const backup = await Backup.open(directory());
    expect(await eventsOf(backup)).toEqual((await collect(storage.log, null)).events);
    expect(await problems()).toEqual([]);
  });

  it('leaves a backup alone that has everything', async () => {
    await take();
    const before = await readFile(join(directory(), 'backup.json'), 'utf8');
    expect(await take(true)).toBeNull();
    expect(await readFile(join(directory(), 'backup.json'), 'utf8')).toBe(before);
    expect(await readdir(directory())).toEqual(['backup.json', 'part-0001']);
  });

  it('records content that was removed since', async () => {
    await take();
    const replacement = await storage.payloads.put('target', Buffer.from('later'));
    await storage.payloads.remove(filled.kept, replacement);
    await append(storage, 'operator-x', [note('x')]);
    await take(true);
    const backup = await Backup.open(directory());
    expect((await all(backup.gone())).flat()).toEqual([{ name: filled.kept, replacement }]);
    expect(await problems()).toEqual([]);
  });

  it('without a new event records content that was removed, and a key or a case clock that changed', async () => {
    await take();
    await storage.payloads.remove(filled.kept);
    expect((await take(true))?.part).toMatchObject({ number: 2, events: 0 });
    expect((await all((await Backup.open(directory())).gone())).flat()).toEqual([
      { name: filled.kept, replacement: null },
    ]);
    await writeFile(join(folder, 'data/keys/master-key'), '2:rotated\n');
    expect((await take(true))?.part).toMatchObject({ number: 3, events: 0, keys: ['master-key'] });
    await storage.readStore.compareAndSet(`case-clock-${CASE}`, 1, clockShowing(filled.shown));
    await storage.readStore.compareAndSet(`case-clock-${CASE}-2`, 0, clockShowing(filled.shown));
    expect((await take(true))?.part).toMatchObject({ number: 4, events: 0, cells: 2 });
    expect(await take(true)).toBeNull();
    const backup = await Backup.open(directory());
    expect(String((await backup.keys()).get('master-key'))).toBe('2:rotated\n');
    expect(await eventsOf(backup)).toEqual((await collect(storage.log, null)).events);
    expect(await problems()).toEqual([]);
  });

  it('holds a key that is a link to a mounted secret, and refuses one that leads nowhere', async () => {
    const key = join(folder, 'data/keys/master-key');
    await rename(key, join(folder, 'mounted'));
    await symlink(join(folder, 'mounted'), key);
    await take();
    expect(String((await (await Backup.open(directory())).keys()).get('master-key'))).toBe('1:secret\n');
    await rm(join(folder, 'mounted'));
    await expect(take(true)).rejects.toThrow(`The key file ${key} cannot be read (ENOENT).`);
    expect(await problems()).toEqual([]);
  });

  it('takes content that was damaged before and is repaired, once', async () => {
    await damageInSqlite(join(folder, 'data'), filled.kept);
    await take();
    expect(await take(true)).toBeNull();
    await damageInSqlite(join(folder, 'data'), filled.kept);
    expect((await take(true))?.part.payloads).toEqual({ stored: 1, replaced: 0, absent: 0, damaged: 0 });
    expect(await take(true)).toBeNull();
    expect(await verify()).toMatchObject({ problems: [], remarks: [] });
  });

  it('of another log, or of one that went back, is refused', async () => {
    await append(storage, 'operator-x', [note('x')]);
    await take();
    const other = openSqlite({ directory: join(folder, 'other') });
    await found(other, randomUUID());
    await expect(take(true, other)).rejects.toThrow(`The backup is of event log ${LOG_ID}`);
    await other.close();
    const older = openSqlite({ directory: join(folder, 'older') });
    await found(older);
    await expect(take(true, older)).rejects.toThrow('does not hold the last event of the backup');
    await older.close();
  });

  it('of a half copy is refused', async () => {
    await take();
    await append(storage, 'operator-x', [note('x')]);
    await rm(join(directory(), 'part-0001', 'names-000001.ndjson.gz'));
    await expect(take(true)).rejects.toThrow('part-0001/names-000001.ndjson.gz is missing');
  });

  it('lists a part that an earlier run had completed when it died', async () => {
    await take();
    const listed = await readFile(join(directory(), 'backup.json'));
    await append(storage, 'operator-x', [note('x')]);
    await take(true);
    await writeFile(join(directory(), 'backup.json'), listed);
    expect(await take(true)).toBeNull();
    expect((await Backup.open(directory())).manifest.parts).toHaveLength(2);
    expect(await problems()).toEqual([]);
  });
});

describe('verify', () => {
  const part = (name: string) => join(directory(), 'part-0001', name);

  it('names a missing file, a changed byte and a shortened file', async () => {
    await take();
    await cp(directory(), join(folder, 'sound'), { recursive: true });
    const restore = () => cp(join(folder, 'sound'), directory(), { recursive: true, force: true });
    await rm(part('payloads-000001.ndjson.gz'));
    expect((await problems())[0]).toBe('part-0001/payloads-000001.ndjson.gz is missing');
    await restore();
    const bytes = await readFile(part('events-000001.ndjson.gz'));
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    await writeFile(part('events-000001.ndjson.gz'), bytes);
    expect((await problems())[0]).toBe('part-0001/events-000001.ndjson.gz was changed: its SHA-256 differs');
    await restore();
    await writeFile(part('cells-000001.ndjson.gz'), (await readFile(part('cells-000001.ndjson.gz'))).subarray(0, 10));
    expect((await problems())[0]).toMatch(/cells-000001.ndjson.gz has 10 bytes, not \d+/);
    await restore();
    await writeFile(part('keys/master-key'), '2:secret\n');
    expect(await problems()).toEqual(['part-0001/keys/master-key was changed: its SHA-256 differs']);
    await restore();
    expect(await problems()).toEqual([]);
  });

  it('refuses a half copy and a changed manifest', async () => {
    await take();
    const manifest = join(directory(), 'backup.json');
    const text = await readFile(manifest, 'utf8');
    await rm(manifest);
    await expect(verify()).rejects.toThrow('backup.json is missing');
    await writeFile(manifest, text.slice(0, 200));
    await expect(verify()).rejects.toThrow('is not JSON');
    await writeFile(manifest, text.replace(/"cells": 1/, '"cells": 2'));
    await expect(verify()).rejects.toThrow('its content does not match its own hash');
    await writeFile(manifest, text.replace('"version": 1', '"version": 7'));
    await expect(verify()).rejects.toThrow('format version 7');
    await writeFile(manifest, text);
    await rename(join(directory(), 'part-0001'), join(directory(), 'part-0002'));
    expect((await problems()).slice(0, 1)).toEqual(['part-0001/events-000001.ndjson.gz is missing']);
  });

  /** A backup whose writer knows the format: every hash in the manifest is right. */
  async function forge(change: (file: string, lines: string[]) => string[] | Buffer): Promise<void> {
    const { manifest } = await Backup.open(directory());
    const [first] = manifest.parts;
    if (!first) throw new Error('no part');
    const files = await Promise.all(
      first.files.map(async (file) => {
        if (file.name.startsWith('keys/')) return file;
        const lines = gunzipSync(await readFile(part(file.name)))
          .toString()
          .split('\n')
          .slice(0, -1);
        const changed = change(file.name, lines);
        const raw = Buffer.isBuffer(changed)
          ? Buffer.alloc(file.rawBytes)
          : Buffer.from(changed.map((line) => `${line}\n`).join(''));
        const bytes = Buffer.isBuffer(changed) ? changed : gzipSync(raw);
        await writeFile(part(file.name), bytes);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return {
          ...file,
          bytes: bytes.length,
          sha256,
          rawBytes: raw.length,
          lines: Buffer.isBuffer(changed) ? file.lines : changed.length,
        };
      }),
    );
    await writeFile(join(directory(), 'backup.json'), manifestText(manifestOf([{ ...first, files }])));
  }

  it.each([
    ['an event that was left out', (lines: string[]) => lines.filter((_, index) => index !== 2), 'follows'],
    [
      'an event that occurs twice',
      (lines: string[]) => [...lines, lines.at(-1) ?? ''],
      'revision 0 follows revision 0',
    ],
    [
      'a changed event',
      (lines: string[]) => lines.map((line) => line.replace('drei', 'vier')),
      'its hash does not follow',
    ],
    ['an exchanged order', (lines: string[]) => [...lines].reverse(), 'the root of the events is not'],
    [
      'an event of the wrong shape',
      (lines: string[]) => lines.map((line) => line.replace('"revision":0', '"revision":"0"')),
      'line 1: revision',
    ],
    [
      'an event with a field more',
      (lines: string[]) => lines.map((line) => line.replace('{', '{"more":1,')),
      'line 1: value',
    ],
    [
      'a stream of the event store itself',
      (lines: string[]) =>
        lines.map((line) =>
          line.replace('"stream":"operator', '"stream":"$operator').replace('"stream":"docket', '"stream":"$$docket'),
        ),
      'not a stream of this service',
    ],
    ['no JSON', (lines: string[]) => [...lines.slice(1), '{'], 'not JSON'],
    [
      'data nested without end',
      (lines: string[]) =>
        lines.map((line, index) =>
          index === 1
            ? line.replace('"wallet":"wallet"', `"wallet":${'['.repeat(200_000)}${']'.repeat(200_000)}`)
            : line,
        ),
      'its hash does not follow',
    ],
  ])('names %s, even if every hash of the manifest fits', async (_, change, problem) => {
    await take();
    await forge((file, lines) => (file.startsWith('events') ? change(lines) : lines));
    expect((await problems()).join('\n')).toContain(problem);
  });

  it('names content whose bytes are others, or that is left out', async () => {
    await take();
    const foreign = Buffer.from('foreign').toString('base64');
    await forge((file, lines) =>
      file.startsWith('payloads')
        ? lines.map((line) => line.replace(/"bytes":"[^"]*"/, `"bytes":"${foreign}"`))
        : lines,
    );
    expect(await problems()).toContain(`content ${filled.kept}: its bytes do not match its name`);
    await forge((file, lines) =>
      file.startsWith('payloads') ? lines.filter((line) => !line.includes(`"${filled.gone}"`)) : lines,
    );
    expect((await problems()).join('\n')).toContain(`content ${filled.gone} is missing; revision 0 of delivery-`);
  });

  it('expands no file beyond what the manifest admits', async () => {
    await take();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    await forge((file, lines) => (file.startsWith('cells') ? bomb : lines));
    expect((await problems()).join('\n')).toMatch(/cells-000001.ndjson.gz does not expand to \d+ bytes/);
  });

  it('counts lines before it keeps them', async () => {
    await take();
    await forge((file, lines) => (file.startsWith('cells') ? [...lines, ...Array(1_000).fill('')] : lines));
    expect((await problems()).join('\n')).toContain('cells-000001.ndjson.gz holds a line that is not JSON');
    const text = await readFile(join(directory(), 'backup.json'), 'utf8');
    expect(() => readManifest(text.replace('"lines": 1001', '"lines": 100100100'))).toThrow('not a manifest');
  });

  it.each(['../../outside', 'keys/../../../outside', '/etc/passwd', 'keys/.hidden', 'events-1.ndjson.gz', 'a\u0000b'])(
    'refuses a manifest that names the file %j',
    async (name) => {
      await take();
      const text = await readFile(join(directory(), 'backup.json'), 'utf8');
      expect(() => readManifest(text.replace('keys/master-key', JSON.stringify(name).slice(1, -1)))).toThrow(
        /not a manifest/,
      );
    },
  );

  it('refuses a manifest with a member twice', async () => {
    await take();
    const text = await readFile(join(directory(), 'backup.json'), 'utf8');
    expect(() => readManifest(text.replace('"format"', '"version": 1,\n  "format"'))).toThrow('does not match its own');
  });
});

describe('docket backup', () => {
  it('takes and verifies from the command line', async () => {
    const environment = { DATA_DIR: join(folder, 'data') };
    const taken = await docketInProcess(['backup', directory(), '--json', '--without-keys'], environment);
    expect([taken.code, JSON.parse(taken.out)]).toMatchObject([EXIT.ok, { part: 1, log_id: LOG_ID, keys: null }]);
    const verified = await docketInProcess(['backup', 'verify', directory(), '--json']);
    expect([verified.code, JSON.parse(verified.out)]).toMatchObject([EXIT.ok, { sound: true, problems: [], parts: 1 }]);
    await appendFile(join(directory(), 'part-0001/events-000001.ndjson.gz'), 'x');
    const broken = await docketInProcess(['backup', 'verify', directory()]);
    expect([broken.code, broken.out]).toEqual([
      EXIT.found,
      expect.stringContaining('problem: part-0001/events-000001'),
    ]);
    const again = await docketInProcess(['backup', directory(), '--json'], environment);
    expect([again.code, JSON.parse(again.out)]).toMatchObject([EXIT.found, { error: { code: 'copy_refused' } }]);
  });

  it('says which keys an incremental part without keys leaves to earlier parts', async () => {
    const environment = { DATA_DIR: join(folder, 'data') };
    await take();
    await append(storage, 'operator-x', [note('x')]);
    const run = await docketInProcess(
      ['backup', directory(), '--incremental', '--without-keys', '--json'],
      environment,
    );
    expect([run.code, JSON.parse(run.out)]).toMatchObject([
      EXIT.ok,
      { keys: null, older_keys: [{ name: 'master-key', part: 1 }] },
    ]);
    expect(run.err).toContain(
      'Keys missing in this part, which a restore will take from earlier parts: master-key (part-0001)',
    );
  });

  it('names the folder if that is what cannot be used', async () => {
    const environment = { DATA_DIR: join(folder, 'data') };
    const file = join(folder, 'a-file');
    await writeFile(file, 'x');
    for (const place of [file, join(file, 'inside')]) {
      const { code, err } = await docketInProcess(['backup', place], environment);
      expect(code).toBe(EXIT.unavailable);
      expect(err).toContain(`${place} cannot be used: E`);
      expect(err).toContain('Give a folder in which this user may write');
      expect(err).not.toMatch(/DATA_DIR|TMPDIR/);
    }
    await take();
    await rm(join(directory(), 'backup.json'));
    await mkdir(join(directory(), 'backup.json'));
    for (const words of [['backup', 'verify'], ['restore']]) {
      const { code, err } = await docketInProcess([...words, directory()], { DATA_DIR: join(folder, 'other') });
      expect([code, err]).toEqual([EXIT.unavailable, expect.stringContaining(`${directory()} cannot be used: E`)]);
    }
  });

  it('says that the backup holds secrets', async () => {
    const { err } = await docketInProcess(['backup', directory()], { DATA_DIR: join(folder, 'data') });
    expect(err).toContain('now holds secret keys');
  });
});

it('every field of an event that is a SHA-256 either names content or is listed here as something else', async () => {
  const folder = new URL('../../src/events/', import.meta.url);
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  const fields = new Set([...texts.join('\n').matchAll(/(\w+): Sha256\b/g)].map(([, field]) => field));
  const others = ['payment', 'requestHash', 'identifierHash', 'keyHash', 'proof'];
  // `replacement`, of ContentRedacted, is any string by its schema.
  expect([...fields, 'replacement'].sort()).toEqual([...CONTENT_FIELDS, ...others].sort());
});

it('content fields are found at any depth, and other hashes are not content', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
  const data = {
    answer: a as string,
    callbacks: [{ target: b as string, deliveryId: 'x' }],
    payment: c as string,
    envelope: null,
  };
  expect(blobsNamedBy({ data })).toEqual([a, b]);
});
