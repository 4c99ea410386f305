/**
 * What `docket audit verify` finds in a log: given a log with signed heads, when somebody changes its file, then exactly
 * that change is reported, by rule, stream and revision.
 */
import { chmodSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JudgedEvent, StreamRules } from '../../../src/audit/judging.ts';
import { ContentRedacted, contentStream } from '../../../src/events/content.ts';
import { DeliveryScheduled, deliveryStream } from '../../../src/events/delivery.ts';
import type { Json, JsonObject } from '../../../src/events/event.ts';
import { FORGET_STREAM, ForgetCompleted, ForgetOrdered } from '../../../src/events/forget.ts';
import { LOG_HEAD_STREAM, LogHeadAnchored } from '../../../src/events/log-head.ts';
import { EventSkipped, operatorStream } from '../../../src/events/operator.ts';
import { toMicros } from '../../../src/runtime/instant.ts';
import { eventId } from '../../../src/storage/event-id.ts';
import type { Database } from '../../../src/storage/sqlite/driver.ts';
import {
  acknowledged,
  facts,
  finished,
  minutes,
  scheduled,
  seconds,
  started,
} from '../../commands/delivery/delivery.fixtures.ts';
import { answered, authorized, failedOnChain, submitted } from '../../commands/payment/payment.fixtures.ts';
import { NOON } from '../../storage/samples.ts';
import { docketNumber, edit, openSampleLog, rehash, renumber, rowsOf, type SampleLog } from './sample-log.ts';

const ONE = docketNumber(1);
const TWO = docketNumber(2);
const ANOTHER = '6f9d2c1e-5a34-4b8e-9c3d-2f1a7b6c5d4f';
const NOTED = operatorStream('projection-cases');

let log: SampleLog;
beforeEach(async () => {
  log = await openSampleLog();
  await log.docket(1);
  await log.head();
  await log.docket(2);
  await log.write(NOTED, EventSkipped.of({ projection: 'cases', position: '1', reason: 'a test', by: 'Ann' }));
  await log.head();
});
afterEach(() => log.remove());

describe('an unchanged log', () => {
  it('has no breach, and is proven up to its newest head', async () => {
    const verified = await log.verify();
    expect(verified.all).toEqual([]);
    expect(verified).toMatchObject({
      events: 14,
      streams: 6,
      heads: 2,
      proven: { size: 13, last: { stream: NOTED, revision: 0 } },
      payloads: { named: 4, intact: 4 },
    });
  });

  it('may be empty', async () => {
    log.tamper((database) => database.exec('DELETE FROM events'));
    expect(await log.verify()).toMatchObject({ events: 0, streams: 0, all: [], proven: null });
  });
});

type Plant = readonly [what: string, plant: (database: Database) => void, found: string];

const set = (column: string, value: string | number, stream: string, revision: number) => (database: Database) => {
  database.prepare(`UPDATE events SET ${column} = ? WHERE stream = ? AND revision = ?`).run(value, stream, revision);
};
const metadataOf = (database: Database, stream: string, revision: number) =>
  JSON.parse(rowsOf(database).find((row) => row.stream === stream && row.revision === revision)?.metadata ?? '{}');
const remove = (database: Database, stream: string, revision: number) =>
  database.prepare('DELETE FROM events WHERE stream = ? AND revision = ?').run(stream, revision);

/** Copies the last event of a stream as its next one. */
const copyTo = (database: Database, stream: string, position: number): void => {
  database
    .prepare(
      `INSERT INTO events (position, type, stream, revision, id, metadata, data)
       SELECT CAST(? AS INTEGER), type, stream, revision + 1, id, metadata, data FROM events
       WHERE stream = ? ORDER BY revision DESC LIMIT 1`,
    )
    .run(position, stream);
};
/** A table that takes values of every kind in its columns. */
const LOOSE = `
  CREATE TABLE other (position INTEGER PRIMARY KEY, type, stream, revision, id, metadata, data);
  INSERT INTO other SELECT * FROM events;
  DROP TABLE events;
  ALTER TABLE other RENAME TO events;
  CREATE UNIQUE INDEX events_by_stream ON events (stream, revision);`;

const CRUDE: readonly Plant[] = [
  ['a changed field', (db) => edit(db, ONE, 0, (data) => ({ ...data, court: 'cacd' })), `hash_matches ${ONE} 0`],
  [
    'a changed field in the middle',
    (db) => edit(db, ONE, 2, (data) => ({ ...data, baseline: false })),
    `hash_matches ${ONE} 2`,
  ],
  ['data that is not JSON', set('data', '{"a":', TWO, 1), `event_readable ${TWO} 1`],
  ['data that is no object', set('data', '[1]', TWO, 1), `event_readable ${TWO} 1`],
  [
    'a name given twice',
    (db) =>
      db
        .prepare(`UPDATE events SET data = '{"court":"x",' || substr(data, 2) WHERE stream = ? AND revision = 0`)
        .run(ONE),
    `event_readable ${ONE} 0`,
  ],
  ['metadata that is not JSON', set('metadata', 'nothing', TWO, 1), `event_readable ${TWO} 1`],
  [
    'metadata with more than its hash covers',
    (db) => set('metadata', JSON.stringify({ ...metadataOf(db, TWO, 1), note: 'x' }), TWO, 1)(db),
    `event_readable ${TWO} 1`,
  ],
  [
    'another recording time',
    (db) =>
      set(
        'metadata',
        JSON.stringify({ ...metadataOf(db, TWO, 1), recordedAt: '2026-03-02T12:00:00.000000Z' }),
        TWO,
        1,
      )(db),
    `hash_matches ${TWO} 1`,
  ],
  [
    'another stored hash',
    (db) => set('metadata', JSON.stringify({ ...metadataOf(db, TWO, 1), hash: 'a'.repeat(64) }), TWO, 1)(db),
    `hash_matches ${TWO} 1`,
  ],
  ['another id', set('id', '5e0c1f3a-90c5-5a58-9d4e-0c1d2e3f4a5b', ONE, 1), `hash_matches ${ONE} 1`],
  ['another type', set('type', 'BaselineCompleted', ONE, 1), `hash_matches ${ONE} 1`],
  ['a removed event', (db) => remove(db, ONE, 1), `revisions_contiguous ${ONE} 2`],
  ['two removed events', (db) => [1, 2].map((revision) => remove(db, ONE, revision)), `revisions_contiguous ${ONE} 3`],
  ['the end of a stream removed', (db) => remove(db, ONE, 3), `positions_contiguous ${LOG_HEAD_STREAM} 0`],
  [
    'a changed head',
    (db) => edit(db, LOG_HEAD_STREAM, 1, (data) => ({ ...data, size: 5 })),
    `hash_matches ${LOG_HEAD_STREAM} 1`,
  ],
];

const INSIDER: readonly Plant[] = [
  [
    'an event of no known type',
    (db) => {
      set('type', 'PaymentForgiven', NOTED, 0)(db);
      rehash(db, NOTED);
    },
    `type_known ${NOTED} 0`,
  ],
  [
    'data that does not fit',
    (db) => {
      edit(db, NOTED, 0, ({ reason: _, ...data }) => data);
      rehash(db, NOTED);
    },
    `schema_fits ${NOTED} 0`,
  ],
  [
    'a schema that no version of the service has had',
    (db) => {
      set('metadata', JSON.stringify({ ...metadataOf(db, NOTED, 0), schemaVersion: 10 }), NOTED, 0)(db);
      rehash(db, NOTED);
    },
    `schema_fits ${NOTED} 0`,
  ],
  [
    'an event in a stream of another family',
    (db) => {
      db.prepare('UPDATE events SET stream = ? WHERE stream = ?').run('docket-x', NOTED);
      rehash(db, 'docket-x');
    },
    'event_in_its_stream docket-x 0',
  ],
  [
    'an id that no command gives',
    (db) => {
      set('id', '5e0c1f3a-90c5-5a58-9d4e-0c1d2e3f4a5b', TWO, 3)(db);
      rehash(db, TWO);
    },
    `event_id_recomputable ${TWO} 3`,
  ],
  [
    'a time that does not exist',
    (db) => {
      edit(db, TWO, 2, (data) => {
        const [filing] = data.filings as readonly JsonObject[];
        return { ...data, filings: [{ ...filing, availableAt: '2026-99-99T12:00:00.000000Z' }] };
      });
      rehash(db, TWO);
    },
    `schema_fits ${TWO} 2`,
  ],
  [
    'a rewritten stream',
    (db) => {
      edit(db, TWO, 3, (data) => ({ ...data, filingCount: 2 }));
      rehash(db, TWO);
    },
    `head_root_matches ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'a head without the key',
    (db) => {
      edit(db, LOG_HEAD_STREAM, 2, (data) => ({ ...data, root: 'b'.repeat(64) }));
      rehash(db, LOG_HEAD_STREAM);
    },
    `head_signature_valid ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'a head by an unknown key',
    (db) => {
      edit(db, LOG_HEAD_STREAM, 2, (data) => ({ ...data, masterVersion: 2 }));
      rehash(db, LOG_HEAD_STREAM);
    },
    `master_key_introduced ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'a head that names another last event',
    (db) => {
      edit(db, LOG_HEAD_STREAM, 2, (data) => ({ ...data, last: { stream: TWO, revision: 3 } }));
      rehash(db, LOG_HEAD_STREAM);
    },
    `head_covers_last ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'a head with other peaks',
    (db) => {
      edit(db, LOG_HEAD_STREAM, 2, (data) => ({ ...data, peaks: ['c'.repeat(64)] }));
      rehash(db, LOG_HEAD_STREAM);
    },
    `head_peaks_match ${LOG_HEAD_STREAM} 2`,
  ],
];

const WHOLE_LOG: readonly Plant[] = [
  [
    'an event hidden before the first position',
    (db) => {
      db.prepare(
        `INSERT INTO events (position, type, stream, revision, id, metadata, data)
         SELECT -3, type, 'docket-cand-hidden', 0, ?, metadata, data FROM events WHERE stream = ? AND revision = 0`,
      ).run(eventId(metadataOf(db, ONE, 0).commandId, 'docket-cand-hidden', -1, 0), ONE);
      rehash(db, 'docket-cand-hidden');
    },
    'positions_contiguous docket-cand-hidden 0',
  ],
  ['the next event of a stream hidden at position 0', (db) => copyTo(db, ONE, 0), `positions_contiguous ${ONE} 4`],
  [
    'the next event of a stream hidden after the last number',
    (db) => copyTo(db, ONE, 2 ** 60),
    `positions_contiguous ${ONE} 4`,
  ],
  [
    'the last event of a stream moved to position 0',
    (db) => set('position', 0, ONE, 3)(db),
    `positions_contiguous ${ONE} 3`,
  ],
  [
    'the newest event moved far away',
    (db) => set('position', 2 ** 50, LOG_HEAD_STREAM, 2)(db),
    `positions_contiguous ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'the newest stream removed',
    (db) => {
      remove(db, NOTED, 0);
      renumber(db);
    },
    `head_root_matches ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'a stream removed',
    (db) => {
      db.prepare('DELETE FROM events WHERE stream = ?').run(ONE);
      renumber(db);
    },
    `head_root_matches ${LOG_HEAD_STREAM} 1`,
  ],
  [
    'two streams exchanged',
    (db) => {
      const exchange = db.prepare('UPDATE events SET position = ? WHERE position = ?');
      for (const [from, to] of [
        [12, 100],
        [13, 12],
        [100, 13],
      ] as const)
        exchange.run(to, from);
    },
    `head_root_matches ${LOG_HEAD_STREAM} 2`,
  ],
  [
    'events of a stream exchanged',
    (db) => {
      const exchange = db.prepare('UPDATE events SET position = ? WHERE position = ?');
      for (const [from, to] of [
        [10, 100],
        [11, 10],
        [100, 11],
      ] as const)
        exchange.run(to, from);
    },
    `revisions_contiguous ${TWO} 2`,
  ],
];

describe.each([
  ['without repairing hashes', CRUDE],
  ['by an insider who repairs hashes', INSIDER],
  ['to the order of the whole log', WHOLE_LOG],
])('a change %s', (_class, plants) => {
  it.each(plants)('%s is one breach', async (_what, plant, found) => {
    log.tamper(plant);
    const verified = await log.verify();
    expect(verified.own, JSON.stringify(verified.all, null, 1)).toEqual([found]);
  });
});

describe('stored content', () => {
  const details = (db: Database): string =>
    JSON.parse(rowsOf(db).find(({ type }) => type === 'DocketDetailsChanged')!.data).content;

  it.each([
    [
      'changed bytes',
      (db: Database, name: string) => db.prepare("UPDATE payloads SET bytes = x'00' WHERE name = ?").run(name),
      `payload_intact ${ONE} 1`,
    ],
    [
      'removed bytes',
      (db: Database, name: string) => db.prepare('DELETE FROM payloads WHERE name = ?').run(name),
      `payload_stored ${ONE} 1`,
    ],
    [
      'other content in its place',
      (db: Database, name: string) =>
        db
          .prepare(
            `UPDATE payloads SET bytes = NULL, replacement = (SELECT name FROM payloads WHERE bytes IS NOT NULL AND name <> :name LIMIT 1)
             WHERE name = :name`,
          )
          .run({ name }),
      `redaction_recorded ${ONE} 1`,
    ],
  ])('with %s is one breach, and none if content is not compared', async (_what, plant, found) => {
    log.tamper((db) => plant(db, details(db)));
    expect((await log.verify()).own).toEqual([found]);
    expect((await log.verify({ content: false })).own).toEqual([]);
  });

  it('may be replaced by record, once or again, or removed by record', async () => {
    const { stream, details: name, filings } = await log.docket(3);
    const redact = (of: string, replacement: string | null) =>
      ContentRedacted.of({
        name: of,
        replacement,
        stream,
        revision: of === name ? 1 : 2,
        filingIds: [],
        reason: 'a court order',
        by: 'Ann',
      });
    const [first, second] = [await log.putContent('masked'), await log.putContent('masked again')];
    await log.write(contentStream(name), redact(name, first));
    await log.removeContent(name, first);
    await log.write(contentStream(name), redact(name, second));
    await log.removeContent(first, second);
    await log.write(contentStream(filings), redact(filings, null));
    await log.removeContent(filings);
    const verified = await log.verify();
    expect(verified.all).toEqual([]);
    expect(verified.payloads).toEqual({ named: 8, intact: 5, replaced: 2, removed: 1, expired: 0 });
  });

  it('of a failed payment may be missing without a record only if an earlier version recorded the failure', async () => {
    const stream = `payment-${'c'.repeat(64)}`;
    await log.write(stream, authorized, answered, submitted, failedOnChain);
    const ports = { clock: { now: () => toMicros(NOON) } };
    expect((await log.verify({ ports })).own).toContain(`payload_stored ${stream} 1`);
    log.tamper((db) => {
      const { commandId: _, ...metadata } = metadataOf(db, stream, 3);
      set('metadata', JSON.stringify(metadata), stream, 3)(db);
      rehash(db, stream);
    });
    const verified = await log.verify({ ports });
    expect(verified.all.filter(({ rule }) => rule === 'payload_stored')).toEqual([]);
    expect(verified.payloads).toMatchObject({ removed: 1, expired: 0 });
  });

  it('may be missing once its callback was acknowledged a week ago, and no sooner; the URL may not', async () => {
    const [stream, failing] = [deliveryStream(facts.deliveryId), deliveryStream(ANOTHER)];
    const at = toMicros(facts.createdAt);
    await log.write(stream, scheduled, started(1, at), acknowledged(1, at));
    await log.write(
      failing,
      DeliveryScheduled.of({ ...facts, deliveryId: ANOTHER, envelope: 'e'.repeat(64) }),
      started(1, at),
      finished(1, at, null),
    );
    const after = (days: number) => ({ ports: { clock: { now: () => at + minutes(days * 24 * 60) + seconds(3) } } });
    const missing = async (days: number) =>
      (await log.verify(after(days))).own.filter((found) => found.startsWith('payload_stored'));
    const others = [`payload_stored ${stream} 0`, `payload_stored ${failing} 0`, `payload_stored ${failing} 0`];
    expect((await missing(6.9)).sort()).toEqual([`payload_stored ${stream} 0`, ...others].sort());
    expect((await missing(7)).sort()).toEqual(others.sort());
    expect(await missing(41)).toEqual([]);
  });

  it('that a completed order to forget removed must not be there', async () => {
    const { stream, filings } = await log.docket(3);
    const forgetId = 'a1b2c3d4-1111-4222-8333-444455556666';
    const act = { by: 'Ann', reason: 'a court order' };
    const forget = { forgetId, kind: 'docket' as const };
    const subject = { kind: 'docket' as const, docket: stream };
    const redacted = { name: filings, replacement: null, stream, revision: 2, filingIds: [], ...act, forget };
    await log.write(FORGET_STREAM, ForgetOrdered.of({ forgetId, subject, ...act }));
    await log.write(contentStream(filings), ContentRedacted.of(redacted));
    // A process was killed in between.
    expect((await log.verify()).own).toEqual([]);
    await log.write(
      FORGET_STREAM,
      ForgetCompleted.of({ forgetId, removed: { docket: 1, answer: 0, target: 0, envelope: 0 } }),
    );
    expect((await log.verify()).own).toEqual([`forgotten_not_stored ${contentStream(filings)} 0`]);
    await log.removeContent(filings);
    expect((await log.verify()).own).toEqual([]);
  });

  it('of a replacement must be there too', async () => {
    const { stream, details: name } = await log.docket(3);
    const replacement = 'd'.repeat(64);
    const reason = 'a court order';
    await log.write(
      contentStream(name),
      ContentRedacted.of({ name, replacement, stream, revision: 1, filingIds: [], reason, by: 'Ann' }),
    );
    await log.removeContent(name);
    expect((await log.verify()).own).toEqual([`payload_stored ${contentStream(name)} 0`]);
  });
});

describe('a head that somebody kept', () => {
  it('proves that the log begins with its events', async () => {
    const kept = await log.head();
    await log.docket(3);
    expect(await log.verify({ kept })).toMatchObject({ own: [], keptHolds: true });
  });

  it('finds a tail that was cut together with its last heads', async () => {
    const kept = await log.head();
    log.tamper((db) => db.exec('DELETE FROM events WHERE position > 8'));
    expect((await log.verify()).own).toEqual([]);
    expect(await log.verify({ kept })).toMatchObject({ own: ['head_kept_matches log-head null'], keptHolds: false });
  });
});

describe('an anchor', () => {
  const TRANSACTION = bs58.encode(Buffer.alloc(64, 7));
  const anchor = (head: { readonly size: number; readonly root: string }) =>
    LogHeadAnchored.of({ ...head, transaction: TRANSACTION, slot: 1, blockTime: null, fee: 5000, by: 'service' });

  it('of a recorded head holds', async () => {
    const { size, root } = await log.head();
    await log.write(LOG_HEAD_STREAM, anchor({ size, root }));
    expect(await log.verify()).toMatchObject({ own: [], anchored: { size, root, transaction: TRANSACTION } });
  });

  it('whose transaction is no signature is a breach, also without the chain', async () => {
    const { size, root } = await log.head();
    const { data } = anchor({ size, root });
    await log.write(LOG_HEAD_STREAM, LogHeadAnchored.of({ ...data, transaction: 'NOTATRANSACTION' }));
    expect(await log.verify()).toMatchObject({ own: [`anchor_on_chain ${LOG_HEAD_STREAM} 4`], anchored: null });
  });

  it('of a head that was never recorded is a breach', async () => {
    await log.write(LOG_HEAD_STREAM, anchor({ size: 3, root: 'e'.repeat(64) }));
    expect(await log.verify()).toMatchObject({ own: [`anchor_names_head ${LOG_HEAD_STREAM} 3`], anchored: null });
  });

  it('is compared with the chain on request', async () => {
    const { size, root } = await log.head();
    await log.write(LOG_HEAD_STREAM, anchor({ size, root }));
    const checkAnchor = async () => ({ holds: false, expected: 'a final transaction', found: 'none' }) as const;
    expect((await log.verify({ ports: { checkAnchor } })).own).toEqual([`anchor_on_chain ${LOG_HEAD_STREAM} 4`]);
    const noLongerKept = async () => ({ holds: null });
    expect(await log.verify({ ports: { checkAnchor: noLongerKept } })).toMatchObject({
      own: [],
      unprovable: [{ rule: 'anchor_on_chain', count: 1 }],
    });
  });
});

describe('a rule that meets what it cannot work with', () => {
  it('is a breach at that event, and the rest is judged', async () => {
    const rule = {
      covers: (stream: string) => stream === ONE,
      judge: (_state: unknown, { type, data }: JudgedEvent) => {
        if (type === 'BaselineCompleted') throw new RangeError('Invalid time value');
        return data;
      },
    };
    const rules = { streams: [rule as unknown as StreamRules<Json>], facts: [], log: [] };
    expect(await log.verify({ ports: { rules } })).toMatchObject({ events: 14, own: [`event_readable ${ONE} 3`] });
  });
});

describe('a value of another kind', () => {
  it.each([
    ['a revision that is no whole number', 'revision = 3.5', `event_readable ${ONE} -1`],
    ['a revision that is a text', "revision = 'x'", `event_readable ${ONE} -1`],
    ['content as bytes', 'data = CAST(data AS BLOB)', `event_readable ${ONE} 3`],
    ['no metadata', 'metadata = NULL', `event_readable ${ONE} 3`],
    ['a stream as bytes', 'stream = CAST(stream AS BLOB)', 'event_readable unreadable 3'],
  ])('such as %s is a breach at that event', async (_what, change, found) => {
    log.tamper((db) => {
      db.exec(LOOSE);
      db.prepare(`UPDATE events SET ${change} WHERE stream = ? AND revision = 3`).run(ONE);
    });
    const verified = await log.verify();
    expect(verified.events).toBe(14);
    expect(verified.own).toContain(found);
  });
});

describe('a copy that may only be read', () => {
  it('is left as it is, by its permissions too', async () => {
    const file = join(log.directory, 'log.sqlite');
    chmodSync(file, 0o640);
    log.tamper((db) => db.exec('DROP TABLE cells'));
    expect((await log.verify()).all).toEqual([]);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it.skipIf(process.getuid?.() === 0)('needs no right to write, except where SQLite keeps its files', async () => {
    const file = join(log.directory, 'log.sqlite');
    chmodSync(file, 0o400);
    expect((await log.verify()).all).toEqual([]);
    for (const beside of ['-wal', '-shm']) rmSync(file + beside, { force: true });
    chmodSync(log.directory, 0o500);
    try {
      await expect(log.verify()).rejects.toMatchObject({ hint: expect.stringContaining('copy log.sqlite') });
    } finally {
      chmodSync(log.directory, 0o700);
    }
  });

  it('without stored content is refused, unless content is not compared', async () => {
    log.tamper((db) => db.exec('DROP TABLE payloads'));
    await expect(log.verify()).rejects.toThrow(/no such table: payloads/);
    expect((await log.verify({ content: false })).all).toEqual([]);
  });
});

describe('a file that is no log of ours any more', () => {
  it.each([
    [
      'another kind of table',
      'CREATE TABLE other AS SELECT * FROM events; DROP TABLE events; ALTER TABLE other RENAME TO events',
    ],
    ['a view', 'ALTER TABLE events RENAME TO other; CREATE VIEW events AS SELECT * FROM other'],
    ['no table', 'DROP TABLE events'],
  ])('because events is %s is refused', async (_what, sql) => {
    log.tamper((db) => db.exec(sql));
    await expect(log.verify({ content: false })).rejects.toThrow(/table of events is not as this service creates it/);
  });
});
