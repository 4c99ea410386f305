/**
 * Given a log of the service with something of everything, and a signed head over it,
 * when somebody edits its file, an insider rewrites it with every hash, or its order or its end is changed,
 * then `docket audit verify` finds exactly that one breach, by rule, stream and revision, and ends with code 1.
 */
import { hash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuleName } from '../../src/audit/rules/catalogue.ts';
import { LOG_HEAD_STREAM } from '../../src/events/log-head.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { eventId } from '../../src/storage/event-id.ts';
import type { RecordedEvent } from '../../src/storage/event-log.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { type BaseLog, recordBaseLog } from './base-log.ts';
import { BREACHES_OF_DOCKETS } from './breaches-of-dockets.ts';
import { BREACHES_OF_PAYMENTS } from './breaches-of-payments.ts';
import { BREACHES_OF_PROMISES } from './breaches-of-promises.ts';
import { BREACHES_OF_SOURCES } from './breaches-of-sources.ts';
import { LogCopy } from './log-copy.ts';
import { allOf } from './rules/judge.ts';

let root: string;
let base: BaseLog;
let recorded: readonly RecordedEvent[];
let copies = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'breaches-'));
  base = await recordBaseLog(join(root, 'base'));
  const { log, close } = openSqlite({ directory: join(root, 'base'), clock: systemClock });
  recorded = await allOf(log);
  await close();
}, 60_000);
afterAll(() => rm(root, { recursive: true, force: true }));

interface Found {
  readonly rule: string;
  readonly stream: string;
  readonly revision: number | null;
}

/** What an auditor finds in a copy that was changed. */
async function found(change: (database: Database) => void, ...options: readonly string[]) {
  const directory = join(root, `copy-${copies++}`);
  await mkdir(directory);
  await copyFile(join(root, 'base', 'log.sqlite'), join(directory, 'log.sqlite'));
  const database = new Database(join(directory, 'log.sqlite'));
  change(database);
  database.close();
  const run = await docketInProcess(['audit', 'verify', '--json', ...options], { DATA_DIR: directory });
  await rm(directory, { recursive: true });
  const lines = run.out.split('\n').filter(Boolean);
  const breaches = lines.map((line) => JSON.parse(line)).filter((line): line is Found => 'rule' in line);
  return {
    code: run.code,
    err: run.err,
    breaches: breaches.map(({ rule, stream, revision }) => ({ rule, stream, revision })),
  };
}

/** Writes other events in the place of those that the log has. */
function rewrite(database: Database, events: readonly RecordedEvent[]): void {
  database.exec('DELETE FROM events');
  const insert = database.prepare(
    'INSERT INTO events (position, type, stream, revision, id, metadata, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const [index, { type, stream, revision, id, metadata, data }] of events.entries()) {
    insert.run(index + 1, type, stream, revision, id, JSON.stringify(metadata), JSON.stringify(data));
  }
}

const one = (rule: RuleName, stream: string, revision: number | null) => ({
  code: 1,
  breaches: [{ rule, stream, revision }],
});

describe('the log of a healthy service', () => {
  it('has no breach', async () => {
    expect(await found(() => undefined, '--signatures')).toMatchObject({ code: 0, breaches: [] });
  });
});

/** Changes one column of the nth event of a type in a stream, and nothing else. */
const edited =
  (stream: keyof BaseLog, type: string, column: 'data' | 'metadata', member: string, value: unknown, nth = 0) =>
  (database: Database): { readonly stream: string; readonly revision: number } => {
    const event = new LogCopy(recorded).at(base[stream], type, nth);
    const changed = { ...event[column], [member]: value };
    database
      .prepare(`UPDATE events SET ${column} = ? WHERE stream = ? AND revision = ?`)
      .run(JSON.stringify(changed), event.stream, event.revision);
    return event;
  };

type Edit = readonly [name: string, rule: RuleName, edit: ReturnType<typeof edited>];

const LATER = '2027-01-01T00:00:00.000000Z';
const EDITS: readonly Edit[] = [
  ['a lower amount', 'hash_matches', edited('plain', 'PaymentAuthorized', 'data', 'amount', '1')],
  ['a lower charge', 'hash_matches', edited('plain', 'PaymentSettled', 'data', 'amount', '1')],
  ['another wallet', 'hash_matches', edited('plain', 'PaymentSettled', 'data', 'wallet', 'A'.repeat(43))],
  ['another answer', 'hash_matches', edited('plain', 'QueryAnswered', 'data', 'answer', 'a'.repeat(64))],
  ['fewer answered cases', 'hash_matches', edited('batch', 'QueryAnswered', 'data', 'answeredCases', 1)],
  [
    'another reason of a failure',
    'hash_matches',
    edited('expired', 'PaymentFailed', 'data', 'reason', 'on_chain_error'),
  ],
  [
    'another origin of a callback',
    'hash_matches',
    edited('delivered', 'DeliveryScheduled', 'data', 'origin', 'unusable'),
  ],
  ['another response', 'hash_matches', edited('givenUp', 'DeliveryAttemptFinished', 'data', 'responseCode', 200, 3)],
  ['another due time', 'hash_matches', edited('givenUp', 'DeliveryAttemptFinished', 'data', 'nextAttemptAt', LATER, 3)],
  [
    'a longer life of a key',
    'hash_matches',
    edited('wallet', 'SigningKeyRotated', 'data', 'previousValidUntil', LATER),
  ],
  ['another time of a docket', 'hash_matches', edited('docket', 'FilingRevised', 'data', 'revisedAt', LATER)],
  ['another reason of a removal', 'hash_matches', edited('content', 'ContentRedacted', 'data', 'reason', 'none')],
  ['another recording time', 'hash_matches', edited('plain', 'PaymentSettled', 'metadata', 'recordedAt', LATER)],
  ['another actor', 'hash_matches', edited('plain', 'PaymentSettled', 'metadata', 'actor', 'nobody')],
  ['another request', 'hash_matches', edited('plain', 'PaymentAuthorized', 'metadata', 'requestId', null)],
  ['another hash', 'hash_matches', edited('plain', 'PaymentFinalized', 'metadata', 'hash', 'a'.repeat(64))],
  [
    'a charge that is removed',
    'revisions_contiguous',
    (database) => {
      const { stream, revision } = new LogCopy(recorded).at(base.plain, 'PaymentSettled');
      database.prepare('DELETE FROM events WHERE stream = ? AND revision = ?').run(stream, revision);
      return { stream, revision: revision + 1 };
    },
  ],
  [
    'an end of a payment that is moved before the log',
    'positions_contiguous',
    (database) => {
      const event = new LogCopy(recorded).at(base.plain, 'PaymentFinalized');
      database
        .prepare('UPDATE events SET position = 0 WHERE stream = ? AND revision = ?')
        .run(event.stream, event.revision);
      return event;
    },
  ],
  [
    'an event that is added before the log',
    'positions_contiguous',
    (database) => {
      const { stream, revision } = new LogCopy(recorded).at(base.plain, 'PaymentFinalized');
      database
        .prepare(
          `INSERT INTO events (position, type, stream, revision, id, metadata, data)
           SELECT -7, type, stream, revision + 1, id, metadata, data FROM events WHERE stream = ? AND revision = ?`,
        )
        .run(stream, revision);
      return { stream, revision: revision + 1 };
    },
  ],
  [
    'an event that is moved far away',
    'positions_contiguous',
    (database) => {
      const last = recorded.at(-1);
      if (!last) throw new Error('an empty log');
      database
        .prepare('UPDATE events SET position = ? WHERE position = (SELECT max(position) FROM events)')
        .run(2 ** 50);
      return last;
    },
  ],
  [
    'content that is changed',
    'payload_intact',
    (database) => {
      const details = new LogCopy(recorded).at(base.docket, 'DocketDetailsChanged');
      database.prepare('UPDATE payloads SET bytes = ? WHERE name = ?').run(Buffer.alloc(40), `${details.data.content}`);
      return details;
    },
  ],
  [
    'content that is removed',
    'payload_stored',
    (database) => {
      const details = new LogCopy(recorded).at(base.docket, 'DocketDetailsChanged');
      database.prepare('DELETE FROM payloads WHERE name = ?').run(`${details.data.content}`);
      return details;
    },
  ],
];

describe('an edit of the file', () => {
  it.each(EDITS)('%s is one breach', async (_name, rule, edit) => {
    let place = { stream: '', revision: 0 };
    const result = await found((database) => {
      place = edit(database);
    });
    expect(result, result.err).toMatchObject(one(rule, place.stream, place.revision));
  });
});

const PLANTED = [...BREACHES_OF_PAYMENTS, ...BREACHES_OF_PROMISES, ...BREACHES_OF_DOCKETS, ...BREACHES_OF_SOURCES];

describe('a callback that pushes other bytes than were answered', () => {
  it('is one breach, though the log names those bytes', async () => {
    const bytes = Buffer.concat([randomBytes(16), Buffer.of(0), Buffer.from('{"payload":{}}')]);
    const name = hash('sha256', bytes);
    const copy = new LogCopy(recorded.filter(({ stream }) => stream !== LOG_HEAD_STREAM));
    const scheduled = copy.set(copy.at(base.delivered, 'DeliveryScheduled'), { envelope: name });
    const result = await found((database) => {
      const store = database.prepare('INSERT INTO payloads (name, kind, stored_at, bytes) VALUES (?, ?, ?, ?)');
      store.run(name, 'envelope', scheduled.metadata.recordedAt, bytes);
      rewrite(database, copy.sealed());
    });
    expect(result, result.err).toMatchObject(one('pushed_as_answered', scheduled.stream, scheduled.revision));
  });
});

describe('a log that an insider rewrote before its first head', () => {
  it.each(PLANTED.map((planted) => [planted.name, planted] as const))(
    '%s is one breach',
    async (_name, { rule, plant, unsigned }) => {
      const copy = new LogCopy(recorded.filter(({ stream }) => stream !== LOG_HEAD_STREAM));
      const place = plant(copy, base);
      // Content is not compared: some of these events name content that never was.
      const options = ['--no-payloads', ...(unsigned ? [] : ['--signatures'])];
      const result = await found((database) => rewrite(database, copy.sealed()), ...options);
      const [stream, revision] = typeof place === 'string' ? [place, null] : [place.stream, place.revision];
      expect(result, result.err).toMatchObject(one(rule, stream, revision));
    },
  );
});

/** An event repeated at the end of the log, with an id and a hash that fit. */
function repeated({ stream, type, data, metadata }: RecordedEvent): RecordedEvent {
  const last = recorded.findLast((event) => event.stream === stream) as RecordedEvent;
  const [revision, commandId] = [last.revision + 1, 'repeated'];
  const id = eventId(commandId, stream, last.revision, 0);
  const { hash: _, ...kept } = { ...metadata, commandId };
  const hash = hashEvent(last.metadata.hash, { id, stream, revision, type, data, metadata: kept });
  return { id, stream, revision, position: '', type, data, metadata: { ...kept, hash } };
}

describe('a head by somebody who has the key', () => {
  it.each([
    ['LogHeadRecorded', {}, 'head_size_rises'],
    ['LogHeadKeyIntroduced', { publicKey: Buffer.alloc(32, 9).toString('base64') }, 'head_key_known'],
  ] as const)('that says %s again is one breach', async (type, over, rule) => {
    const said = recorded.find((event) => event.type === type) as RecordedEvent;
    const again = repeated({ ...said, data: { ...said.data, ...over } });
    const result = await found((database) => rewrite(database, [...recorded, again]));
    expect(result, result.err).toMatchObject(one(rule, LOG_HEAD_STREAM, 2));
  });
});

describe('a change of the whole log', () => {
  const of = (stream: string) => recorded.filter((event) => event.stream === stream);
  const without = (...streams: readonly string[]) => recorded.filter(({ stream }) => !streams.includes(stream));

  it('removes its newest stream: the head shows it', async () => {
    const result = await found((database) => rewrite(database, without(base.toNewReceiver)));
    expect(result, result.err).toMatchObject(one('head_root_matches', LOG_HEAD_STREAM, 1));
  });

  it('adds a stream in the past: the head shows it', async () => {
    const result = await found((database) => {
      const copy = new LogCopy(of(base.failedQuery));
      const stream = `payment-${'9'.repeat(64)}`;
      for (const event of copy.events) event.stream = stream;
      rewrite(database, [...recorded.slice(0, 20), ...copy.sealed(), ...recorded.slice(20)]);
    });
    expect(result, result.err).toMatchObject(one('head_root_matches', LOG_HEAD_STREAM, 1));
  });

  it('exchanges two streams: the head shows it', async () => {
    const result = await found((database) => {
      const [first, second] = [of(base.plain), of(base.second)];
      const at = recorded.indexOf(first[0] as RecordedEvent);
      const others = without(base.plain, base.second);
      rewrite(database, [...others.slice(0, at), ...second, ...first, ...others.slice(at)]);
    });
    expect(result, result.err).toMatchObject(one('head_root_matches', LOG_HEAD_STREAM, 1));
  });

  it('cuts its end with the last head: a head that somebody kept shows it', async () => {
    const head = new LogCopy(recorded).at(LOG_HEAD_STREAM, 'LogHeadRecorded');
    const kept = `${head.data.size}:${head.data.root}`;
    const result = await found((database) => rewrite(database, recorded.slice(0, 60)), '--head', kept, '--no-payloads');
    expect(result.code, result.err).toBe(1);
    expect(result.breaches.map(({ rule }) => rule)).toEqual(['head_kept_matches']);
  });
});
