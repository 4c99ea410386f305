import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, write, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logDestination, type Writes } from '../../src/runtime/log-destination.ts';

const fs = {
  failure: null as string | null,
  asked: 0,
  /** How often a pipe is full at exit before its reader has read something. */
  fullTimes: 0,
  fullNow: 0,
};
const failure = (code: string) => Object.assign(new Error(code), { code });
const writes: Writes = {
  write(descriptor, bytes, done) {
    fs.asked++;
    if (fs.failure !== null) setImmediate(done, failure(fs.failure), 0);
    // A few bytes at a time, as a pipe may accept them.
    else write(descriptor, bytes.subarray(0, 7), done);
  },
  writeSync(descriptor, bytes) {
    if (fs.failure !== null) throw failure(fs.failure);
    if (fs.fullNow++ < fs.fullTimes) throw failure('EAGAIN');
    fs.fullNow = 0;
    // In few parts, because there are only two seconds for all of them.
    return writeSync(descriptor, fs.fullTimes > 0 ? bytes.subarray(0, 101) : bytes);
  },
};
const destinationOf = (descriptor: number, mostWaiting?: number) => logDestination(descriptor, mostWaiting, writes);

// Each destination is flushed at exit.
process.setMaxListeners(50);

describe('the destination of log lines', () => {
  let directory: string;
  let path: string;
  let descriptor: number;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'log-'));
    path = join(directory, 'log');
    descriptor = openSync(path, 'a');
    fs.failure = null;
    fs.asked = 0;
    fs.fullTimes = 0;
  });
  afterEach(async () => {
    // Ends pending retries: the descriptor will belong to another file.
    fs.failure = 'EPIPE';
    await new Promise((resolve) => setTimeout(resolve, 120));
    closeSync(descriptor);
    rmSync(directory, { recursive: true });
  });
  const written = () => readFileSync(path, 'utf8');
  const comesTo = (text: string) => vi.waitFor(() => expect(written()).toBe(text), { timeout: 5_000, interval: 5 });

  it('writes in order and whole, as pino passes them', async () => {
    const logger = pino({ base: null, timestamp: false }, destinationOf(descriptor));
    for (let n = 0; n < 20; n++) logger.info({ n }, 'ä line');
    await comesTo(Array.from({ length: 20 }, (_, n) => `{"level":30,"n":${n},"msg":"ä line"}\n`).join(''));
  });

  it.each(['ENOSPC', 'EAGAIN', 'EIO'])('%s: what is not accepted waits, and follows in order', async (code) => {
    const destination = destinationOf(descriptor);
    fs.failure = code;
    destination.write('one\n');
    destination.write('two\n');
    await vi.waitFor(() => expect(fs.asked).toBeGreaterThan(1), { timeout: 5_000 });
    fs.failure = null;
    destination.write('three\n');
    await comesTo('one\ntwo\nthree\n');
  });

  it('drops lines above its limit, says how many once lines flow again, and accepts them again', async () => {
    const destination = destinationOf(descriptor, 10);
    fs.failure = 'ENOSPC';
    destination.write('12345\n');
    destination.write('lost\n!');
    destination.write('lost too\n');
    destination.write('789\n');
    fs.failure = null;
    await vi.waitFor(() => expect(written()).toMatch(/^12345\n789\n\{.+\}\n$/), { timeout: 5_000, interval: 5 });
    const before = written();
    expect(JSON.parse(before.slice('12345\n789\n'.length))).toEqual({
      level: 50,
      time: expect.any(Number),
      pid: process.pid,
      hostname: expect.any(String),
      lines: 2,
      alarm: 'log_lines_lost',
      msg: expect.stringContaining('lost'),
    });
    // The file shows the notice a moment before its write has ended, and until then it counts against the limit.
    await vi.waitFor(
      () => {
        destination.write('after\n');
        expect(written().slice(before.length)).toMatch(/^after\n/m);
      },
      { timeout: 5_000, interval: 20 },
    );
  });

  it('says at exit what was lost', async () => {
    const destination = destinationOf(descriptor, 10);
    fs.failure = 'ENOSPC';
    destination.write('12345\n');
    destination.write('lost\n!');
    await vi.waitFor(() => expect(fs.asked).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 10));
    fs.failure = null;
    destination.flushSync();
    expect(written()).toMatch(/^12345\n\{.+"lines":1,.+\}\n$/);
  });

  it('never waits for a full disk at exit, and writes what waits if it can', async () => {
    const destination = destinationOf(descriptor);
    fs.failure = 'ENOSPC';
    destination.write('one\n');
    await vi.waitFor(() => expect(fs.asked).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 10));
    fs.failure = null;
    destination.write('two\n');
    destination.flushSync();
    expect(written()).toBe('one\ntwo\n');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(written()).toBe('one\ntwo\n');
    fs.failure = 'ENOSPC';
    destination.write('three\n');
    destination.flushSync();
    expect(written()).toBe('one\ntwo\n');
  });

  it('waits at exit for a reader that reads, however much there is, and cuts no character', async () => {
    const destination = destinationOf(descriptor);
    fs.failure = 'EAGAIN';
    const line = 'ä line, ö line, ü line\n';
    for (let n = 0; n < 50; n++) destination.write(line);
    await vi.waitFor(() => expect(fs.asked).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 10));
    fs.failure = null;
    fs.fullTimes = 2;
    destination.flushSync();
    expect(written()).toBe(line.repeat(50));
  });

  it('continues after what it could not write at exit for a reader that does not read', async () => {
    const destination = destinationOf(descriptor);
    fs.failure = 'EAGAIN';
    destination.write('äöü\n');
    await vi.waitFor(() => expect(fs.asked).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const began = performance.now();
    destination.flushSync();
    expect(performance.now() - began).toBeLessThan(5_000);
    fs.failure = null;
    await comesTo('äöü\n');
  });

  it('writes at exit what no other thread is writing, and nothing twice', async () => {
    const destination = destinationOf(descriptor);
    const line = `${'ß'.repeat(70_000)}\n`;
    fs.failure = 'EAGAIN';
    destination.write('first\n');
    destination.write(line);
    destination.write('last\n');
    fs.failure = null;
    // Another thread writes the first: what follows does not wait for it, and it is not written twice.
    destination.flushSync();
    await vi.waitFor(() => expect(written().length).toBe(line.length + 11));
    expect(
      written()
        .split('\n')
        .map((one) => one.length)
        .sort(),
    ).toEqual([0, 4, 5, 70_000]);
  });

  it('is abandoned once its reader is gone', async () => {
    const destination = destinationOf(descriptor);
    fs.failure = 'EPIPE';
    destination.write('one\n');
    await vi.waitFor(() => expect(fs.asked).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 10));
    destination.write('two\n');
    destination.flushSync();
    expect(fs.asked).toBe(1);
  });
});

describe.skipIf(!existsSync('/dev/full'))('a log on a device that is full', () => {
  it('ends no process, neither while lines arrive nor at exit', async () => {
    const descriptor = openSync('/dev/full', 'w');
    const destination = destinationOf(descriptor);
    for (let n = 0; n < 3; n++) destination.write('line\n');
    await new Promise((resolve) => setTimeout(resolve, 30));
    destination.flushSync();
    closeSync(descriptor);
  });
});
