/**
 * A small log of dockets with content, key versions and signed heads, as the service writes them; and what an intruder
 * with the file may do to it, with or without repairing hashes.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FACT_RULES, LOG_RULES, STREAM_RULES } from '../../../src/audit/rules/all.ts';
import type { FoundBreach } from '../../../src/audit/verify/breaches.ts';
import {
  type Verification,
  type VerifyOptions,
  type VerifyPorts,
  verifyLog,
} from '../../../src/audit/verify/verify.ts';
import { readConfig } from '../../../src/config.ts';
import {
  BaselineCompleted,
  DocketDetailsChanged,
  DocketOpened,
  docketStream,
  FilingsRecorded,
} from '../../../src/events/docket.ts';
import type { DomainEvent, JsonObject } from '../../../src/events/event.ts';
import { LOG_HEAD_STREAM, LogHeadKeyIntroduced, LogHeadRecorded } from '../../../src/events/log-head.ts';
import { LOG_IDENTITY_STREAM, LogFounded } from '../../../src/events/log-identity.ts';
import { headKeyOf } from '../../../src/events/log-note.ts';
import { LogTree, leafOf } from '../../../src/events/log-tree.ts';
import { MASTER_KEY_STREAM, MasterKeyIntroduced } from '../../../src/events/signing-key.ts';
import { MICROS_PER_SECOND, plus, systemClock } from '../../../src/runtime/instant.ts';
import { openAudit, openCheckpoint, openScratch } from '../../../src/service/open-audit.ts';
import { type EventMetadata, NO_STREAM, type StreamHead } from '../../../src/storage/event-log.ts';
import { hashEvent, headAfter, prepareAppend } from '../../../src/storage/prepare-append.ts';
import { Database } from '../../../src/storage/sqlite/driver.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { contextOf, NOON } from '../../storage/samples.ts';

export const LOG_ID = '0b7f3f6e-0c1d-4c57-9d38-2f6b8a4e1c55';
export const KEY = headKeyOf(Buffer.alloc(32, 7));

export const FOUNDED = LogFounded.of({
  logId: LOG_ID,
  network: 'solana:local',
  genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  receiver: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
  version: '2.0.1',
});
export const INTRODUCED = MasterKeyIntroduced.of({
  masterVersion: 1,
  fingerprint: 'ab'.repeat(16),
  by: 'service',
  reason: 'the first start',
});

export const docketNumber = (n: number): string => docketStream('cand', `3:25-cv-${String(n).padStart(5, '0')}`);

export interface SampleLog {
  readonly directory: string;
  /** Appends as the service would. */
  write(stream: string, ...events: readonly DomainEvent[]): Promise<void>;
  /** Writes one docket: opened, details with content, a baseline of one filing. Four events. */
  docket(n: number): Promise<{ readonly stream: string; readonly details: string; readonly filings: string }>;
  /** Records a head over everything so far. */
  head(): Promise<{ readonly size: number; readonly root: string }>;
  /** Lets time pass before the next event, in seconds. */
  pass(seconds: number): void;
  /** Removes stored content, as housekeeping or an operator does. */
  removeContent(name: string, replacement?: string): Promise<void>;
  putContent(text: string): Promise<string>;
  /** Changes the file itself. */
  tamper<Result>(work: (database: Database) => Result): Result;
  verify(options?: SampleVerifyOptions): Promise<Verified>;
  remove(): void;
}

export interface SampleVerifyOptions extends VerifyOptions {
  readonly checkpoint?: string;
  readonly content?: boolean;
  readonly ports?: Partial<VerifyPorts>;
}

export interface Verified extends Omit<Verification, 'breaches'> {
  /** `rule stream revision` of each breach of its own. */
  readonly own: readonly string[];
  readonly all: readonly FoundBreach[];
}

export async function openSampleLog(): Promise<SampleLog> {
  const directory = mkdtempSync(join(tmpdir(), 'docket-verify-'));
  const heads = new Map<string, StreamHead>();
  let seconds = 0;
  const opened = async <Result>(work: (storage: ReturnType<typeof openSqlite>) => Promise<Result>): Promise<Result> => {
    const storage = openSqlite({ directory });
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  };
  const tamper = <Result>(work: (database: Database) => Result): Result => {
    const database = new Database(join(directory, 'log.sqlite'));
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  const now = () => plus(NOON, seconds++ * MICROS_PER_SECOND);
  const write = async (stream: string, ...events: readonly DomainEvent[]): Promise<void> => {
    const append = prepareAppend({
      stream,
      head: heads.get(stream) ?? NO_STREAM,
      events,
      context: contextOf(),
      recordedAt: now(),
    });
    await opened(({ log }) => log.append(append));
    heads.set(stream, headAfter(append));
  };
  const sample: SampleLog = {
    directory,
    write,
    tamper,
    pass(more) {
      seconds += more;
    },
    putContent: (text) => opened(({ payloads }) => payloads.put('docket', Buffer.from(text))),
    removeContent: (name, replacement) => opened(({ payloads }) => payloads.remove(name, replacement)),
    async docket(n) {
      const stream = docketNumber(n);
      const [details, filings] = [await sample.putContent(`details ${n}`), await sample.putContent(`filings ${n}`)];
      const askedAt = now();
      await write(stream, DocketOpened.of({ court: 'cand', caseNumber: `3:25-cv-${String(n).padStart(5, '0')}` }));
      await write(
        stream,
        DocketDetailsChanged.of({ askedAt, content: details, masking: 1 }),
        FilingsRecorded.of({ askedAt, content: filings, masking: 1, baseline: true, filings: [filing(now())] }),
        BaselineCompleted.of({ askedAt, filingCount: 1 }),
      );
      return { stream, details, filings };
    },
    async head() {
      const head = tamper((database) => headOver(rowsOf(database)));
      const isFirst = !heads.has(LOG_HEAD_STREAM);
      const introduced = LogHeadKeyIntroduced.of({ masterVersion: 1, publicKey: KEY.publicKey });
      await write(LOG_HEAD_STREAM, ...(isFirst ? [introduced] : []), LogHeadRecorded.of(head));
      return head;
    },
    async verify({ checkpoint, content = true, ports = {}, ...options } = {}) {
      const audit = await openAudit(readConfig({ DATA_DIR: directory }), { content });
      const scratch = checkpoint === undefined ? openScratch() : openCheckpoint(checkpoint);
      try {
        const rules = { streams: STREAM_RULES, facts: FACT_RULES, log: LOG_RULES };
        const { breaches, ...verification } = await verifyLog(
          { ...audit, rules, scratch, clock: systemClock, ...ports },
          options,
        );
        const all = [...breaches()];
        const own = all.filter(({ followsFrom }) => followsFrom === null);
        return { ...verification, all, own: own.map(({ rule, stream, revision }) => `${rule} ${stream} ${revision}`) };
      } finally {
        scratch.close();
        await audit.close();
      }
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
  await write(LOG_IDENTITY_STREAM, FOUNDED);
  await write(MASTER_KEY_STREAM, INTRODUCED);
  return sample;
}

const filing = (availableAt: string) => ({
  filingId: randomUUID(),
  entryNumber: 1,
  dateFiled: '2026-03-01',
  dateEntered: '2026-03-01',
  enteredAt: null,
  filedAt: null,
  filingType: 'complaint',
  filingTypes: ['complaint'],
  sealed: false,
  availableAt,
  backfilled: false,
});

export interface EventRow {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: string;
  readonly data: string;
}

export const rowsOf = (database: Database): readonly EventRow[] =>
  database.prepare<[], EventRow>('SELECT * FROM events ORDER BY position').all();

/** A signed head over the first events. */
export function headOver(rows: readonly Pick<EventRow, 'stream' | 'revision' | 'metadata'>[]) {
  const tree = new LogTree();
  for (const { stream, revision, metadata } of rows) {
    tree.add(leafOf({ stream, revision, hash: (JSON.parse(metadata) as EventMetadata).hash }));
  }
  const last = rows.at(-1);
  if (!last) throw new Error('no head over an empty log');
  const claim = { size: tree.size, root: tree.root().toString('hex') };
  return {
    ...claim,
    peaks: tree.peaks.map((peak) => peak.toString('hex')),
    last: { stream: last.stream, revision: last.revision },
    masterVersion: 1,
    signature: KEY.signHead(claim, LOG_ID),
  };
}

/** Changes one event and leaves its hash as it is. */
export function edit(
  database: Database,
  stream: string,
  revision: number,
  change: (data: JsonObject) => JsonObject,
): void {
  const found = database
    .prepare<[string, number], EventRow>('SELECT * FROM events WHERE stream = ? AND revision = ?')
    .get(stream, revision);
  if (!found) throw new Error(`no event ${revision} in ${stream}`);
  const data = JSON.stringify(change(JSON.parse(found.data) as JsonObject));
  database.prepare('UPDATE events SET data = ? WHERE position = ?').run(data, found.position);
}

/** Makes all hashes of a stream right again, as an insider can. */
export function rehash(database: Database, stream: string): void {
  let hash = '';
  for (const row of rowsOf(database).filter((each) => each.stream === stream)) {
    const metadata = JSON.parse(row.metadata) as EventMetadata;
    hash = hashEvent(hash, { ...row, data: JSON.parse(row.data) as JsonObject, metadata });
    database
      .prepare('UPDATE events SET metadata = ? WHERE position = ?')
      .run(JSON.stringify({ ...metadata, hash }), row.position);
  }
}

/** Closes the gaps that removed events left in the positions. */
export function renumber(database: Database): void {
  for (const [index, { position }] of rowsOf(database).entries()) {
    database.prepare('UPDATE events SET position = ? WHERE position = ?').run(index + 1, position);
  }
}
