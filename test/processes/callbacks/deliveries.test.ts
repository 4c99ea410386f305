import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { verifySignature } from '../../../src/callbacks/signature.ts';
import { delivery } from '../../../src/commands/delivery/delivery.ts';
import { handle } from '../../../src/commands/handle.ts';
import { loadSigningKeys, rotateSigningKey } from '../../../src/commands/signing-key/use.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { toMicros } from '../../../src/runtime/instant.ts';
import { ACT } from '../../commands/delivery/delivery.fixtures.ts';
import { context, type DeliveryWorld, openDeliveryWorld, START, status } from '../delivery-world.ts';

const MINUTE = 60_000_000;
const SECOND = 1_000_000;

let world: DeliveryWorld;
afterEach(() => world.close());

const until = (condition: () => Promise<void> | void) => vi.waitFor(condition, { timeout: 10_000, interval: 10 });
const attempts = (id: string, count: number) =>
  until(async () => {
    const { attempts: made, underway } = await world.stateOf(id);
    expect([made, underway]).toEqual([count, null]);
  });

describe('a callback', () => {
  it('is sent at once, signed, as it was stored, and acknowledged', async () => {
    world = await openDeliveryWorld();
    world.node();
    const id = await world.schedule({ path: '/hook?token=secret', payload: '{"answer":  "é"}' });
    await attempts(id, 1);
    expect(await world.stateOf(id)).toMatchObject({ status: 'succeeded', nextAttemptAt: null });
    const [hit] = world.received;
    expect(world.received).toHaveLength(1);
    expect(hit!.path).toBe('/hook?token=secret');
    expect(hit!.body.toString()).toMatch(/^\{"payload":\{"answer": {2}"é"\},"webhook":\{"version":"2\.0\.0",/);
    expect(JSON.parse(hit!.body.toString()).webhook).toEqual({
      version: '2.0.0',
      event_type: 'case_query_complete',
      date_created: '2026-06-01T12:00:00.000000Z',
      deprecation_date: null,
      delivery_id: id,
      idempotency_key: id,
    });
    expect(hit!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'DocketMonitor/test',
      'idempotency-key': id,
      'webhook-id': id,
      'x-service-timestamp': String(START / SECOND),
    });
    const [key] = (await loadSigningKeys(world.storage.log, 'wallet-a')).keys;
    const secret = world.masterKeys.secretOf({ wallet: 'wallet-a', ...key! });
    const signed = { headers: hit!.headers as Record<string, string>, body: hit!.body };
    for (const family of ['service', 'standard-webhooks'] as const) {
      expect(verifySignature(signed, family, [{ keyId: key!.keyId, secret }])?.keyId).toBe(key!.keyId);
    }
    // No event contains the URL, a secret or a signature.
    const events = JSON.stringify([
      ...(await world.eventsOf(id)),
      ...(await world.storage.log.read('wallet-wallet-a')),
    ]);
    for (const never of ['token', '/hook', secret, hit!.headers['x-service-signature'] as string]) {
      expect(events).not.toContain(never);
    }
  });

  it('logs one line for each attempt, with its host and no secret', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    world = await openDeliveryWorld();
    world.node('logged', { logger });
    const id = await world.schedule({ path: '/secret-path?token=geheim' });
    await attempts(id, 1);
    expect(lines.filter(({ msg }) => msg === 'delivery attempt')).toEqual([
      expect.objectContaining({
        level: 30,
        deliveryId: id,
        requestId: expect.any(String),
        host: expect.stringMatching(/:\d+$/),
        responseCode: 200,
        failureClass: null,
        ms: expect.any(Number),
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/geheim|secret-path/);
  });
  it('is retried by the duration of its attempt, wherever the wall clock was set meanwhile', async () => {
    world = await openDeliveryWorld();
    world.answer((request, response, count) => {
      if (count === 1) world.forward(4 * MINUTE);
      status(503)(request, response, count);
    });
    world.node();
    const id = await world.schedule();
    // By the clock the second attempt was due a minute ago: it is made at once, and not three minutes from now.
    await attempts(id, 2);
    const started = (await world.eventsOf(id)).filter(({ type }) => type === 'DeliveryAttemptStarted');
    const finished = (await world.eventsOf(id)).filter(({ type }) => type === 'DeliveryAttemptFinished');
    for (const [index, { data }] of finished.entries()) {
      const took = toMicros(`${data.finishedAt}`) - toMicros(`${started[index]!.data.startedAt}`);
      expect(took).toBeLessThan(10 * SECOND);
    }
  });

  it('is attempted seven times by the table of the specification, and then never again', async () => {
    world = await openDeliveryWorld();
    world.answer(status(503));
    world.node();
    const id = await world.schedule();
    await attempts(id, 1);
    const delays = [3, 9, 27, 81, 243, 729];
    for (const [index, minutes] of delays.entries()) {
      world.forward(minutes * MINUTE - 1);
      await sleep(80);
      expect(world.received, `just before attempt ${index + 2}`).toHaveLength(index + 1);
      world.forward(1);
      await attempts(id, index + 2);
    }
    expect(await world.stateOf(id)).toMatchObject({ status: 'failed', nextAttemptAt: null });
    world.forward(30 * 24 * 60 * MINUTE);
    await sleep(150);
    expect(world.received).toHaveLength(7);
    const times = world.received.map(({ at }) => at);
    expect(times.slice(1).map((at, index) => (at - times[index]!) / MINUTE)).toEqual(delays);
    expect(new Set(world.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(new Set(world.received.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([id]));
    const stamps = world.received.map(({ headers }) => Number(headers['x-service-timestamp']) * SECOND);
    expect(stamps).toEqual(times);
    await until(async () => {
      expect(await world.recordOf(id)).toMatchObject({ status: 'failed', attempts: 7, lastResponseCode: 503 });
    });
    expect((await world.recordOf(id))!.attemptLog.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('waits as long as Retry-After asks for, at most twice its schedule', async () => {
    world = await openDeliveryWorld();
    world.answer(status(429, { 'retry-after': '86400' }));
    world.node();
    const id = await world.schedule();
    await attempts(id, 1);
    const { nextAttemptAt } = await world.stateOf(id);
    expect(toMicros(nextAttemptAt!) - START).toBe(6 * MINUTE);
  });

  it('is signed with the new key from the first second of a rotation, together with the old one', async () => {
    world = await openDeliveryWorld();
    world.node();
    await attempts(await world.schedule(), 1);
    const ports = { ...world.storage, clock: world.clock };
    await rotateSigningKey(ports, 'wallet-a', { keyId: 'the-new-one', masterVersion: 1 }, context());
    await attempts(await world.schedule(), 1);
    const { headers } = world.received.at(-1)!;
    expect(headers['x-service-signature-key-id']).toBe('the-new-one');
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
    world.forward(30 * MINUTE);
    await attempts(await world.schedule(), 1);
    expect(String(world.received.at(-1)!.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it('is signed with the new key alone if the old one cannot sign here', async () => {
    world = await openDeliveryWorld();
    const ports = { ...world.storage, clock: world.clock };
    // Made with a master key that is lost.
    await rotateSigningKey(ports, 'wallet-a', { keyId: 'the-old-one', masterVersion: 9 }, context());
    await rotateSigningKey(ports, 'wallet-a', { keyId: 'the-new-one', masterVersion: 1 }, context());
    world.node();
    await attempts(await world.schedule(), 1);
    const { headers } = world.received.at(-1)!;
    expect(headers['x-service-signature-key-id']).toBe('the-new-one');
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it('whose content was withdrawn is not sent, and says so', async () => {
    world = await openDeliveryWorld();
    world.answer(status(500));
    world.node();
    const id = await world.schedule();
    await attempts(id, 1);
    const { facts } = await world.stateOf(id);
    const replacement = await world.storage.payloads.put('docket', Buffer.from('{}'));
    await world.storage.payloads.remove(facts.envelope!, replacement);
    world.forward(3 * MINUTE);
    await until(async () => expect((await world.stateOf(id)).status).toBe('failed'));
    expect(world.received).toHaveLength(1);
    await until(async () => {
      expect((await world.recordOf(id))?.attemptLog.at(-1)?.failureClass).toBe('content_withdrawn');
    });
  });

  it.each(['envelope', 'target'] as const)(
    'whose %s is damaged fails by the schedule, says so, and is sent once the bytes are restored',
    async (damaged) => {
      world = await openDeliveryWorld();
      const id = await world.schedule();
      const { facts } = await world.stateOf(id);
      await world.storage.damage(facts[damaged]!);
      world.node();
      await attempts(id, 1);
      expect(await world.stateOf(id)).toMatchObject({ status: 'retrying' });
      await until(async () => {
        expect((await world.recordOf(id))?.attemptLog.at(-1)).toMatchObject({
          failureClass: 'content_damaged',
          responseCode: null,
        });
      });
      // Not before its time: no delivery is checked repeatedly.
      world.forward(3 * MINUTE - 1);
      await sleep(100);
      expect((await world.stateOf(id)).attempts).toBe(1);
      await world.storage.damage(facts[damaged]!);
      world.forward(1);
      await attempts(id, 2);
      expect(await world.stateOf(id)).toMatchObject({ status: 'succeeded' });
      expect(world.received.map(({ path }) => path)).toEqual(['/ok']);
    },
  );

  it('whose envelope stays damaged has failed after seven attempts', async () => {
    world = await openDeliveryWorld();
    const id = await world.schedule();
    await world.storage.damage((await world.stateOf(id)).facts.envelope!);
    world.node();
    await attempts(id, 1);
    for (const [index, minutes] of [3, 9, 27, 81, 243, 729].entries()) {
      world.forward(minutes * MINUTE);
      await attempts(id, index + 2);
    }
    world.forward(24 * 60 * MINUTE);
    await sleep(100);
    expect(await world.stateOf(id)).toMatchObject({ status: 'failed', attempts: 7, nextAttemptAt: null });
    expect(world.received).toHaveLength(0);
  });

  it('to an invalid URL fails with a reason, on schedule', async () => {
    world = await openDeliveryWorld();
    world.node();
    const id = await world.schedule({ url: 'not a url' });
    await attempts(id, 1);
    expect(await world.stateOf(id)).toMatchObject({ status: 'retrying' });
    const [, , finished] = await world.eventsOf(id);
    expect(finished!.data).toMatchObject({ outcome: 'failed', failureClass: 'url_not_allowed', responseCode: null });
  });

  it("is redelivered at an operator's request, during the running schedule, with the same bytes", async () => {
    world = await openDeliveryWorld();
    world.answer(status(500));
    world.node();
    const id = await world.schedule();
    await attempts(id, 1);
    world.answer(status(200));
    world.forward(MINUTE);
    const command = { type: 'RequestRedelivery', now: world.clock.now(), ...ACT } as const;
    const ports = { ...world.storage, clock: world.clock };
    await handle(ports, delivery, deliveryStream(id), command, context());
    await until(async () => expect((await world.stateOf(id)).status).toBe('succeeded'));
    expect(world.received.map(({ body }) => body.toString()).every((body, _, [first]) => body === first)).toBe(true);
    await until(async () => {
      expect(await world.recordOf(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    });
    expect((await world.recordOf(id))!.attemptLog.map(({ attempt, redelivery }) => [attempt, redelivery])).toEqual([
      [1, false],
      [1, true],
    ]);
  });
});

describe('a service that stops', () => {
  it('lets attempts end, and records the others as interrupted; the next service repeats them', async () => {
    world = await openDeliveryWorld();
    world.answer((_, response, count) => {
      if (count > 1) response.writeHead(200).end();
    });
    const first = world.node();
    const id = await world.schedule();
    await until(() => expect(world.received).toHaveLength(1));
    await first.stop();
    expect(await world.stateOf(id)).toMatchObject({ status: 'pending', attempts: 0, interruptions: 1, underway: null });
    world.node();
    await attempts(id, 1);
    expect(await world.stateOf(id)).toMatchObject({ status: 'succeeded' });
    expect(world.received).toHaveLength(2);
    await until(async () => {
      expect(
        (await world.recordOf(id))?.attemptLog.map(({ attempt, failureClass }) => [attempt, failureClass]),
      ).toEqual([
        [1, 'interrupted'],
        [1, null],
      ]);
    });
  });

  it('and never returns is taken over when the lease of its attempt has ended, not before', async () => {
    world = await openDeliveryWorld();
    const id = await world.schedule();
    const command = { type: 'StartAttempt', now: START, keyId: 'k', owner: 'a-node-elsewhere' } as const;
    await handle({ ...world.storage, clock: world.clock }, delivery, deliveryStream(id), command, context());
    world.node();
    await sleep(150);
    expect(world.received).toHaveLength(0);
    world.forward(60 * SECOND);
    await attempts(id, 1);
    expect((await world.eventsOf(id)).map(({ type, data }) => [type, data.outcome])).toEqual([
      ['DeliveryScheduled', undefined],
      ['DeliveryAttemptStarted', undefined],
      ['DeliveryAttemptFinished', 'interrupted'],
      ['DeliveryAttemptStarted', undefined],
      ['DeliveryAttemptFinished', 'acknowledged'],
    ]);
  });

  it('finds what became due meanwhile, a single delivery at once and many one after the other', async () => {
    world = await openDeliveryWorld();
    world.answer(status(500));
    const first = world.node();
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => world.schedule({ wallet: `wallet-${i}` })));
    for (const id of ids) await attempts(id, 1);
    await until(async () => expect((await world.recordOf(ids.at(-1)!))?.attempts).toBe(1));
    await first.stop();
    world.forward(10 * 60 * MINUTE);
    world.answer(status(200));
    // Its clock stands still, so an overdue attempt that is spread never comes, and the first comes at once.
    world.node();
    await until(() => expect(world.received).toHaveLength(13));
    await sleep(150);
    expect(world.received).toHaveLength(13);
    // Each is spread from when it is found, and on a slow machine some are found later than others.
    await until(() => {
      world.forward(10_000);
      expect(world.received).toHaveLength(24);
    });
  });
});

describe('several nodes', () => {
  it('share the wallets, and make each attempt once', async () => {
    world = await openDeliveryWorld();
    const [a, b] = [world.node('a'), world.node('b')];
    const made = { a: 0, b: 0 };
    let scheduled = 0;
    const wave = async () => {
      const wallets = Array.from({ length: 20 }, () => `wallet-${scheduled++}`);
      const ids = await Promise.all(wallets.map((wallet) => world.schedule({ wallet })));
      for (const id of ids) {
        await attempts(id, 1);
        made[(await world.eventsOf(id))[1]!.data.owner as 'a' | 'b']++;
      }
      expect(world.received).toHaveLength(scheduled);
    };
    // When the second node gets its share depends on the machine.
    for (let waves = 0; waves < 30 && Math.min(made.a, made.b) <= 15; waves++) await wave();
    expect(Math.min(made.a, made.b)).toBeGreaterThan(15);
    await b.stop();
    const { b: before } = made;
    await wave();
    expect(made.b).toBe(before);
    await a.stop();
  });
});

describe('a slow receiver', () => {
  it('delays no other receiver, and gets at most eight attempts at once', async () => {
    world = await openDeliveryWorld();
    const slow: (() => void)[] = [];
    world.answer((request, response) => {
      if (request.url === '/slow') slow.push(() => response.writeHead(200).end());
      else response.writeHead(200).end();
    });
    world.node('n', { limits: { total: 256, perOrigin: 8, perWallet: 6, waiting: 1_000 } });
    // One origin, and wallets that have sent it more than it accepts.
    const wallets = Array.from({ length: 4 }, (_, i) => `slow-${i}`);
    const ids = await Promise.all(
      wallets.flatMap((wallet) => Array.from({ length: 5 }, () => world.schedule({ wallet, path: '/slow' }))),
    );
    await until(() => expect(slow).toHaveLength(8));
    await sleep(100);
    expect(slow).toHaveLength(8);
    const other = await world.schedule({ wallet: 'other', url: 'http://no-such-host.invalid/x' });
    await attempts(other, 1);
    for (let answered = 0; answered < ids.length; answered++) {
      await until(() => expect(slow.length).toBeGreaterThan(0));
      slow.shift()!();
    }
    for (const id of ids) await attempts(id, 1);
  });
});
