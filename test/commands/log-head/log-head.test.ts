/** What is recorded about heads, and what a process that continues the stream learns from its end. */
import { describe, expect, it } from 'vitest';
import { handle } from '../../../src/commands/handle.ts';
import { type LogHead, logHeads } from '../../../src/commands/log-head/log-head.ts';
import { loadNewestHeads, publicKeyAt } from '../../../src/commands/log-head/newest-heads.ts';
import {
  LOG_HEAD_STREAM,
  LogHeadAnchored,
  LogHeadKeyIntroduced,
  LogHeadRecorded,
} from '../../../src/events/log-head.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import type { Append, EventLog, RecordedEvent } from '../../../src/storage/event-log.ts';
import { given } from '../../given-when-then.ts';

const ROOT = 'ab'.repeat(32);
const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');

const headOver = (size: number, masterVersion = 1): LogHead => ({
  size,
  root: ROOT,
  peaks: [ROOT],
  last: { stream: 'payment-x', revision: size - 1 },
  masterVersion,
  signature: Buffer.alloc(64).toString('base64'),
});
const recordOver = (size: number, masterVersion = 1, publicKey = KEY) =>
  ({ type: 'Record', head: headOver(size, masterVersion), publicKey }) as const;
const recorded = (size: number, masterVersion = 1) => LogHeadRecorded.of(headOver(size, masterVersion));
const introduced = LogHeadKeyIntroduced.of({ masterVersion: 1, publicKey: KEY });
const anchor = {
  size: 4,
  root: ROOT,
  transaction: 'a transaction',
  slot: 9,
  blockTime: toInstant(0),
  fee: 5_000,
  by: 'ann',
};

describe('a head', () => {
  it('introduces its key before the first use, and again only when another one signs', () => {
    given(logHeads).when(recordOver(4)).then(introduced, recorded(4));
    given(logHeads, introduced, recorded(4)).when(recordOver(8)).then(recorded(8));
    given(logHeads, introduced, recorded(4))
      .when(recordOver(8, 2, OTHER_KEY))
      .then(LogHeadKeyIntroduced.of({ masterVersion: 2, publicKey: OTHER_KEY }), recorded(8, 2));
  });

  it('is not recorded unless it covers more than the one before: another node was first', () => {
    given(logHeads, introduced, recorded(8)).when(recordOver(8)).then();
    given(logHeads, introduced, recorded(8)).when(recordOver(4)).then();
  });

  it('is rejected with another key under a version that has signed', () => {
    given(logHeads, introduced, recorded(4))
      .when(recordOver(8, 1, OTHER_KEY))
      .thenRejected('another_key');
  });

  it('needs no second introduction where only the end of the stream was read', () => {
    given(logHeads, recorded(4)).when(recordOver(8)).then(recorded(8));
  });
});

describe('an anchor', () => {
  it('names a recorded head, once for each transaction', () => {
    given(logHeads, introduced, recorded(4)).when({ type: 'Anchor', anchor }).then(LogHeadAnchored.of(anchor));
    given(logHeads, introduced, recorded(4), LogHeadAnchored.of(anchor)).when({ type: 'Anchor', anchor }).then();
    given(logHeads, introduced, recorded(4), recorded(8))
      .when({ type: 'Anchor', anchor })
      .then(LogHeadAnchored.of(anchor));
  });

  it.each([
    ['before any head', []],
    ['over more than the newest head', [recorded(3)]],
    ['with another root than that head', [LogHeadRecorded.of({ ...headOver(4), root: 'cd'.repeat(32) })]],
  ])('is rejected %s', (_, history) => {
    given(logHeads, ...history)
      .when({ type: 'Anchor', anchor })
      .thenRejected('unknown_head');
  });
});

describe('the end of the stream', () => {
  /** A log of one stream that counts the events it gives out. */
  function oneStream() {
    const events: RecordedEvent[] = [];
    const read = { count: 0 };
    const log: Pick<EventLog, 'append' | 'read'> = {
      async append(append: Append) {
        for (const event of append.events) events.push({ ...event, position: String(events.length) });
        return { revision: events.length - 1, position: String(events.length - 1) };
      },
      async read(_stream, { from = 0, limit = Number.POSITIVE_INFINITY } = {}) {
        const found = events.slice(from, from + limit);
        read.count += found.length;
        return found;
      },
    };
    return { log, read };
  }

  async function write(log: Pick<EventLog, 'append' | 'read'>, sizes: readonly number[], masterVersion = 1) {
    const context = { commandId: 'c', requestId: null, correlationId: 'c', causationId: null, actor: 'test' };
    let known = await loadNewestHeads(log);
    for (const size of sizes) {
      const command = recordOver(size, masterVersion, masterVersion === 1 ? KEY : OTHER_KEY);
      const handled = await handle(
        { log, clock: { now: () => 0 } },
        logHeads,
        LOG_HEAD_STREAM,
        command,
        context,
        known,
      );
      if (!('state' in handled)) throw new Error('rejected');
      known = { ...handled, state: handled.state, head: handled.head, previous: null };
    }
  }

  it.each([0, 1, 2, 3, 63, 64, 65, 200])('reads the newest heads after %i of them', async (count) => {
    const { log } = oneStream();
    await write(
      log,
      Array.from({ length: count }, (_, index) => index + 1),
    );
    const { state, head, previous } = await loadNewestHeads(log);
    expect(state.head?.size ?? 0).toBe(count);
    expect(previous?.size ?? 0).toBe(Math.max(0, count - 1));
    // The introduction of the key is the stream's first event.
    expect(head.revision).toBe(count === 0 ? -1 : count);
  });

  it('is found although somebody gave an event a revision that doubling never reaches', async () => {
    const { log } = oneStream();
    await write(log, [1, 2, 3]);
    const written = await log.read(LOG_HEAD_STREAM);
    const events = written.map((event, index) => (index === 3 ? { ...event, revision: 2 ** 53 + 2 } : event));
    const damaged: Pick<EventLog, 'read'> = {
      read: async (_stream, { from = 0, limit = Number.POSITIVE_INFINITY } = {}) =>
        events.filter(({ revision }) => revision >= from).slice(0, limit),
    };
    const { state, head } = await loadNewestHeads(damaged);
    expect([state.head?.size, head.revision]).toEqual([2, 2]);
  });

  it('is all that is read of a long stream, and leads to the key of any head', async () => {
    const { log, read } = oneStream();
    await write(
      log,
      Array.from({ length: 900 }, (_, index) => index + 1),
    );
    await write(
      log,
      Array.from({ length: 900 }, (_, index) => index + 901),
      2,
    );
    read.count = 0;
    expect((await loadNewestHeads(log)).state.head?.size).toBe(1_800);
    expect(read.count).toBeLessThan(120);
    expect(await publicKeyAt(log, 2, 1_801)).toBe(OTHER_KEY);
    expect(await publicKeyAt(log, 1, 500)).toBe(KEY);
    expect(await publicKeyAt(log, 2, 500)).toBeNull();
  });
});
