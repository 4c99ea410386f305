/**
 * Examines events on a thread of its own, with its own connection to the SQLite log, so that hashing and judging use
 * two cores. This file is both sides: it starts the thread, and it is what the thread runs.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { eventText, parseEvents } from '../audit/verify/event-text.ts';
import { EventExaminer, type ExaminedBatch, type Examiner } from '../audit/verify/examine.ts';
import type { Position } from '../storage/event-log.ts';
import type { RawBatch } from '../storage/raw-events.ts';
import { SqliteRawEvents } from '../storage/sqlite/raw-events.ts';
import { StorageFailure } from '../storage/storage-failure.ts';

const ROLE = 'docket audit examiner';

interface ThreadData {
  readonly role: typeof ROLE;
  readonly path: string;
}

/** Read from here on. */
interface Asked {
  readonly after: Position | null;
  readonly upTo: Position;
}

/** `taken`: one more batch is no longer waiting. */
type Message = Asked | 'taken' | 'end';
/** `texts`: the events of the batch, for `parseEvents`. */
type Examined = ExaminedBatch & { readonly texts: string };
type Answer = { readonly examined: Examined } | { readonly error: string };

/** A thread runs only compiled code; from sources, the caller examines on its own thread. */
export const canStartExaminer = (): boolean => import.meta.url.endsWith('.js');

/** Batches that the thread may be ahead of the caller; fewer if they have many characters, which wait in memory. */
const AHEAD = 16;
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** MiB. The thread holds one batch at a time, so it needs little; without a limit it would collect garbage late. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

export function startExaminer(path: string): Examiner {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { role: ROLE, path } satisfies ThreadData,
    resourceLimits: LIMITS,
  });
  const answers: Answer[] = [];
  let ended: unknown = null;
  let wake: () => void = () => undefined;
  const say = (message: Message): void => worker.postMessage(message);
  worker.on('message', (answer: Answer) => {
    answers.push(answer);
    wake();
  });
  worker.on('error', (error) => {
    ended ??= error;
    wake();
  });
  worker.on('exit', () => {
    ended ??= new Error('the thread that examines events ended');
    wake();
  });
  const answered = async (): Promise<Examined> => {
    while (answers.length === 0) {
      if (ended !== null) throw ended;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const answer = answers.shift() as Answer;
    if ('examined' in answer) return answer.examined;
    throw new StorageFailure('storage_unavailable', `reading the log on a second thread: ${answer.error}`);
  };
  return {
    async *examined(after, upTo) {
      say({ after, upTo });
      for (let from = after; from !== upTo; ) {
        const { texts, ...examined } = await answered();
        say('taken');
        yield { ...examined, ...parseEvents(texts) };
        from = examined.upTo;
      }
    },
    async close() {
      if (ended !== null) return;
      const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      say('end');
      await exited;
    },
  };
}

function runThread(port: NonNullable<typeof parentPort>, { path }: ThreadData): void {
  const log = new SqliteRawEvents(path);
  const examiner = new EventExaminer((stream, revision) => log.findNow(stream, revision));
  let batches: AsyncIterator<RawBatch> | null = null;
  let busy = Promise.resolve();
  /** Characters of each batch that was sent and not yet taken. */
  const ahead: number[] = [];
  const mayGoOn = (): boolean =>
    ahead.length === 0 ||
    (ahead.length < AHEAD && ahead.reduce((sum, characters) => sum + characters) < MOST_CHARACTERS);
  const goOn = async (): Promise<void> => {
    try {
      while (batches !== null && mayGoOn()) {
        const batch = await batches.next();
        if (batch.done === true) return;
        let texts = '';
        const examined = await examiner.batch(batch.value, (raw, names, hash, judged) => {
          texts += `${texts === '' ? '[' : ','}${eventText(raw, names, hash, judged)}`;
        });
        ahead.push(texts.length);
        port.postMessage({ examined: { ...examined, texts: texts === '' ? '[]' : `${texts}]` } } satisfies Answer);
      }
    } catch (error) {
      batches = null;
      port.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies Answer);
    }
  };
  port.on('message', (message: Message) => {
    busy = busy.then(async () => {
      if (message === 'taken') {
        ahead.shift();
        return goOn();
      }
      if (message !== 'end') {
        batches = log.read(message.after, message.upTo)[Symbol.asyncIterator]();
        return goOn();
      }
      await log.close();
      port.close();
    });
  });
}

if (parentPort !== null && (workerData as ThreadData | null)?.role === ROLE) {
  runThread(parentPort, workerData as ThreadData);
}
