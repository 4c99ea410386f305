/**
 * Examines events on a thread of its own, with its own connection to the SQLite log, so that hashing and judging use
 * two cores. This file is both sides: it starts the thread, and it is what the thread runs.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { EventExaminer, type ExaminedBatch, type Examiner } from '../audit/verify/examine.ts';
import type { Position } from '../storage/event-log.ts';
import { positionNumber } from '../storage/sqlite/event-rows.ts';
import { SqliteRawEvents } from '../storage/sqlite/raw-events.ts';
import { StorageFailure } from '../storage/storage-failure.ts';

const ROLE = 'docket audit examiner';

interface ThreadData {
  readonly role: typeof ROLE;
  readonly path: string;
}

interface Asked {
  readonly after: Position | null;
  readonly upTo: Position;
}

type Answer = { readonly examined: ExaminedBatch } | { readonly error: string };

/** A thread runs only compiled code; from sources, the caller examines on its own thread. */
export const canStartExaminer = (): boolean => import.meta.url.endsWith('.js');

export function startExaminer(path: string): Examiner {
  const worker = new Worker(new URL(import.meta.url), { workerData: { role: ROLE, path } satisfies ThreadData });
  const waiting: { resolve(examined: ExaminedBatch): void; reject(error: unknown): void }[] = [];
  let ended: unknown = null;
  const end = (error: unknown): void => {
    ended ??= error;
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  worker.on('message', (answer: Answer) => {
    const asked = waiting.shift();
    if ('examined' in answer) asked?.resolve(answer.examined);
    else
      asked?.reject(new StorageFailure('storage_unavailable', `reading the log on a second thread: ${answer.error}`));
  });
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the thread that examines events ended')));
  return {
    examine: ({ after, upTo }) =>
      new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended);
        waiting.push({ resolve, reject });
        worker.postMessage({ after, upTo } satisfies Asked);
      }),
    async close() {
      if (ended !== null) return;
      const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      worker.postMessage(null);
      await exited;
    },
  };
}

function runThread(port: NonNullable<typeof parentPort>, { path }: ThreadData): void {
  const events = new SqliteRawEvents(path);
  const examiner = new EventExaminer((stream, revision) => events.findNow(stream, revision));
  let busy = Promise.resolve();
  const answer = async ({ after, upTo }: Asked): Promise<void> => {
    try {
      const batch = events.batch(positionNumber(after), positionNumber(upTo));
      const examined = await examiner.batch(batch, false);
      port.postMessage({ examined } satisfies Answer, [examined.leaves.buffer as ArrayBuffer]);
    } catch (error) {
      port.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies Answer);
    }
  };
  port.on('message', (asked: Asked | null) => {
    busy = busy.then(async () => {
      if (asked !== null) return answer(asked);
      await events.close();
      port.close();
    });
  });
}

if (parentPort !== null && (workerData as ThreadData | null)?.role === ROLE) {
  runThread(parentPort, workerData as ThreadData);
}
