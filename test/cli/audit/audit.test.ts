/** `docket audit replay`, on a data folder that a service left. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { canonicalJson } from '../../../src/events/canonical-json.ts';
import { SigningKeyCreated, SigningKeyRotated } from '../../../src/events/signing-key.ts';
import type { EventLog } from '../../../src/storage/event-log.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../../src/storage/prepare-append.ts';
import { openSqliteLog } from '../../../src/storage/sqlite/open.ts';
import { contextOf, notes } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

const ONE = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const OTHER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';

const KEY = { keyId: 'k1', masterVersion: 1, createdAt: '2026-03-01T12:00:00.000000Z' };
const PAYMENT = `payment-${'0123456789abcdef'.repeat(4)}`;
const LATER = '2026-03-01T12:30:02.000000Z';

let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'docket-audit-'));
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  const one = await keyMade(log, ONE, '2026-03-01T12:00:00.000000Z');
  await log.append(notes('docket-x', ['opened']));
  await keyMade(log, OTHER, '2026-03-01T12:00:01.000000Z');
  await log.append(
    prepareAppend({
      stream: `wallet-${ONE}`,
      head: one,
      events: [SigningKeyRotated.of({ ...KEY, keyId: 'k2', previousKeyId: 'k1', previousValidUntil: LATER })],
      context: contextOf(),
      recordedAt: '2026-03-01T12:00:02.000000Z',
    }),
  );
  await log.append(notes(PAYMENT, ['recorded']));
  await Promise.all([log.close(), payloads.close(), cells.close()]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function keyMade(log: EventLog, wallet: string, recordedAt: string) {
  const append = prepareAppend({
    stream: `wallet-${wallet}`,
    head: NO_STREAM,
    events: [SigningKeyCreated.of(KEY)],
    context: contextOf(),
    recordedAt,
  });
  await log.append(append);
  return headAfter(append);
}

const audit = (...argv: string[]) => docketInProcess(['audit', 'replay', ...argv], { DATA_DIR: directory });
const events = async (...argv: string[]) => {
  const { code, out } = await audit(...argv, '--json');
  expect(code).toBe(EXIT.ok);
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const told = async (...argv: string[]) =>
  (await events(...argv)).map(({ stream, revision, type }) => `${stream} ${revision} ${type}`);

const ALL = [
  `wallet-${ONE} 0 SigningKeyCreated`,
  'docket-x 0 EventSkipped',
  `wallet-${OTHER} 0 SigningKeyCreated`,
  `wallet-${ONE} 1 SigningKeyRotated`,
  `${PAYMENT} 0 EventSkipped`,
];

describe('docket audit replay', () => {
  it.each([
    ['all', ALL],
    ['keys', ALL.filter((line) => line.startsWith('wallet-'))],
    ['dockets', ALL.filter((line) => line.startsWith('docket-'))],
    ['payments', [ALL[4]]],
    [`all --stream wallet-${OTHER}`, [ALL[2]]],
    ['log', []],
    ['heads', []],
    // As it is shown without --json.
    [`payments --stream ${PAYMENT.slice(0, 24)}`, [`${PAYMENT} 0 EventSkipped`]],
    [`keys --stream wallet-${ONE.slice(0, 8)}`, [ALL[0], ALL[3]]],
    ['all --type SigningKeyRotated,EventSkipped', [ALL[1], ALL[3], ALL[4]]],
    ['all --type SigningKeyRotated --type SigningKeyCreated', [ALL[0], ALL[2], ALL[3]]],
    [`keys --wallet ${ONE}`, [ALL[0], ALL[3]]],
    // Both ends are included.
    ['all --from 2026-03-01T12:00:01Z --to 2026-03-01T12:00:01Z', [ALL[2]]],
    ['all --from 2026-03-01T13:00:01+01:00 --to 2026-03-01T12:00:02Z', [ALL[2], ALL[3]]],
    ['all --from 2026-03-02T00:00:00Z', []],
  ])('prints the events of %s in log order', async (asked, expected) => {
    expect(await told(...asked.split(' '))).toEqual(expected);
  });

  it('prints each event in full, one JSON object per line', async () => {
    const [first] = await events('keys');
    expect(first).toEqual({
      stream: `wallet-${ONE}`,
      revision: 0,
      position: expect.stringMatching(/^\S+$/),
      type: 'SigningKeyCreated',
      recordedAt: '2026-03-01T12:00:00.000000Z',
      data: KEY,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      requestId: null,
      correlationId: expect.any(String),
      causationId: null,
      actor: 'test',
      schemaVersion: 1,
      commandId: first.correlationId,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('prints every field that a hash covers, so that anyone can check the hashes', async () => {
    const newest = new Map<string, string>();
    const all = await events('all');
    for (const { stream, revision, id, type, data, hash, position: _, ...metadata } of all) {
      const text = canonicalJson([newest.get(stream) ?? '', stream, revision, id, type, data, metadata]);
      expect(createHash('sha256').update(text).digest('hex'), `${stream} ${revision}`).toBe(hash);
      newest.set(stream, hash);
    }
    expect(newest.size).toBe(4);
  });

  it('prints the columns of the family, one line per event, and how many there are', async () => {
    const { out } = await audit('keys');
    expect(out.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['TIME', 'STREAM', 'REV', 'TYPE', 'KEY', 'WINDOW'],
      ['2026-03-01T12:00:00Z', 'wallet-7dNXsDvC', '0', 'SigningKeyCreated', 'k1', 'from 2026-03-01T12:00:00Z'],
      ['2026-03-01T12:00:01Z', 'wallet-9xQeWvG8', '0', 'SigningKeyCreated', 'k1', 'from 2026-03-01T12:00:00Z'],
      [
        '2026-03-01T12:00:02Z',
        'wallet-7dNXsDvC',
        '1',
        'SigningKeyRotated',
        'k2',
        'replaces k1, valid until 2026-03-01T12:30:02Z',
      ],
      ['3 events in 2 streams'],
      [''],
    ]);
  });

  it.each([
    [`keys --wallet ${OTHER}`, /\n1 event in 1 stream\n$/],
    [`keys --wallet ${ONE}`, /\n2 events in 1 stream\n$/],
    ['log', /\n0 events\n$/],
  ])('counts the events of %s in the right number', async (asked, expected) => {
    const { code, out } = await audit(...asked.split(' '));
    expect([code, out]).toEqual([EXIT.ok, expect.stringMatching(expected)]);
  });

  it.each([
    ['nothing', /Unknown family of streams: nothing.*\nUse one of payments, deliveries,/],
    ['payment', /Unknown family of streams: payment.*\nDid you mean payments\?/],
    ['all --type PaymentSetled', /Unknown event type: PaymentSetled.*\nDid you mean PaymentSettled\?/],
    ['all --request 17', /"17" is not a request id.*\n.*request_id/],
    // A part of a name is not a name.
    ['all --stream docket-', /There is no stream docket- in this log.*\nDid you mean docket-x\?/],
    ['all --stream docket-y', /There is no stream docket-y in this log.*\nDid you mean docket-x\?/],
    [`payments --stream ${PAYMENT.slice(0, 23)}`, /Did you mean payment-0123456789abcdef\?/],
    ['all --stream content-x', /There is no stream content-x.*\nList its streams with docket audit replay dockets/],
    [`payments --stream wallet-${ONE}`, /is not in the family payments.*\nUse docket audit replay keys --stream/],
    ['all --from yesterday', /--from is not a timestamp: yesterday\n.*ISO-8601/],
    ['all --to 2026-03-01', /--to is not a timestamp/],
    ['keys --wallet me', /"me" is not a Solana address/],
    ['all --from 2026-03-02T00:00:00Z --to 2026-03-01T00:00:00Z', /--from is later than --to/],
  ])('rejects %s and says what it expects', async (asked, expected) => {
    const { code, out, err } = await audit(...asked.split(' '));
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toMatch(expected);
  });

  it('reads only the log: it creates no read models and leaves damaged ones unchanged', async () => {
    const readModels = join(directory, 'read.sqlite');
    expect(existsSync(readModels)).toBe(false);
    writeFileSync(readModels, 'damaged');
    expect(await told('all')).toEqual(ALL);
    expect(readFileSync(readModels, 'utf8')).toBe('damaged');
    expect(existsSync(`${readModels}.damaged`)).toBe(false);
  });

  it('creates no log if there is none', async () => {
    const empty = join(directory, 'empty');
    const { code, err } = await docketInProcess(['audit', 'replay', 'all'], { DATA_DIR: empty });
    expect([code, existsSync(empty)]).toEqual([EXIT.unavailable, false]);
    expect(err).toMatch(/no event log in .*DATA_DIR/s);
  });
});
