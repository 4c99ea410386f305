/** Progress of a long read of the log: one line that is redrawn on a terminal, nothing elsewhere. */
import type { EventBatch, EventFilter, EventLog, Position } from '../storage/event-log.ts';
import type { CliContext } from './command.ts';

const REDRAW_MS = 200;

export interface ReadingProgress {
  /** The log whose reading is counted. */
  readonly log: Pick<EventLog, 'read' | 'readAll'>;
  end(): void;
}

export function startReadingProgress(context: CliContext, log: EventLog): ReadingProgress {
  if (!context.interactive) return { log, end: () => undefined };
  let count = 0;
  const draw = () => context.stderr.write(`\r\u001B[K${count.toLocaleString('en')} events read`);
  const timer = setInterval(draw, REDRAW_MS);
  timer.unref();
  async function* readAll(from: Position | null, filter: EventFilter): AsyncIterable<EventBatch> {
    for await (const batch of log.readAll(from, filter)) {
      count += batch.events.length;
      yield batch;
    }
  }
  return {
    log: { read: (stream, options) => log.read(stream, options), readAll },
    end() {
      clearInterval(timer);
      context.stderr.write('\r\u001B[K');
    },
  };
}
