/** What the event log survives, with the faults of the event store's stand-in. A real node cannot be made to fail. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../../src/storage/event-log.ts';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { headAfter } from '../../src/storage/prepare-append.ts';
import { ENGINES } from '../support/storage.ts';
import { freshStream, notes, textOf } from './samples.ts';

const missing =
  ENGINES.eventStore && ENGINES.eventStoreControl ? '' : ' (skipped: EVENTSTORE_CONTROL_URL of a stand-in is not set)';

/** Within this time every subscription must recover by itself. */
const BACK_WITHIN_MS = 20_000;

describe.skipIf(missing)(`faults of the event store${missing}`, () => {
  const order = async (method: string, path: string) => {
    const response = await fetch(`${ENGINES.eventStoreControl}${path}`, { method });
    if (!response.ok) throw new Error(await response.text());
  };
  const fault = (name: string) => order('POST', `/faults/${name}`);
  const mend = () => order('DELETE', '/faults');

  let log: EventLog;
  beforeEach(async () => {
    log = await openEventStore(ENGINES.eventStore);
  });
  afterEach(async () => {
    await mend();
    await log.close();
  });

  /** Follows one stream from now on and keeps what it receives. */
  async function following(stream: string) {
    const seen: string[] = [];
    const abort = new AbortController();
    let isLive: () => void = () => undefined;
    const live = new Promise<void>((resolve) => {
      isLive = resolve;
    });
    const from = await log.head();
    const ended = (async () => {
      for await (const batch of log.subscribe(from, { by: 'streams', prefixes: [stream] }, abort.signal)) {
        seen.push(...batch.events.map(textOf));
        if (batch.live) isLive();
      }
    })();
    await live;
    return {
      seen,
      /** Waits for something to arrive, and returns how long that took. */
      async until(text: string): Promise<number> {
        const began = performance.now();
        while (!seen.includes(text)) {
          if (performance.now() - began > 30_000) throw new Error(`${text} never came; ${seen.length} did`);
          await sleep(5);
        }
        return performance.now() - began;
      },
      async stop() {
        abort.abort();
        await ended;
      },
    };
  }

  /** Appends one event after the other, despite all errors, and returns what was acknowledged. */
  async function writing(stream: string, count: number, between: (index: number) => Promise<void>) {
    const written: string[] = [];
    let head = { revision: -1, hash: '' };
    for (let index = 0; index < count; index++) {
      await between(index);
      const append = notes(stream, [`event ${index}`], { head });
      await log.append(append);
      head = headAfter(append);
      written.push(`event ${index}`);
    }
    return written;
  }

  it.each([
    ['are dropped silently', 'drop-subscriptions'],
    ['are dropped as too slow', 'abort-subscriptions'],
    ['are aborted because the node is unavailable', 'abort-subscriptions?code=UNAVAILABLE&message=gone'],
    ['are cancelled by the server', 'abort-subscriptions?code=CANCELLED&message=gone'],
    ['lose their connection', 'disconnect'],
  ])('subscriptions that %s recover: nothing is lost, nothing comes twice', async (_, name) => {
    const stream = freshStream();
    const follower = await following(stream);
    let slowest = 0;
    const written = await writing(stream, 40, async (index) => {
      if (index % 10 !== 5) return;
      await fault(name);
      await sleep(20);
    });
    slowest = Math.max(slowest, await follower.until(written.at(-1) ?? ''));
    // Idle, and then an event: the subscription itself must have recovered, not a check for news.
    await fault(name);
    await sleep(500);
    expect(follower.seen).toEqual(written);
    expect(slowest).toBeLessThan(BACK_WITHIN_MS);
    await follower.stop();
  });

  it('appends, readers and subscriptions wait for a node that is away for some seconds', async () => {
    const stream = freshStream();
    const follower = await following(stream);
    await fault('unavailable');
    const appending = log.append(notes(stream, ['in the meantime']));
    const reading = log.read(stream);
    await sleep(3000);
    await mend();
    expect(await appending).toMatchObject({ revision: 0 });
    expect((await reading).length).toBeLessThanOrEqual(1);
    expect(await follower.until('in the meantime')).toBeLessThan(BACK_WITHIN_MS);
    expect(follower.seen).toEqual(['in the meantime']);
    await follower.stop();
  });

  it('and for a node that is starting', async () => {
    await fault('not-ready?count=3');
    expect(await log.append(notes(freshStream(), ['a']))).toMatchObject({ revision: 0 });
  });

  it.each([
    ['written and not answered', 'silent?written=true&count=1'],
    ['neither written nor answered', 'silent?written=false&count=1'],
    ['written and answered with a timeout', 'timeout?written=true&count=2'],
    ['not written and answered with a timeout', 'timeout?written=false&count=2'],
  ])('an append that is %s is repeated unchanged until its outcome is known', async (_, name) => {
    const stream = freshStream();
    const follower = await following(stream);
    const first = notes(stream, ['a', 'b']);
    await log.append(first);
    await fault(`${name}&stream=${stream}`);
    const append = notes(stream, ['c', 'd'], { head: headAfter(first) });
    const appended = await log.append(append);
    const events = await log.read(stream);
    expect(appended).toEqual({ revision: 3, position: events.at(-1)?.position });
    expect(events.map(textOf)).toEqual(['a', 'b', 'c', 'd']);
    await follower.until('d');
    expect(follower.seen).toEqual(['a', 'b', 'c', 'd']);
    await follower.stop();
  });

  it('an append of unknown outcome that a rival has overtaken ends as a conflict', async () => {
    const stream = freshStream();
    await fault(`silent?written=false&count=1&stream=${stream}`);
    const ours = log.append(notes(stream, ['ours'])).catch((error: unknown) => error);
    await sleep(300);
    const rival = await openEventStore(ENGINES.eventStore);
    await rival.append(notes(stream, ['rival']));
    await rival.close();
    expect(await ours).toMatchObject({ code: 'revision_conflict', expected: -1, actual: 0 });
    expect((await log.read(stream)).map(textOf)).toEqual(['rival']);
  });

  it('a lasting silence is reported as such: the outcome is unknown', async () => {
    const stream = freshStream();
    await fault(`silent?written=true&stream=${stream}`);
    const failure = await log.append(notes(stream, ['a'])).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'storage_unavailable', message: expect.stringContaining('unknown') });
    await mend();
    expect(await log.read(stream)).toHaveLength(1);
  });

  it('slow answers lose nothing and drop nothing', async () => {
    const stream = freshStream();
    const follower = await following(stream);
    await fault('slow?ms=700');
    const written = await writing(stream, 5, async () => undefined);
    expect(await follower.until(written.at(-1) ?? '')).toBeLessThan(BACK_WITHIN_MS);
    expect(follower.seen).toEqual(written);
    await follower.stop();
  });

  it('a node that redirects callers to itself as the leader is followed', async () => {
    const { hostname, port } = new URL(ENGINES.eventStore.replace(/^esdb:/, 'http:'));
    await fault(`not-leader?host=${hostname}&port=${port}&count=1`);
    expect(await log.append(notes(freshStream(), ['a']))).toMatchObject({ revision: 0 });
  });
});
