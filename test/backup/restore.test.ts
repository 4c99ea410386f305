/**
 * Restoring. Given a verified backup and an empty storage; when it is restored, interrupted and continued, or restored
 * with a list of withdrawn content; then the copy equals the original, and nobody uses it before it is complete.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backupOrigin, type CopyOrigin } from '../../src/backup/origin.ts';
import { Backup } from '../../src/backup/read.ts';
import { receive } from '../../src/backup/receive.ts';
import { NO_REDACTIONS, type RedactionList, readRedactions } from '../../src/backup/redactions.ts';
import { takeBackup } from '../../src/backup/take.ts';
import { verifyBackup } from '../../src/backup/verify.ts';
import { EXIT } from '../../src/cli/command.ts';
import { encodeBlob, filingsBlob, REDACTED_FILING } from '../../src/dockets/filing-content.ts';
import { ContentRedacted, contentStream } from '../../src/events/content.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import { compareLog } from '../../src/identity/identify-log.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { leaseOwner } from '../../src/storage/lease-owner.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { collect, note } from '../storage/samples.ts';
import { damageInSqlite } from '../support/damage.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { append, CASE, clockShowing, type Filled, fill, LOG_ID, scheduled } from './source.ts';

let folder: string;
let storage: Storage;
let target: Storage;
let filled: Filled;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-restore-'));
  storage = openSqlite({ directory: join(folder, 'data') });
  target = openSqlite({ directory: join(folder, 'target') });
  filled = await fill(storage);
});
afterEach(async () => {
  await storage.close();
  await target.close();
  await rm(folder, { recursive: true, force: true });
});

const directory = () => join(folder, 'backup');
const ignore = () => undefined;
const take = (incremental = false) =>
  takeBackup({
    source: { ...storage, keys: join(folder, 'data/keys') },
    directory: directory(),
    incremental,
    clock: systemClock,
    owner: leaseOwner(),
    onProgress: ignore,
  });
const origin = async () => backupOrigin(await Backup.open(directory()));
const restore = (from: CopyOrigin, redactions: RedactionList = NO_REDACTIONS, onProgress = ignore as never) =>
  receive({ target, origin: from, redactions, ordered: true, clock: systemClock, owner: leaseOwner(), onProgress });
const text = async (name: string) => (await target.payloads.get(name))?.toString() ?? null;
const line = (value: object) => JSON.stringify(value);

describe('a restore', () => {
  it('gives the same events at the same places, the same content and the same clocks', async () => {
    await take();
    const restored = await restore(await origin());
    expect(restored).toMatchObject({ events: 8, contents: 2, cells: 1, redacted: [], unknown: [] });
    expect((await collect(target.log, null)).events).toEqual((await collect(storage.log, null)).events);
    expect(await text(filled.kept)).toBe('kept '.repeat(100));
    expect([await text(filled.redacted), await text(filled.gone)]).toEqual(['nothing', null]);
    expect((await target.payloads.resolve([filled.redacted])).get(filled.redacted)?.replaced).toBe(true);
    const clock = `case-clock-${CASE}`;
    expect((await target.readStore.cell(clock)).value).toEqual((await storage.readStore.cell(clock)).value);
    expect(await target.copies.cells('payload-housekeeping')[Symbol.asyncIterator]().next()).toMatchObject({
      done: true,
    });
    expect(await compareLog({ ...target, projections: [] })).toMatchObject({ logId: LOG_ID });
  });

  it('of several parts leaves out what was removed between them', async () => {
    await take();
    const later = await storage.payloads.put('target', Buffer.from('later'));
    await storage.payloads.remove(filled.kept, later);
    await append(storage, 'operator-x', [note('x')]);
    await take(true);
    await restore(await origin());
    expect(await text(filled.kept)).toBe('later');
    expect((await collect(target.log, null)).events).toEqual((await collect(storage.log, null)).events);
  });

  it('completes a removal that is recorded and was not made', async () => {
    const nothing = await storage.payloads.put('target', Buffer.from(''));
    const redaction = { name: filled.kept, replacement: nothing, stream: 's', revision: 0, filingIds: [], reason: 'r' };
    await append(storage, contentStream(filled.kept), [ContentRedacted.of(redaction)]);
    await take();
    await restore(await origin());
    expect(await text(filled.kept)).toBe('');
  });

  it('completes the second of two removals of one content, too', async () => {
    const [first, second] = [await storage.payloads.put('target', Buffer.from('1')), filled.replacement];
    const redaction = { name: filled.kept, stream: 's', revision: 0, filingIds: [], reason: 'r' };
    const stream = contentStream(filled.kept);
    const { head } = await append(storage, stream, [ContentRedacted.of({ ...redaction, replacement: first })]);
    await storage.payloads.remove(filled.kept, first);
    await append(storage, stream, [ContentRedacted.of({ ...redaction, replacement: second })], head);
    await take();
    await restore(await origin());
    expect([await text(filled.kept), await text(first)]).toEqual(['nothing', 'nothing']);
  });

  it('names content that was damaged in the storage', async () => {
    await damageInSqlite(join(folder, 'data'), filled.kept);
    await take();
    expect(await restore(await origin())).toMatchObject({ damaged: [filled.kept], contents: 1 });
  });

  it('takes content that was damaged in one part from another one', async () => {
    await damageInSqlite(join(folder, 'data'), filled.kept);
    await take();
    await damageInSqlite(join(folder, 'data'), filled.kept);
    await take(true);
    expect(await restore(await origin())).toMatchObject({ damaged: [], contents: 2 });
    expect(await text(filled.kept)).toBe('kept '.repeat(100));
  });

  it('gives a clock that is ahead of the copied log the newest event of its case', async () => {
    await storage.readStore.compareAndSet(`case-clock-${CASE}`, 1, clockShowing('99999999999999999999'));
    await take();
    await restore(await origin());
    const { value } = await target.readStore.cell(`case-clock-${CASE}`);
    expect(value).toEqual(clockShowing(filled.shown));
  });

  it('into a storage that holds anything is refused', async () => {
    await take();
    const from = await origin();
    await target.payloads.put('target', Buffer.from('x'));
    await expect(restore(from)).rejects.toThrow('not empty: it holds content');
    await append(target, 'operator-x', [note('x')]);
    await expect(restore(from)).rejects.toThrow('not empty: it holds events, content');
  });

  it('into a completed copy is refused, and it is said if that is the same copy', async () => {
    await take();
    await restore(await origin());
    await expect(restore(await origin())).rejects.toThrow('holds this copy already, and it is complete');
    await append(storage, 'operator-x', [note('x')]);
    await take(true);
    await expect(restore(await origin())).rejects.toThrow('holds events, content, a completed copy');
  });

  it.each([
    ['content', 0],
    ['events', 1],
    ['checked events', 0],
    ['case clocks', 0],
  ])('that dies at %s continues, and until then no service uses the storage', async (step) => {
    await take();
    const from = await origin();
    const dying = (now: string) => {
      if (now === step) throw new Error('killed');
    };
    await expect(restore(from, NO_REDACTIONS, dying as never)).rejects.toThrow('killed');
    await expect(compareLog({ ...target, projections: [] })).rejects.toMatchObject({ code: 'copy_unfinished' });
    await expect(
      takeBackup({
        source: { ...target, keys: null },
        directory: join(folder, 'other'),
        incremental: false,
        clock: systemClock,
        owner: leaseOwner(),
        onProgress: ignore,
      }),
    ).rejects.toMatchObject({ code: 'copy_unfinished' });
    expect(await restore(from)).toMatchObject({ events: 8 });
    expect((await collect(target.log, null)).events).toEqual((await collect(storage.log, null)).events);
    expect(await compareLog({ ...target, projections: [] })).toMatchObject({ logId: LOG_ID });
  });

  it('that was interrupted is not continued from another backup, or after someone wrote', async () => {
    await take();
    const from = await origin();
    const dying = (step: string) => {
      if (step === 'events') throw new Error('killed');
    };
    await expect(restore(from, NO_REDACTIONS, dying as never)).rejects.toThrow('killed');
    await expect(restore({ ...from, id: 'other' })).rejects.toThrow('unfinished copy from another backup');
    await append(target, 'operator-x', [note('x')]);
    await expect(restore(from)).rejects.toThrow('an event that is not part of this copy: revision 0 of operator-x');
  });

  it('that reads back another log than it wrote is not complete', async () => {
    await take();
    await expect(restore({ ...(await origin()), root: 'f'.repeat(64) })).rejects.toThrow('The copied log has 8 events');
    await expect(compareLog({ ...target, projections: [] })).rejects.toMatchObject({ code: 'copy_unfinished' });
  });
});

describe('a list of redactions', () => {
  const TEXTS = new Map([
    ['one', { ...REDACTED_FILING, redacted: false, description: 'ORDER one' }],
    ['two', { ...REDACTED_FILING, redacted: false, description: 'ORDER two' }],
  ]);

  it('leaves the content out, and records who withdrew it and why', async () => {
    await take();
    const list = readRedactions(`${line({ name: filled.kept, reason: 'court order 7', by: 'Ann Lee' })}\n`);
    expect(await restore(await origin(), list)).toMatchObject({ redacted: [filled.kept], unknown: [] });
    expect(await text(filled.kept)).toBeNull();
    const [recorded] = await target.log.read(contentStream(filled.kept));
    expect(recorded).toMatchObject({
      type: 'ContentRedacted',
      data: { name: filled.kept, replacement: null, reason: 'court order 7', by: 'Ann Lee', revision: 0 },
      metadata: { actor: 'restore' },
    });
    expect(recorded?.data.stream).toMatch(/^delivery-/);
    expect((await collect(target.log, null)).events).toHaveLength(9);
  });

  it('replaces the texts of the named filings only, as an event of the lost log names them', async () => {
    const docket = await storage.payloads.put('docket', encodeBlob(filingsBlob(TEXTS)));
    const delivery = randomUUID();
    await append(storage, deliveryStream(delivery), [scheduled(delivery, docket, filled.kept)]);
    await take();
    const data = {
      name: docket,
      replacement: 'f'.repeat(64),
      stream: 's',
      revision: 3,
      filingIds: ['two'],
      reason: 'r',
    };
    const list = readRedactions(line({ type: 'ContentRedacted', stream: contentStream(docket), revision: 0, data }));
    const { redacted } = await restore(await origin(), list);
    expect(redacted).toEqual([docket]);
    const left = JSON.parse((await text(docket)) ?? '');
    expect(left.filings.one.description).toBe('ORDER one');
    expect(left.filings.two).toEqual(REDACTED_FILING);
    expect((await target.copies.blobs([docket])).get(docket)?.bytes).toBeNull();
  });

  it('also withdraws content that had already been replaced', async () => {
    await take();
    const list = readRedactions(line({ name: filled.redacted, reason: 'all of it' }));
    await restore(await origin(), list);
    expect([await text(filled.redacted), await text(filled.replacement)]).toEqual([null, null]);
    const events = await target.log.read(contentStream(filled.redacted));
    expect(events.map(({ data }) => data.reason)).toEqual(['r', 'all of it']);
  });

  it('may be all withdrawals of the lost log: those in the backup, and masking, change nothing', async () => {
    await take();
    const later = {
      name: filled.kept,
      replacement: null,
      stream: 's',
      revision: 0,
      filingIds: ['one'],
      reason: 'later',
    };
    await append(storage, contentStream(filled.kept), [ContentRedacted.of(later)]);
    const masked = { ...later, name: filled.replacement, replacement: filled.kept, masking: 3 };
    await append(storage, contentStream(filled.replacement), [ContentRedacted.of(masked)]);
    const { events } = await collect(storage.log, null, { by: 'types', types: ['ContentRedacted'] });
    expect(events).toHaveLength(3);
    const list = readRedactions(events.map(line).join('\n'));
    expect(await restore(await origin(), list)).toMatchObject({ redacted: [filled.kept], unknown: [] });
    expect(await text(filled.redacted)).toBe('nothing');
    expect((await collect(target.log, null)).events).toHaveLength(9);
  });

  it('is recorded again after a restore of a restored log', async () => {
    await take();
    await restore(await origin(), readRedactions(line({ name: filled.redacted, reason: 'first' })));
    const other = await target.payloads.put('target', Buffer.from('other'));
    const delivery = randomUUID();
    await append(target, deliveryStream(delivery), [scheduled(delivery, other, other)]);
    const next = join(folder, 'next');
    const common = { clock: systemClock, owner: leaseOwner(), onProgress: ignore };
    await takeBackup({ source: { ...target, keys: null }, directory: next, incremental: false, ...common });
    const third = openSqlite({ directory: join(folder, 'third') });
    try {
      const redactions = readRedactions(
        [filled.redacted, other].map((name) => line({ name, reason: 'second' })).join('\n'),
      );
      const from = backupOrigin(await Backup.open(next));
      const received = await receive({ target: third, origin: from, redactions, ordered: true, ...common });
      expect(received).toMatchObject({ redacted: [other], unknown: [filled.redacted] });
      expect(await third.log.read(contentStream(other))).toHaveLength(1);
    } finally {
      await third.close();
    }
  });

  it('names what the backup does not hold', async () => {
    await take();
    const unknown = 'e'.repeat(64);
    const list = readRedactions([unknown, filled.gone].map((name) => line({ name, reason: 'r' })).join('\n'));
    expect(await restore(await origin(), list)).toMatchObject({ redacted: [], unknown: [unknown, filled.gone] });
    expect((await collect(target.log, null)).events).toHaveLength(8);
  });

  it.each(['content', 'events', 'case clocks'])('is applied once if the restore dies at %s', async (step) => {
    await take();
    const list = readRedactions(line({ name: filled.kept, reason: 'r' }));
    const dying = (now: string) => {
      if (now === step) throw new Error('killed');
    };
    await expect(restore(await origin(), list, dying as never)).rejects.toThrow('killed');
    expect(await text(filled.kept)).toBeNull();
    expect(await restore(await origin(), list)).toMatchObject({ redacted: [filled.kept] });
    expect(await target.log.read(contentStream(filled.kept))).toHaveLength(1);
  });

  it.each([
    ['{', 'Line 1 of the list of redactions cannot be used: it is not JSON'],
    ['null', 'cannot be used: value'],
    ['{"name":"x","reason":"r"}', 'name: expected 64 hex digits'],
    [`{"name":"${'a'.repeat(64)}"}`, 'cannot be used: reason'],
    ['{"type":"PaymentSettled","data":{}}', 'it is not a ContentRedacted'],
    [
      `\n{"name":"${'a'.repeat(64)}","reason":"r","filingIds":"all"}`,
      'Line 2 of the list of redactions cannot be used: filingIds',
    ],
  ])('with the line %j is refused', (list, problem) => {
    expect(() => readRedactions(list)).toThrow(problem);
  });
});

describe('docket restore', () => {
  const environment = () => ({ DATA_DIR: join(folder, 'restored') });

  it('verifies, restores and puts the keys back, readable only by their owner', async () => {
    await mkdir(join(folder, 'data/keys'));
    await writeFile(join(folder, 'data/keys/master-key'), '1:secret\n');
    await take();
    const run = await docketInProcess(['restore', directory(), '--json'], environment());
    expect([run.code, JSON.parse(run.out)]).toMatchObject([
      EXIT.ok,
      { log_id: LOG_ID, events: 8, keys: ['master-key'] },
    ]);
    expect(run.err).toContain('docket audit reconcile');
    const key = join(folder, 'restored/keys/master-key');
    expect(await readFile(key, 'utf8')).toBe('1:secret\n');
    expect((await stat(key)).mode & 0o077).toBe(0);
    const again = join(folder, 'again');
    const taken = await docketInProcess(['backup', again, '--json'], environment());
    expect(JSON.parse(taken.out).root).toBe(JSON.parse(run.out).root);
    expect((await verifyBackup(await Backup.open(again), ignore)).problems).toEqual([]);
  });

  it('takes each key from the newest part that holds it, and says which are from an earlier part', async () => {
    const keys = join(folder, 'data/keys');
    await mkdir(keys);
    await writeFile(join(keys, 'master-key'), '1:first\n');
    await writeFile(join(keys, 'fee-payer.json'), '[1]');
    await take();
    // A node of its own, on which only one key was rotated.
    await rm(join(keys, 'fee-payer.json'));
    await writeFile(join(keys, 'master-key'), '2:second\n');
    await append(storage, 'operator-x', [note('x')]);
    await take(true);
    // A node without the folder.
    await rm(keys, { recursive: true });
    await append(storage, 'operator-y', [note('y')]);
    expect((await take(true))?.olderKeys).toEqual([
      { name: 'fee-payer.json', part: 1 },
      { name: 'master-key', part: 2 },
    ]);
    const lacking = 'fee-payer.json (part-0001), master-key (part-0002)';
    const { problems, remarks } = await verifyBackup(await Backup.open(directory()), ignore);
    expect([problems, remarks]).toEqual([[], [expect.stringContaining(lacking)]]);
    const run = await docketInProcess(['restore', directory(), '--json'], environment());
    expect([run.code, JSON.parse(run.out)]).toMatchObject([
      EXIT.ok,
      { keys: ['fee-payer.json', 'master-key'], older_keys: [{ part: 1 }, { part: 2 }] },
    ]);
    expect(run.err).toContain(lacking);
    const restored = (name: string) => readFile(join(folder, 'restored/keys', name), 'utf8');
    expect([await restored('fee-payer.json'), await restored('master-key')]).toEqual(['[1]', '2:second\n']);
  });

  it('of a half copy changes nothing and names what is missing', async () => {
    await take();
    await rm(join(directory(), 'part-0001/payloads-000001.ndjson.gz'));
    const run = await docketInProcess(['restore', directory(), '--json'], environment());
    expect([run.code, JSON.parse(run.out)]).toMatchObject([
      EXIT.found,
      { error: { problems: expect.arrayContaining(['part-0001/payloads-000001.ndjson.gz is missing']) } },
    ]);
    expect(await stat(environment().DATA_DIR).catch(() => null)).toBeNull();
  });

  it('never replaces a key', async () => {
    await mkdir(join(folder, 'data/keys'));
    await writeFile(join(folder, 'data/keys/master-key'), '1:secret\n');
    await take();
    await mkdir(join(folder, 'restored/keys'), { recursive: true });
    await writeFile(join(folder, 'restored/keys/master-key'), '1:other\n');
    const run = await docketInProcess(['restore', directory()], environment());
    expect([run.code, run.err]).toEqual([EXIT.found, expect.stringContaining('holds another key than the backup')]);
    const without = await docketInProcess(['restore', directory(), '--without-keys'], environment());
    expect(without.code).toBe(EXIT.ok);
    expect(await readFile(join(folder, 'restored/keys/master-key'), 'utf8')).toBe('1:other\n');
  });

  it('of a log of another network, or with a list that cannot be read, is refused', async () => {
    await take();
    const run = await docketInProcess(['restore', directory()], {
      ...environment(),
      SOLANA_NETWORK: 'devnet',
      SOLANA_RPC_URL: 'http://127.0.0.1:1',
      FEE_PAYER_KEY: 'x',
      PAY_TO: '11111111111111111111111111111111',
    });
    expect([run.code, run.err]).toEqual([EXIT.found, expect.stringContaining('is not SOLANA_NETWORK=devnet')]);
    const list = await docketInProcess(['restore', directory(), '--redactions', join(folder, 'none')], environment());
    expect([list.code, list.err]).toEqual([EXIT.usage, expect.stringContaining('cannot be read')]);
  });
});
