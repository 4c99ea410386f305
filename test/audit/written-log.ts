/** A real log in a temporary folder, written event by event, for tests of what an auditor reads from it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DomainEvent } from '../../src/events/event.ts';
import type { Instant } from '../../src/runtime/instant.ts';
import { NO_STREAM, type StreamHead } from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { contextOf } from '../storage/samples.ts';

export async function openWrittenLog() {
  const directory = await mkdtemp(join(tmpdir(), 'docket-audit-'));
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  const heads = new Map<string, StreamHead>();
  return {
    directory,
    log,
    /** Appends to a stream, whatever is there. */
    async write(stream: string, at: Instant, ...events: readonly DomainEvent[]): Promise<void> {
      const head = heads.get(stream) ?? NO_STREAM;
      const append = prepareAppend({ stream, head, events, context: contextOf(), recordedAt: at });
      await log.append(append);
      heads.set(stream, headAfter(append));
    },
    hashOf: (stream: string): string | undefined => heads.get(stream)?.hash,
    async close(): Promise<void> {
      await Promise.all([log.close(), payloads.close(), cells.close()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type WrittenLog = Awaited<ReturnType<typeof openWrittenLog>>;

export async function all<Row>(rows: AsyncIterable<Row>): Promise<readonly Row[]> {
  const found: Row[] = [];
  for await (const row of rows) found.push(row);
  return found;
}
