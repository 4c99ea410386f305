/** Small appends of real events, for the suites of this folder. */
import { randomUUID } from 'node:crypto';
import { ContentRedacted } from '../../src/events/content.ts';
import { EventSkipped } from '../../src/events/operator.ts';
import {
  type Append,
  type CommandContext,
  type EventFilter,
  type EventLog,
  NO_STREAM,
  type Position,
  type RecordedEvent,
  type StreamHead,
} from '../../src/storage/event-log.ts';
import { headAfter, prepareAppend } from '../../src/storage/prepare-append.ts';

/** Of a span that is exported. */
export const TRACEPARENT = `00-${'4b'.repeat(16)}-${'00f0'.repeat(4)}-01`;
export const NOON = '2026-03-01T12:00:00.000000Z';

export const contextOf = (commandId: string = randomUUID()): CommandContext => ({
  commandId,
  requestId: null,
  correlationId: commandId,
  causationId: null,
  actor: 'test',
});

/** Two events with a stable shape, so that these suites do not change with the domain. */
export const note = (text: string) => EventSkipped.of({ projection: 'none', position: '0', reason: text });
export const redaction = (reason: string) =>
  ContentRedacted.of({ name: 'none', replacement: null, stream: 'none', revision: 0, filingIds: [], reason });

interface NotesOptions {
  readonly head?: StreamHead;
  readonly commandId?: string;
  readonly traceparent?: string;
}

/** An append of `EventSkipped` events, one for each text. */
export function notes(
  stream: string,
  texts: readonly string[],
  { head = NO_STREAM, commandId, traceparent }: NotesOptions = {},
): Append {
  const context = contextOf(commandId);
  return prepareAppend({ stream, head, events: texts.map(note), context, recordedAt: NOON, traceparent });
}

export const freshStream = (family = 'docket'): string => `${family}-${randomUUID()}`;

/** Appends one after the other, each following the previous one. */
export async function appendInTurn(log: EventLog, stream: string, texts: readonly string[]): Promise<StreamHead> {
  let head: StreamHead = NO_STREAM;
  for (const text of texts) {
    const append = notes(stream, [text], { head });
    await log.append(append);
    head = headAfter(append);
  }
  return head;
}

export async function collect(
  log: EventLog,
  from: Position | null,
  filter: EventFilter = { by: 'all' },
): Promise<{ readonly events: readonly RecordedEvent[]; readonly position: Position | null }> {
  const events: RecordedEvent[] = [];
  let position = from;
  for await (const batch of log.readAll(from, filter)) {
    events.push(...batch.events);
    position = batch.position;
  }
  return { events, position };
}

export const textOf = (event: RecordedEvent): string => String(event.data.reason);

/** Whether a list of positions only rises. */
export const rises = (positions: readonly Position[]): boolean =>
  positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? ''));
