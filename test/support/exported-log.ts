/** Exports of small logs, through the real engine, and the same with changes that a cheat would make. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExportedEvent } from '../../src/audit/proof/exported-event.ts';
import { rawLog } from '../../src/audit/proof/raw-log.ts';
import { signedNote, verifierKeyOf } from '../../src/events/log-note.ts';
import { LogTree, leafOf } from '../../src/events/log-tree.ts';
import type { EventLog } from '../../src/storage/event-log.ts';
import { hashEvent } from '../../src/storage/prepare-append.ts';
import { openSqliteLog } from '../../src/storage/sqlite/open.ts';
import { SqliteRawEvents } from '../../src/storage/sqlite/raw-events.ts';
import { LOG_ID, type LogWriter } from './written-log.ts';

/** Runs an action on a log on disk that holds what was written; `directory` is the data folder. */
export async function onDisk<Result>(
  writer: LogWriter,
  act: (log: EventLog, directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'docket-proof-'));
  const { log, payloads, cells } = openSqliteLog(join(directory, 'log.sqlite'));
  try {
    for (const append of writer.appends) await log.append(append);
    return await act(log, directory);
  } finally {
    await Promise.all([log.close(), payloads.close(), cells.close()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

export const rawEventsIn = (directory: string): SqliteRawEvents => new SqliteRawEvents(join(directory, 'log.sqlite'));

type Changed<Value> = { -readonly [Member in keyof Value]: Value[Member] };
export type ChangedEvent = Changed<ExportedEvent>;

/** The lines of an export as values, free to be changed. */
export class ExportedLog {
  constructor(
    readonly header: Record<string, unknown>,
    readonly events: ChangedEvent[],
    public end: Record<string, unknown> | null,
  ) {}

  static async of(writer: LogWriter): Promise<ExportedLog> {
    const text = await onDisk(writer, async (_, directory) => {
      const log = rawEventsIn(directory);
      let whole = '';
      for await (const part of rawLog(log, await log.head(), '2026-03-01T13:00:00.000000Z')) whole += part;
      await log.close();
      return whole;
    });
    const [header, ...rest] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    return new ExportedLog(header, rest.slice(0, -1), rest.at(-1));
  }

  copy(): ExportedLog {
    return new ExportedLog(structuredClone(this.header), structuredClone(this.events), structuredClone(this.end));
  }

  text(): string {
    const lines = [this.header, ...this.events, ...(this.end === null ? [] : [this.end])];
    return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  /** Makes hashes and chains follow from the content, as an insider could. */
  rehashed(): this {
    const newest = new Map<string, string>();
    for (const event of this.events) {
      event.hash = hashEvent(newest.get(event.stream) ?? '', event as unknown as Parameters<typeof hashEvent>[1]);
      newest.set(event.stream, event.hash);
    }
    return this;
  }

  repositioned(): this {
    this.events.forEach((event, index) => {
      event.position = String(index + 1).padStart(20, '0');
    });
    return this;
  }

  /** Makes the last line fit. */
  sealed(): this {
    const tree = new LogTree();
    for (const event of this.events) tree.add(leafOf(event));
    const head = this.events.findLast(({ type }) => type === 'LogHeadRecorded')?.data as
      | (Parameters<typeof signedNote>[0] & { readonly masterVersion: number })
      | undefined;
    const key = this.events.findLast(
      ({ type, data }) => type === 'LogHeadKeyIntroduced' && data.masterVersion === head?.masterVersion,
    )?.data.publicKey as string | undefined;
    this.end = {
      end: 'docket-log',
      events: tree.size,
      root: tree.root().toString('hex'),
      signed_head: head && key ? { note: signedNote(head, LOG_ID, key), key: verifierKeyOf(LOG_ID, key) } : null,
    };
    return this;
  }
}
