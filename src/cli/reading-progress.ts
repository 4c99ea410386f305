/** Progress of a long read of the log: one line that is redrawn on a terminal, a line every ten seconds elsewhere. */
import type { EventLog } from '../storage/event-log.ts';
import { type CliContext, note } from './command.ts';

const REDRAW_MS = 200;
const LINE_MS = 10_000;

export interface ReadingProgress {
  /** The log whose reading is counted. */
  readonly log: Pick<EventLog, 'read' | 'readAll'>;
  end(): void;
}

export function startReadingProgress(context: CliContext, log: EventLog): ReadingProgress {
  const { counted, end } = countReading(context);
  return {
    log: {
      read: (stream, options) => log.read(stream, options),
      readAll: (from, filter) => counted(log.readAll(from, filter)),
    },
    end,
  };
}

/** As `startReadingProgress`, for batches of any kind of log. */
export function countReading(context: CliContext) {
  let count = 0;
  const line = () => `${count.toLocaleString('en')} events read`;
  const timer = context.interactive
    ? setInterval(() => context.stderr.write(`\r\u001B[K${line()}`), REDRAW_MS)
    : setInterval(() => note(context, line()), LINE_MS);
  timer.unref();
  async function* counted<Batch extends { readonly events: readonly unknown[] }>(
    batches: AsyncIterable<Batch>,
  ): AsyncIterable<Batch> {
    for await (const batch of batches) {
      count += batch.events.length;
      yield batch;
    }
  }
  return {
    counted,
    end(): void {
      clearInterval(timer);
      if (context.interactive) context.stderr.write('\r\u001B[K');
    },
  };
}
