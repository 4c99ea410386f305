/**
 * Where log lines go. A file that takes no more (its disk is full) or a pipe that nobody reads costs lines, and never the
 * process: pino's own destination ends it with the first failed write, and waits for ever in the last one.
 */
import { write, writeSync } from 'node:fs';

export interface LogDestination {
  write(line: string): void;
  /** Writes what waits before it returns, as far as it can be written now. */
  flushSync(): void;
}

const AGAIN_MS = 100;
/** How often a pipe that is full is tried again at the end, and how long a try waits. */
const LAST_TRIES = 20;
const LAST_TRY_MS = 10;
const MOST_WAITING = 4 * 1024 * 1024;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes beside the event loop, in order. What cannot be written waits and is tried again ten times a second.
 * @param mostWaiting characters that may wait; lines past it are lost
 */
export function logDestination(descriptor: number, mostWaiting = MOST_WAITING): LogDestination {
  let waiting = '';
  let current = Buffer.alloc(0);
  let state: 'idle' | 'writing' | 'pausing' | 'ended' = 'idle';

  const goOn = (): void => {
    if (current.length === 0) {
      if (waiting === '') {
        state = 'idle';
        return;
      }
      current = Buffer.from(waiting);
      waiting = '';
    }
    state = 'writing';
    write(descriptor, current, (error, written) => {
      if (!error) {
        current = current.subarray(written);
        goOn();
      } else if (isGone(error)) {
        state = 'ended';
      } else {
        state = 'pausing';
        setTimeout(goOn, AGAIN_MS).unref();
      }
    });
  };

  const flushSync = (): void => {
    // What another thread is writing just now is not written twice.
    let rest = Buffer.concat([state === 'writing' ? Buffer.alloc(0) : current, Buffer.from(waiting)]);
    waiting = '';
    if (state !== 'writing') current = Buffer.alloc(0);
    for (let tries = 0; rest.length > 0 && state !== 'ended'; ) {
      try {
        rest = rest.subarray(writeSync(descriptor, rest));
      } catch (error) {
        if (isFullPipe(error) && tries++ < LAST_TRIES) Atomics.wait(NEVER_WOKEN, 0, 0, LAST_TRY_MS);
        else break;
      }
    }
    waiting = rest.toString();
    if (state === 'idle') goOn();
  };
  process.once('exit', flushSync);

  return {
    write(line) {
      if (state === 'ended' || waiting.length + current.length + line.length > mostWaiting) return;
      waiting += line;
      if (state === 'idle') goOn();
    },
    flushSync,
  };
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);
const isGone = (error: unknown): boolean => codeOf(error) === 'EPIPE' || codeOf(error) === 'EBADF';
const isFullPipe = (error: unknown): boolean => codeOf(error) === 'EAGAIN';
