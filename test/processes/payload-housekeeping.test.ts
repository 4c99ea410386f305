/** What no wall clock may cause alone, since removed content cannot be restored. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentStream } from '../../src/events/content.ts';
import { type DeliveryEvent, DeliveryScheduled, deliveryStream } from '../../src/events/delivery.ts';
import { PaymentFailed, QueryAnswered } from '../../src/events/payment.ts';
import { sourceStream, WebhookApplied, WebhookReceived } from '../../src/events/source.ts';
import { createPayloadHousekeeping } from '../../src/processes/payload-housekeeping.ts';
import { deliveries } from '../../src/projections/deliveries.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { createProjectionRunner, ProjectionHalted } from '../../src/projections/runner.ts';
import { type Clock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import type { PayloadStore } from '../../src/storage/payload-store.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import { acknowledged, facts, finished, requested, started } from '../commands/delivery/delivery.fixtures.ts';
import { answer, authorized, expired, submitted } from '../commands/payment/payment.fixtures.ts';
import { openTestStorage, type TestStorage } from '../support/storage.ts';

const MINUTE = 60_000_000;
const DAY = 24 * 60 * MINUTE;
const START = 1_800_000_000_000_000;

let directory: string;
let storage: TestStorage;
/** The current time. */
let time: number;
beforeEach(async () => {
  time = START;
  directory = await mkdtemp(join(tmpdir(), 'housekeeping-'));
  storage = await openTestStorage(directory, { now: () => time });
});
afterEach(async () => {
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

/** A node whose wall clock is wrong by `off`, in microseconds. */
function node(off = 0) {
  const wall = { off };
  const clock: Clock = { now: () => time + wall.off };
  const steady: Clock = { now: () => time - START };
  const housekeeping = createPayloadHousekeeping({
    ...storage,
    logger: pino({ level: 'silent' }),
    owner: `node-${off}`,
    clock,
    steady,
  });
  return { wall, clock, round: () => project().then(() => housekeeping.round()) };
}

/** Brings the read model of callbacks up to date, as a service does. */
async function projectAll(): Promise<void> {
  const options = { ...storage, clock: { now: () => time }, logger: pino({ level: 'silent' }), owner: 'projections' };
  const runner = createProjectionRunner({ ...options, projections: [deliveries as unknown as Projection] });
  // Housekeeping goes on while it is halted.
  await runner.catchUp().catch((error: unknown) => {
    if (!(error instanceof ProjectionHalted)) throw error;
  });
}

let project = projectAll;

let count = 0;
/** The URL of the callback that was promised with an answer. */
const targets = new Map<string, string>();
/** A payment that was answered, and then failed unless it is left open, by the clock of the node that records it. */
async function sold(clock: Clock, outcome: 'failed' | 'open' = 'open'): Promise<string> {
  const number = `${++count}`.padStart(64, '0');
  const sealed = await storage.payloads.seal('answer', Buffer.from(`{"answer":${count}}`));
  const target = await storage.payloads.seal('target', Buffer.from(`https://r.example/${count}`));
  const deliveryId = `00000000-0000-4000-8000-${number.slice(-12)}`;
  const callbacks = [{ deliveryId, target: target.name, origin: 'https://r.example', result: null }];
  targets.set(sealed.name, target.name);
  const events = [authorized, QueryAnswered.of({ ...answer, answer: sealed.name, callbacks }), submitted];
  const context = {
    commandId: `sale-${count}`,
    requestId: null,
    correlationId: 'sale',
    causationId: null,
    actor: 'http',
  };
  const append = prepareAppend({
    stream: `payment-${number}`,
    head: NO_STREAM,
    events: outcome === 'failed' ? [...events, PaymentFailed.of(expired.data)] : events,
    context,
    recordedAt: toInstant(clock.now()),
  });
  await storage.log.append({ ...append, payloads: [sealed, target] });
  return sealed.name;
}

/** A callback of the time `at` with these outcomes, one second after another; its envelope's name. */
async function called(outcomes: readonly ('ok' | 'failed' | 'asked' | 'ok again' | 'failed again')[], at = time) {
  const deliveryId = `00000000-0000-4000-9000-${`${++count}`.padStart(12, '0')}`;
  const [target, envelope] = [
    await storage.payloads.put('target', Buffer.from('https://r.example/hook')),
    await storage.payloads.put('envelope', Buffer.from(`{"payload":${count}}`)),
  ];
  const of = { ...facts, deliveryId, target, envelope, createdAt: toInstant(at), keepUntil: toInstant(at + 40 * DAY) };
  const again = { redelivery: true } as const;
  const eventsOf = {
    ok: [started(1, at), acknowledged(1, at)],
    failed: [started(1, at), finished(1, at, null)],
    asked: [requested(1, at)],
    'ok again': [started(1, at, again), acknowledged(1, at, again)],
    'failed again': [started(1, at, again), finished(1, at, null, again)],
  };
  const events = outcomes.flatMap((outcome): readonly DeliveryEvent[] => eventsOf[outcome]);
  const stream = deliveryStream(deliveryId);
  const context = { commandId: deliveryId, requestId: null, correlationId: 'c', causationId: null, actor: 'test' };
  const all = [DeliveryScheduled.of(of), ...events];
  await storage.log.append(prepareAppend({ stream, head: NO_STREAM, events: all, context, recordedAt: toInstant(at) }));
  return { target, envelope, stream };
}

const recordedRemovals = (name: string) => storage.log.read(contentStream(name));
const isKept = async (name: string): Promise<boolean> => (await storage.payloads.get(name)) !== null;
const right: Clock = { now: () => time };

async function minutes(count: number, each: () => Promise<unknown>): Promise<void> {
  for (let minute = 0; minute < count; minute += 5) {
    time += 5 * MINUTE;
    await each();
  }
}

it('removes an answer 30 days after it was given, once something is recorded then', async () => {
  const kept = node();
  const name = await sold(right);
  await kept.round();
  time += 29 * DAY;
  await sold(right);
  expect(await kept.round()).toEqual({ unpaid: 0, expired: 0, delivered: 0, forgotten: 0 });
  time += 2 * DAY;
  await sold(right);
  expect(await kept.round()).toEqual({ unpaid: 0, expired: 1, delivered: 0, forgotten: 0 });
  expect(await isKept(name)).toBe(false);
});

it('removes nothing because of a clock that is set 31 days ahead, even if only that node records events', async () => {
  const name = await sold(right);
  const wrong = node();
  await wrong.round();
  await sold(wrong.clock);
  await wrong.round();
  wrong.wall.off = 31 * DAY;
  await minutes(150, async () => {
    await sold(wrong.clock);
    expect(await wrong.round()).toMatchObject({ expired: 0 });
  });
  expect(await isKept(name)).toBe(true);
});

it('removes nothing on a node that was started with such a clock, while another node records the right time', async () => {
  const name = await sold(right);
  const wrong = node(31 * DAY);
  await wrong.round();
  await minutes(150, async () => {
    await sold(wrong.clock);
    await sold(right);
    await wrong.round();
    await sold(wrong.clock);
    await wrong.round();
  });
  expect(await isKept(name)).toBe(true);
});

it('removes what a failed payment did not pay for 70 minutes later, by the steady clock', async () => {
  const kept = node();
  await kept.round();
  const name = await sold(right, 'failed');
  await kept.round();
  kept.wall.off = 71 * MINUTE;
  await minutes(65, async () => {
    await kept.round();
    expect(await isKept(name)).toBe(true);
  });
  await minutes(10, kept.round);
  expect(await isKept(name)).toBe(false);
});

it('records each removal of unpaid content once and before it, even if it was interrupted in between', async () => {
  const failures = [new Error('killed'), new Error('killed')];
  const remove = storage.payloads.remove.bind(storage.payloads);
  const removing: PayloadStore['remove'] = async (name) => {
    expect(await recordedRemovals(name), 'the removal is recorded before it happens').toHaveLength(1);
    const failure = failures.pop();
    if (failure) throw failure;
    return remove(name);
  };
  Object.assign(storage.payloads, { remove: removing });
  const kept = node();
  await kept.round();
  const name = await sold(right, 'failed');
  await minutes(100, () => kept.round().catch(() => undefined));
  expect(failures).toEqual([]);
  for (const gone of [name, targets.get(name)!]) {
    expect(await isKept(gone)).toBe(false);
    expect(await recordedRemovals(gone)).toMatchObject([
      {
        data: {
          name: gone,
          replacement: null,
          stream: `payment-${`${count}`.padStart(64, '0')}`,
          revision: 1,
          by: 'payload-housekeeping',
          reason: 'its payment failed',
        },
        metadata: { actor: 'payload-housekeeping' },
      },
    ]);
  }
});

it('records nothing where content expired, or where an operator has already removed it by record', async () => {
  const kept = node();
  await kept.round();
  const [expiring, withdrawn] = [await sold(right), await sold(right, 'failed')];
  const other = await storage.payloads.put('answer', Buffer.from('{}'));
  await storage.payloads.remove(withdrawn, other);
  await minutes(80, kept.round);
  time += 31 * DAY;
  await sold(right);
  await kept.round();
  expect(await isKept(expiring)).toBe(false);
  expect([await recordedRemovals(expiring), await recordedRemovals(withdrawn)]).toEqual([[], []]);
});

it('removes it for every failure, also for one that was recorded with an earlier time than another', async () => {
  const kept = node();
  await kept.round();
  const first = await sold({ now: () => time + DAY }, 'failed');
  await minutes(80, kept.round);
  expect(await isKept(first)).toBe(false);
  const second = await sold({ now: () => time - DAY }, 'failed');
  const open = await sold(right);
  await minutes(80, kept.round);
  expect([await isKept(second), await isKept(open)]).toEqual([false, true]);
});

describe('the envelope of a callback', () => {
  /** Rounds of a new node that has seen an event of the present. */
  async function roundNow() {
    const kept = node();
    await kept.round();
    await sold(right);
    return kept.round();
  }

  it('goes 7 days after its acknowledgement, and the URL stays', async () => {
    const { envelope, target } = await called(['ok']);
    time += 7 * DAY;
    expect(await roundNow()).toMatchObject({ delivered: 0 });
    time += 15 * MINUTE;
    expect(await roundNow()).toMatchObject({ delivered: 1 });
    expect([await isKept(envelope), await isKept(target)]).toEqual([false, true]);
    expect(await recordedRemovals(envelope)).toEqual([]);
    expect(await roundNow()).toMatchObject({ delivered: 0 });
  });

  it('stays for 40 days after a failure, so that an operator can send it again; then the URL goes too', async () => {
    const { envelope, target } = await called(['failed']);
    time += 39 * DAY;
    await roundNow();
    expect(await isKept(envelope)).toBe(true);
    time += 1 * DAY + 15 * MINUTE;
    await roundNow();
    expect([await isKept(envelope), await isKept(target)]).toEqual([false, true]);
    time += 2 * DAY;
    await roundNow();
    expect(await isKept(target)).toBe(false);
  });

  it('stays with its URL as long as it may still be sent, as at a paused host, and so does what is younger', async () => {
    const open = await called([]);
    time += DAY;
    const other = await called(['failed']);
    time += 50 * DAY;
    await roundNow();
    for (const { envelope, target } of [open, other])
      expect([await isKept(envelope), await isKept(target)]).toEqual([true, true]);

    const [scheduledEvent] = await storage.log.read(open.stream);
    const context = { commandId: 'end', requestId: null, correlationId: 'c', causationId: null, actor: 'test' };
    const head = { revision: 0, hash: scheduledEvent!.metadata.hash };
    const events = [started(1, time), finished(1, time, null)];
    await storage.log.append(
      prepareAppend({ stream: open.stream, head, events, context, recordedAt: toInstant(time) }),
    );
    await roundNow();
    for (const { envelope, target } of [open, other])
      expect([await isKept(envelope), await isKept(target)]).toEqual([false, false]);
  });

  it('stays while the read model of callbacks is too far behind to show which are open', async () => {
    const { envelope, target } = await called(['failed']);
    time += 50 * DAY;
    project = async () => undefined;
    await roundNow().finally(() => {
      project = projectAll;
    });
    expect([await isKept(envelope), await isKept(target)]).toEqual([true, true]);
    await roundNow();
    expect([await isKept(envelope), await isKept(target)]).toEqual([false, false]);
  });

  it('stays while a redelivery has no outcome, and goes 7 days after the last attempt', async () => {
    const asked = await called(['ok', 'asked']);
    const again = [await called(['failed', 'asked', 'ok again']), await called(['ok', 'asked', 'failed again'])];
    const failed = await called(['failed', 'asked', 'failed again']);
    time += 7 * DAY + 15 * MINUTE;
    expect(await roundNow()).toMatchObject({ delivered: 2 });
    expect(await Promise.all(again.map(({ envelope }) => isKept(envelope)))).toEqual([false, false]);
    expect([await isKept(asked.envelope), await isKept(failed.envelope)]).toEqual([true, true]);
  });

  it('is removed once, whichever node is killed or overtaken in between', async () => {
    const made = [];
    for (let index = 0; index < 5; index++) made.push(await called(['ok']));
    time += 7 * DAY + 15 * MINUTE;
    const remove = storage.payloads.remove.bind(storage.payloads);
    const failures = [new Error('killed'), new Error('killed')];
    const removing: PayloadStore['remove'] = async (name) => {
      await remove(name);
      const failure = failures.pop();
      if (failure) throw failure;
    };
    Object.assign(storage.payloads, { remove: removing });
    const nodes = [node(), node(1)];
    for (const one of nodes) await one.round();
    await sold(right);
    for (let round = 0; round < 3; round++) {
      await Promise.all(nodes.map((one) => one.round().catch(() => undefined)));
    }
    expect(failures).toEqual([]);
    expect(await Promise.all(made.map(({ envelope }) => isKept(envelope)))).toEqual(made.map(() => false));
  });

  it('of one delivery is removed though another one is damaged, and another program uses the name of its event', async () => {
    const context = { commandId: 'foreign', requestId: null, correlationId: 'c', causationId: null, actor: 'test' };
    const foreign = { type: 'DeliveryAttemptFinished', data: { finishedAt: 'never' } };
    const damaged = `delivery-00000000-0000-4000-9000-${'f'.repeat(12)}`;
    for (const stream of ['delivery-17', damaged]) {
      const events = [acknowledged(1, time)];
      const append = prepareAppend({ stream, head: NO_STREAM, events, context, recordedAt: toInstant(time) });
      const prepared = append.events.map((event) =>
        stream === damaged ? { ...event, data: { ...event.data, attempt: 'one' } } : { ...event, ...foreign },
      );
      await storage.log.append({ ...append, events: prepared });
    }
    const { envelope } = await called(['ok']);
    time += 7 * DAY + 15 * MINUTE;
    await roundNow();
    expect(await isKept(envelope)).toBe(false);
  });

  it('is not removed because of a clock that is set ahead', async () => {
    const { envelope } = await called(['ok']);
    const wrong = node();
    await wrong.round();
    await sold(wrong.clock);
    wrong.wall.off = 8 * DAY;
    await minutes(60, async () => {
      await sold(wrong.clock);
      expect(await wrong.round()).toMatchObject({ delivered: 0 });
    });
    expect(await isKept(envelope)).toBe(true);
  });
});

it('removes the content of a pushed message once it is applied, or if no event names it, and never while it waits', async () => {
  const contentOf = async (key: string, then: 'orphan' | 'waits' | 'applied'): Promise<string> => {
    const keyHash = key.repeat(64);
    const sealed = await storage.payloads.seal('pushed', Buffer.from(JSON.stringify({ keyHash, kind: 'entries' })));
    const data = { source: 'courtlistener', keyHash, eventType: 1, content: sealed.name } as const;
    const received = WebhookReceived.of({ ...data, receivedAt: toInstant(time) });
    const applied = WebhookApplied.of({ source: 'courtlistener', keyHash, outcome: 'unchanged' });
    const append = prepareAppend({
      stream: sourceStream.webhook('courtlistener', keyHash),
      head: NO_STREAM,
      events: then === 'applied' ? [received, applied] : [received],
      context: { commandId: key, requestId: null, correlationId: key, causationId: null, actor: 'http' },
      recordedAt: toInstant(time),
    });
    if (then === 'orphan') await storage.payloads.store(sealed);
    else await storage.log.append({ ...append, payloads: [sealed] });
    return sealed.name;
  };
  const names = [await contentOf('a', 'orphan'), await contentOf('b', 'waits'), await contentOf('c', 'applied')];
  const kept = node();
  await kept.round();
  expect(await Promise.all(names.map(isKept))).toEqual([true, true, true]);
  for (const days of [1, 60]) {
    time += days * DAY;
    await sold(right);
    await kept.round();
    expect(await Promise.all(names.map(isKept))).toEqual([false, true, false]);
  }
});
