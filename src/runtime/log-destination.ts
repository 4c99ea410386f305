/**
 * The destination of log lines. If a file cannot grow (its disk is full) or a pipe is not read, lines are lost, but the
 * process continues. pino's own destination would end the process at the first failed write, and wait forever in the last
 * one.
 */
import * as fs from 'node:fs';
import { hostname } from 'node:os';

/** The calls of `node:fs` that write. */
export type Writes = { readonly write: WriteBytes; readonly writeSync: (descriptor: number, bytes: Buffer) => number };
type WriteBytes = (descriptor: number, bytes: Buffer, done: (error: Error | null, written: number) => void) => void;

export interface LogDestination {
  write(line: string): void;
  /** Writes what is waiting before it returns, as far as it can be written now. */
  flushSync(): void;
}

const AGAIN_MS = 100;
/** At shutdown: how long to wait for a full pipe, each time and in total, while its reader continues to read. */
const LAST_TRIES = 250;
const LAST_TRY_MS = 2;
const LAST_MS = 2_000;
/** The capacity of a pipe: at shutdown, no more than this may be in flight in another thread. */
const MOST_AT_ONCE = 64 * 1024;
const MOST_WAITING = 4 * 1024 * 1024;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));
const NOTHING = Buffer.alloc(0);

/**
 * Writes outside the event loop, in order. Lines that cannot be written wait and are retried ten times a second.
 * @param mostWaiting how many characters may wait; further lines are lost, and a line after the waiting ones says how
 * many
 */
export function logDestination(
  descriptor: number,
  mostWaiting = MOST_WAITING,
  { write, writeSync }: Writes = fs,
): LogDestination {
  /** What is being written, what comes next, and what comes after that. */
  let current: Buffer = NOTHING;
  let next: Buffer = NOTHING;
  let waiting = '';
  let lost = 0;
  let state: 'idle' | 'writing' | 'pausing' | 'ended' = 'idle';

  const takeWaiting = (): Buffer => {
    const taken = Buffer.from(lost > 0 ? waiting + lossLine(lost) : waiting);
    waiting = '';
    lost = 0;
    return taken;
  };

  const goOn = (): void => {
    if (current.length === 0) {
      if (next.length === 0) next = takeWaiting();
      current = next.subarray(0, MOST_AT_ONCE);
      next = next.subarray(MOST_AT_ONCE);
    }
    if (current.length === 0) {
      state = 'idle';
      return;
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
    // What another thread is currently writing must not be written twice.
    const isWriting = state === 'writing';
    next = Buffer.concat([...(isWriting ? [] : [current]), next, takeWaiting()]);
    if (!isWriting) current = NOTHING;
    const until = performance.now() + LAST_MS;
    for (let tries = 0; next.length > 0 && state !== 'ended' && performance.now() < until; ) {
      try {
        next = next.subarray(writeSync(descriptor, next));
        tries = 0;
      } catch (error) {
        if (isFullPipe(error) && tries++ < LAST_TRIES) Atomics.wait(NEVER_WOKEN, 0, 0, LAST_TRY_MS);
        else break;
      }
    }
    if (state === 'idle') goOn();
  };
  process.once('exit', flushSync);

  return {
    write(line) {
      if (state === 'ended') return;
      if (current.length + next.length + waiting.length + line.length > mostWaiting) {
        lost++;
        return;
      }
      waiting += line;
      if (state === 'idle') goOn();
    },
    flushSync,
  };
}

/** In pino's format, so that log readers treat it like any other line. */
const lossLine = (lines: number): string =>
  `${JSON.stringify({
    level: 50,
    time: Date.now(),
    pid: process.pid,
    hostname: hostname(),
    lines,
    alarm: 'log_lines_lost',
    msg: 'log lines were lost: they came faster than they could be written',
  })}\n`;

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);
const isGone = (error: unknown): boolean => codeOf(error) === 'EPIPE' || codeOf(error) === 'EBADF';
const isFullPipe = (error: unknown): boolean => codeOf(error) === 'EAGAIN';
