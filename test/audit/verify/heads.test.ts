/**
 * What `docket audit verify` says of heads and of their keys: given a log with signed heads, when heads are missing, a key
 * is exchanged, or heads come long after what they cover, then that is said at its place; and a healthy log has no breach.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TrustedKeys } from '../../../src/audit/verify/head-keys.ts';
import { Heads } from '../../../src/audit/verify/heads.ts';
import { LateHeads } from '../../../src/audit/verify/late-heads.ts';
import { Scratch } from '../../../src/audit/verify/scratch.ts';
import { LOG_HEAD_STREAM } from '../../../src/events/log-head.ts';
import { headKeyOf } from '../../../src/events/log-note.ts';
import { LogTree, leafOf } from '../../../src/events/log-tree.ts';
import { EventSkipped, operatorStream } from '../../../src/events/operator.ts';
import { openScratch } from '../../../src/service/open-audit.ts';
import { SqliteRawEvents } from '../../../src/storage/sqlite/raw-events.ts';
import {
  docketNumber,
  edit,
  INTRODUCED,
  KEY,
  LOG_ID,
  openSampleLog,
  rehash,
  renumber,
  rowsOf,
  type SampleLog,
} from './sample-log.ts';

let log: SampleLog;
beforeEach(async () => {
  log = await openSampleLog();
  await log.docket(1);
  await log.head();
});
afterEach(() => log.remove());

const NOTED = operatorStream('projection-cases');
const skip = () =>
  log.write(NOTED, EventSkipped.of({ projection: 'cases', position: '1', reason: 'a test', by: 'Ann' }));

const places = (all: readonly { readonly rule: string; readonly stream: string; readonly revision: number | null }[]) =>
  all.map(({ rule, stream, revision }) => `${rule} ${stream} ${revision}`);

describe('events that no head covers', () => {
  it('are nothing to list within an hour', async () => {
    await skip();
    log.pass(3_599);
    await skip();
    expect((await log.verify()).all).toEqual([]);
  });

  it('are listed once, at the first of them, after an hour', async () => {
    await skip();
    await log.docket(2);
    log.pass(3_601);
    await skip();
    expect(places((await log.verify()).all)).toEqual([`head_in_time ${NOTED} 0`]);
  });

  it('are no longer listed once a head covers them, also from a checkpoint', async () => {
    const checkpoint = join(log.directory, 'audited.sqlite');
    await skip();
    log.pass(7_200);
    await skip();
    expect(places((await log.verify({ checkpoint })).all)).toEqual([`head_in_time ${NOTED} 0`]);
    await log.head();
    expect((await log.verify({ checkpoint })).all).toEqual([]);
    expect((await log.verify()).all).toEqual([]);
  });

  it('are all events of a log whose heads and keys were removed, with positions made right again', async () => {
    log.pass(7_200);
    await log.docket(2);
    await log.head();
    log.tamper((db) => {
      db.prepare('DELETE FROM events WHERE stream = ?').run(LOG_HEAD_STREAM);
      renumber(db);
    });
    const verified = await log.verify();
    expect(places(verified.all)).toEqual(['head_in_time log-identity 0']);
    expect(verified).toMatchObject({ heads: 0, keys: [], proven: null });
  });

  it('leave no way around a head that somebody kept', async () => {
    const kept = await log.head();
    log.tamper((db) => {
      db.prepare('DELETE FROM events WHERE stream = ?').run(LOG_HEAD_STREAM);
      renumber(db);
    });
    expect((await log.verify({ kept })).own).toEqual(['head_kept_matches log-head null']);
  });

  it('leave no way around a head or a key that was kept, even if no other event was touched', async () => {
    const { kept, size } = log.tamper((db) => {
      const { size, root } = rowsOf(db)
        .filter(({ stream }) => stream === LOG_HEAD_STREAM)
        .map(({ data }) => JSON.parse(data))[1];
      return { kept: { size, root, isRecorded: true }, size };
    });
    expect(await log.verify({ kept })).toMatchObject({ own: [], keptHolds: true });
    log.tamper((db) => db.prepare('DELETE FROM events WHERE stream = ?').run(LOG_HEAD_STREAM));
    expect(await log.verify()).toMatchObject({ own: [], events: size });
    expect((await log.verify({ kept })).own).toEqual(['head_kept_matches log-head null']);
    const trusted: TrustedKeys = { kept: [KEY.publicKey], derived: new Map() };
    expect((await log.verify({ trusted })).own).toEqual(['head_key_kept log-head null']);
  });
});

describe('the key of a head', () => {
  const OTHER = headKeyOf(Buffer.alloc(32, 9));
  const { fingerprint } = INTRODUCED.data;
  const trusted = (more: Partial<TrustedKeys>): TrustedKeys => ({ kept: [], derived: new Map(), ...more });

  /** Somebody who has the file signs every head again, with another key. */
  const exchangeKey = () =>
    log.tamper((db) => {
      edit(db, LOG_HEAD_STREAM, 0, (data) => ({ ...data, publicKey: OTHER.publicKey }));
      edit(db, LOG_HEAD_STREAM, 1, (data) => {
        const claim = { size: Number(data.size), root: String(data.root) };
        return { ...data, signature: OTHER.signHead(claim, LOG_ID) };
      });
      rehash(db, LOG_HEAD_STREAM);
    });

  it('is as the log says, unless somebody knows it', async () => {
    expect((await log.verify()).keys).toMatchObject([{ publicKey: KEY.publicKey, vouchedBy: 'log' }]);
    const kept = await log.verify({ trusted: trusted({ kept: [KEY.publicKey] }) });
    expect(kept).toMatchObject({ own: [], keys: [{ vouchedBy: 'kept' }] });
    const derived = new Map([[1, { publicKey: KEY.publicKey, fingerprint }]]);
    const verified = await log.verify({ trusted: trusted({ derived }) });
    expect(verified).toMatchObject({ own: [], keys: [{ vouchedBy: 'derived' }] });
  });

  it('that was exchanged is found by one that was kept, and by the master key', async () => {
    exchangeKey();
    expect(await log.verify()).toMatchObject({ own: [], keys: [{ vouchedBy: 'log' }] });
    const found = [`head_key_kept ${LOG_HEAD_STREAM} 0`];
    expect((await log.verify({ trusted: trusted({ kept: [KEY.publicKey] }) })).own).toEqual(found);
    const derived = new Map([[1, { publicKey: KEY.publicKey, fingerprint }]]);
    expect((await log.verify({ trusted: trusted({ derived }) })).own).toEqual(found);
  });

  it('is not compared with a master key that is another than that of the log', async () => {
    const derived = new Map([[1, { publicKey: OTHER.publicKey, fingerprint: 'cd'.repeat(16) }]]);
    expect(await log.verify({ trusted: trusted({ derived }) })).toMatchObject({
      own: [],
      keys: [{ vouchedBy: 'log', masterKeyDiffers: true }],
    });
  });

  it('is compared again by a later run from a checkpoint', async () => {
    const checkpoint = join(log.directory, 'audited.sqlite');
    await log.verify({ checkpoint });
    const verified = await log.verify({ checkpoint, trusted: trusted({ kept: [OTHER.publicKey] }) });
    expect([verified.read, verified.own]).toEqual([0, [`head_key_kept ${LOG_HEAD_STREAM} 0`]]);
  });
});

describe('heads that come long after what they cover', () => {
  /** Compares claims of the first events as if they had come too late. */
  async function found(claims: readonly { readonly size: number; readonly root: string; readonly damage?: string }[]) {
    const scratch = new Scratch(openScratch());
    const raw = new SqliteRawEvents(join(log.directory, 'log.sqlite'));
    const late = new LateHeads(scratch);
    const breaches: (readonly [number | null, string | null])[] = [];
    for (const [index, { damage = null, ...claim }] of claims.entries()) {
      late.add({ ...claim, damage, revision: index, position: String(index) });
    }
    const upTo = await raw.head();
    await late.check(raw, upTo ?? '', ({ revision }, follows) => breaches.push([revision, follows]));
    await late.check(raw, upTo ?? '', () => expect.unreachable('compared twice'));
    await raw.close();
    scratch.close();
    return breaches;
  }

  it('are compared with the events of the log at the end', async () => {
    const first = await log.head();
    await log.docket(2);
    const second = await log.head();
    expect(await found([second, first])).toEqual([]);
    expect(await found([second, { ...first, root: second.root }])).toEqual([[1, null]]);
    expect(await found([{ ...first, root: second.root, damage: 'a broken event' }])).toEqual([[0, 'a broken event']]);
  });

  it('are postponed once their tree is no longer in memory, and each is judged', async () => {
    const COUNT = 110_000;
    const events = Array.from({ length: COUNT }, (_, revision) => ({
      stream: NOTED,
      revision,
      position: String(revision).padStart(20, '0'),
      id: '',
      type: '',
      data: '{}',
      metadata: `{"hash":"${revision.toString(16).padStart(64, '0')}"}`,
    }));
    const scratch = new Scratch(openScratch());
    const heads = new Heads(scratch, null, null);
    const breaches: string[] = [];
    const findings = { breach: (rule: string) => breaches.push(rule) };
    heads.founded(LOG_ID);
    heads.introduceKey({ masterVersion: 1, publicKey: KEY.publicKey }, { revision: 0, position: '' }, findings);
    const tree = new LogTree();
    const claims = new Map<
      number,
      { readonly size: number; readonly root: string; readonly peaks: readonly string[] }
    >();
    for (const { stream, revision, metadata } of events) {
      const { hash } = JSON.parse(metadata);
      heads.add(hash, { stream, revision });
      tree.add(leafOf({ stream, revision, hash }));
      if (![10_000, 20_000, COUNT].includes(tree.size)) continue;
      const peaks = tree.peaks.map((peak) => peak.toString('hex'));
      claims.set(tree.size, { size: tree.size, root: tree.root().toString('hex'), peaks });
    }
    expect(heads.uncovered).toEqual({ stream: NOTED, revision: 0 });
    // The second of them is one that was never true of this log.
    const forged = { ...claims.get(20_000)!, root: 'ab'.repeat(32) };
    for (const [index, claim] of [claims.get(10_000)!, forged, claims.get(COUNT)!].entries()) {
      const last = { stream: NOTED, revision: claim.size - 1 };
      const head = { ...claim, peaks: [...claim.peaks], last, masterVersion: 1 };
      const signed = { ...head, signature: KEY.signHead(claim, LOG_ID) };
      heads.check(signed, { revision: index + 1, position: String(index) }, findings);
    }
    expect([breaches, heads.proven?.size, heads.uncovered]).toEqual([[], COUNT, null]);
    const log = {
      async *read() {
        yield { after: null, upTo: '', events };
      },
    };
    const late: (number | null)[] = [];
    await heads.late.check(log, '', ({ revision }) => late.push(revision));
    expect(late).toEqual([2]);
    scratch.close();
  });

  it('find an event that was changed before them', async () => {
    const head = await log.head();
    log.tamper((db) => {
      edit(db, docketNumber(1), 3, (data) => ({ ...data, filingCount: 7 }));
      rehash(db, docketNumber(1));
    });
    expect(await found([head])).toEqual([[0, null]]);
  });
});
