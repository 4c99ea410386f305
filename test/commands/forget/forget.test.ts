/**
 * Given stored answers, callbacks and dockets,
 * when an operator orders to forget a URL, a wallet or a docket,
 * then all of its content is gone by record, everything else stays, and a killed run is completed by any other.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMasterKeys } from '../../../src/callbacks/master-keys.ts';
import { delivery } from '../../../src/commands/delivery/delivery.ts';
import { scheduleOwed } from '../../../src/commands/delivery/owed.ts';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { carryOut, type ForgettingPorts, giveOrder, openOrders } from '../../../src/commands/forget/forget.ts';
import { type Preview, previewOf } from '../../../src/commands/forget/preview.ts';
import { load } from '../../../src/commands/handle.ts';
import type { Purchase } from '../../../src/commands/payment/payment.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { FORGET_STREAM, type ForgetSubject } from '../../../src/events/forget.ts';
import { attendDelivery } from '../../../src/processes/callbacks/attempt.ts';
import { contentsOf } from '../../../src/processes/callbacks/contents.ts';
import { completeOrders } from '../../../src/processes/forgetting.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { resolveIntact } from '../../../src/storage/intact-payloads.ts';
import { bodyOf, contextOf, court, openWorld, overriding, type World } from '../../dockets/world.ts';
import { ADA, BOB, HOOK, sell } from './sold.ts';

const CASE = '1:24-cv-07304';
const OTHER_CASE = '1:24-cv-00009';
const SECRET = 'the informant Xaver Quillfeder';
const docket = (number = CASE, text = `NOTICE naming ${SECRET}`) => ({
  court_id: 'dcd',
  docket_number: number,
  case_name: number === CASE ? 'Quillfeder v. Muster' : 'Beispiel v. Muster',
  date_filed: '2024-02-01',
  docket_entries: [text, 'ORDER setting a hearing'].map((description, index) => ({
    document_number: String(index + 1),
    date_filed: '2024-02-01',
    date_entered: '2024-02-01',
    description,
  })),
});

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const masterKeys = readMasterKeys(`1:${'5a'.repeat(32)}`);
const act = { by: 'J. Muster', reason: 'order of 2 March' };
const portsOf = (): ForgettingPorts => ({
  ...world.storage,
  clock: world.clock,
  untilQueriesEnded: (upTo) => world.ports.waitUntilProjected!(upTo),
});
const ordered = async (subject: ForgetSubject) => {
  const order = { forgetId: randomUUID(), subject, ...act };
  await giveOrder(portsOf(), order);
  return order;
};
const urlSubject = async (url = HOOK): Promise<ForgetSubject> => ({
  kind: 'callback_url',
  target: await world.storage.payloads.put('target', Buffer.from(url)),
  origin: 'https://receiver.example',
});
const isKept = async (name: string | null): Promise<boolean> =>
  name !== null && (await world.storage.payloads.get(name)) !== null;
const sold = (body: object | string, sale: Parameters<typeof sell>[3] = {}) =>
  sell(world.storage, world.clock, body, sale);

async function redactions() {
  const found = [];
  for await (const { events } of world.storage.log.readAll(null, { by: 'types', types: ['ContentRedacted'] }))
    found.push(...events);
  return found.map(({ data }) => data);
}
/** Everything that is stored, under whichever name, as text. */
async function everything(): Promise<string> {
  const { payloads } = world.storage;
  let all = '';
  for (const kind of ['docket', 'answer', 'target', 'envelope'] as const) {
    for await (const { name } of payloads.list(kind, '9999-01-01T00:00:00.000000Z')) all += await payloads.get(name);
  }
  return all;
}

describe('a forgotten callback URL', () => {
  it('goes with what was to be sent to it, and its open callbacks end as content_withdrawn', async () => {
    const sale = await sold({ case: 1 }, { urls: [HOOK, 'https://receiver.example/other'] });
    const elsewhere = await sold({ case: 2 }, { urls: ['https://another.example/hook'] });
    const unscheduled = await sold({ case: 3 }, { isScheduled: false });
    const order = await ordered(await urlSubject('https://receiver.example:443/hook?token=s3cr3t-7d1f'));
    expect(await carryOut(portsOf(), order)).toEqual({ docket: 0, answer: 0, target: 3, envelope: 1 });

    expect(await everything()).not.toContain('s3cr3t-7d1f');
    const [gone, kept] = sale.deliveries;
    expect(await contentsOf(world.storage.payloads, { facts: gone! })).toMatchObject({
      unsent: { failureClass: 'content_withdrawn' },
    });
    for (const facts of [kept!, elsewhere.deliveries[0]!]) {
      expect(await contentsOf(world.storage.payloads, { facts })).toHaveProperty('url');
    }
    for (const { answer } of [sale, elsewhere, unscheduled]) expect(await isKept(answer)).toBe(true);
    for (const { by, reason, forget } of await redactions()) {
      expect({ by, reason, forget }).toMatchObject({ ...act, forget: { forgetId: order.forgetId } });
    }
  });

  it('is in no event, and nothing is scheduled to it for a sale before the order', async () => {
    const { payment, stream, callbacks } = await sold({ case: 1 }, { isScheduled: false });
    const order = await ordered(await urlSubject());
    await carryOut(portsOf(), order);
    const [authorization, answer] = (await world.storage.log.read(stream)).map(({ data }) => data);
    const purchase = { authorization, answer } as unknown as Purchase;
    await scheduleOwed({ ...world.storage, clock: world.clock }, payment, purchase, contextOf());
    const [scheduled] = await world.storage.log.read(deliveryStream(callbacks[0]!.deliveryId));
    expect(scheduled?.data).toMatchObject({ envelope: null });
    for await (const { events } of world.storage.log.readAll(null, { by: 'all' })) {
      expect(JSON.stringify(events)).not.toContain('s3cr3t-7d1f');
    }
  });

  it('may be named again by a later sale, which no continued order touches', async () => {
    const order = await ordered(await urlSubject());
    const later = await sold({ case: 1 });
    await carryOut(portsOf(), order);
    expect(await contentsOf(world.storage.payloads, { facts: later.deliveries[0]! })).toHaveProperty('url', HOOK);
  });
});

describe('a forgotten wallet', () => {
  it('leaves its payments without content, and no other wallet loses anything', async () => {
    const [own, others] = [await sold({ of: 'ada' }), await sold({ of: 'bob' }, { wallet: BOB })];
    const order = await ordered({ kind: 'wallet', wallet: ADA });
    expect(await carryOut(portsOf(), order)).toEqual({ docket: 0, answer: 1, target: 1, envelope: 1 });
    for (const name of [own.answer, own.callbacks[0]!.target, own.deliveries[0]!.envelope])
      expect(await isKept(name)).toBe(false);
    for (const name of [others.answer, others.callbacks[0]!.target, others.deliveries[0]!.envelope])
      expect(await isKept(name)).toBe(true);
    expect(await world.storage.log.read(own.stream)).toHaveLength(2);
  });

  it('goes with an answer whose text was replaced before', async () => {
    const own = await sold({ of: 'ada' });
    const replacement = await world.storage.payloads.put('answer', Buffer.from('{"of":"ada, without a text"}'));
    await world.storage.payloads.remove(own.answer, replacement);
    await carryOut(portsOf(), await ordered({ kind: 'wallet', wallet: ADA }));
    expect(await isKept(own.answer)).toBe(false);
  });
});

describe('a forgotten docket', () => {
  let stream: string;
  const full = async (number = CASE) => bodyOf(await world.ask('dcd', number, { context: 'full' }));
  const queried = () =>
    world.queries.answerCase({
      ...{ court: court('dcd'), courtCode: 'dcd', caseId: CASE, lastChecked: null, since: null },
      ...{ context: 'full', language: null, filingTypes: null },
    });
  beforeEach(async () => {
    ({ stream } = await world.ingest(docket()));
    await world.ingest(docket(OTHER_CASE, 'COMPLAINT'));
  });

  it('is unknown from then on, in no read model, answer or callback, and others stay as they are', async () => {
    const own = await sold(await full());
    const monitored = await sold({ case_id: CASE, court_code: 'dcd', changed: false }, { urls: [] });
    const batch = await sold({
      results: [CASE, OTHER_CASE].map((number) => ({ case_id: number, court_code: 'dcd', status: 'success' })),
    });
    const inBatch = await sold(
      {
        results: [
          { case_id: CASE, court_code: 'dcd', status: 'success', response: await full() },
          { case_id: OTHER_CASE, court_code: 'dcd', status: 'success', response: await full(OTHER_CASE) },
        ],
      },
      { urls: [] },
    );
    const other = await sold(await full(OTHER_CASE));
    const before = await full(OTHER_CASE);
    const order = await ordered({ kind: 'docket', docket: stream });
    expect(await carryOut(portsOf(), order)).toEqual({ docket: 2, answer: 4, target: 0, envelope: 2 });

    expect(await everything()).not.toMatch(/Quillfeder/);
    expect(await queried()).toMatchObject({ problem: 'case_not_found', details: { candidates: [] } });
    const { readStore } = world.storage;
    for (const collection of ['filings', 'case-parties', 'case-numbers', 'cases']) {
      const documents = await readStore.find({ collection, limit: 100 });
      expect(JSON.stringify(documents)).not.toMatch(/Quillfeder|07304|NOTICE/);
    }
    expect(await full(OTHER_CASE)).toEqual(before);
    expect([await isKept(own.answer), await isKept(monitored.answer), await isKept(other.answer)]).toEqual([
      false,
      false,
      true,
    ]);
    const left = JSON.parse(String(await world.storage.payloads.get(inBatch.answer)));
    expect(left.results).toMatchObject([
      { case_id: CASE, status: 'error', error: { code: 'result_gone' } },
      { case_id: OTHER_CASE, status: 'success', response: { case: { case_number: OTHER_CASE } } },
    ]);
    expect(await isKept(batch.answer)).toBe(true);
    expect(await contentsOf(world.storage.payloads, { facts: other.deliveries[0]! })).toHaveProperty('url');
  });

  it('is not brought back by an import, by any form of its number', async () => {
    await carryOut(portsOf(), await ordered({ kind: 'docket', docket: stream }));
    for (const number of [CASE, '24-cv-07304', '1:24-cv-07304-ABC']) {
      const read = readJuriscraperDocket(docket(number), {
        askedAt: toInstant(world.clock.now()),
        complete: true,
        source: 'file',
      });
      if ('refused' in read) throw new Error(read.refused);
      expect(await ingestDocket(world.ports, read.snapshot, contextOf())).toMatchObject({
        refused: expect.stringContaining('was forgotten'),
      });
    }
    expect(await everything()).not.toMatch(/Quillfeder/);
    expect(await queried()).toMatchObject({ problem: 'case_not_found' });
  });

  it('is not brought back by an import that had begun before', async () => {
    const { log, payloads } = world.storage;
    let isForgotten = false;
    const ports = {
      ...world.ports,
      log: overriding(log, {
        async append(...given) {
          if (!isForgotten && given[0].stream === stream) {
            isForgotten = true;
            await carryOut(portsOf(), await ordered({ kind: 'docket', docket: stream }));
          }
          return log.append(...given);
        },
      }),
      payloads,
    };
    const raw = docket(CASE, `NOTICE corrected, naming ${SECRET}`);
    const options = { askedAt: toInstant(world.clock.now()), complete: true, source: 'file' };
    const read = readJuriscraperDocket(raw, options);
    if ('refused' in read) throw new Error(read.refused);
    expect(await ingestDocket(ports, read.snapshot, contextOf())).toHaveProperty('refused');
    expect(isForgotten).toBe(true);
    expect(await everything()).not.toMatch(/Quillfeder/);
  });

  it('goes with an answer that a running query stores meanwhile', async () => {
    const body = await full();
    let late: Awaited<ReturnType<typeof sold>> | undefined;
    const untilQueriesEnded = async () => {
      late ??= await sold(body);
    };
    const order = await ordered({ kind: 'docket', docket: stream });
    await carryOut({ ...portsOf(), untilQueriesEnded }, order);
    expect([await isKept(late!.answer), await isKept(late!.deliveries[0]!.envelope)]).toEqual([false, false]);
  });
});

describe('damaged content of a sale', () => {
  let stream: string;
  let otherStream: string;
  beforeEach(async () => {
    ({ stream } = await world.ingest(docket()));
    ({ stream: otherStream } = await world.ingest(docket(OTHER_CASE, 'COMPLAINT')));
  });
  const damaged = async (...names: readonly (string | null)[]) => {
    for (const name of names) await world.storage.damage(name!);
  };
  const forgetting = async () => carryOut(portsOf(), await ordered({ kind: 'docket', docket: stream }));
  /** Also damaged bytes are stored: a backup that holds the same name repairs them. */
  const isStored = async (name: string | null): Promise<boolean> => {
    const { found, damaged: broken } = await resolveIntact(world.storage.payloads, [name!]);
    return found.size + broken.size > 0;
  };

  it('goes by record if its event names the docket, and stays if it names others', async () => {
    const own = await sold({ case: 1 }, { cases: [stream] });
    const batch = await sold({ results: [] }, { cases: [otherStream, stream], urls: [] });
    const other = await sold({ case: 2 }, { cases: [otherStream] });
    const none = await sold({ history: [] }, { cases: [] });
    for (const { answer, deliveries } of [own, batch, other, none]) {
      await damaged(answer, ...deliveries.map(({ envelope }) => envelope));
    }
    const preview = await previewOf({ ...world.storage, clock: world.clock }, { kind: 'docket', docket: stream });
    const counts = await forgetting();
    expect(counts).toEqual({ docket: 2, answer: 2, target: 0, envelope: 1 });
    expect(preview.counts).toEqual(counts);
    for (const name of [own.answer, own.deliveries[0]!.envelope, batch.answer]) {
      expect(await isStored(name)).toBe(false);
      expect(await redactions()).toContainEqual(expect.objectContaining({ name, replacement: null, ...act }));
    }
    for (const { answer, deliveries } of [other, none]) {
      for (const name of [answer, deliveries[0]!.envelope]) expect(await isStored(name)).toBe(true);
    }
    expect(await openOrders(world.storage.log)).toEqual([]);
  });

  it('goes if it was sold by an earlier version, which did not record of which docket it is', async () => {
    const { answer, deliveries } = await sold({ case: 1 });
    await damaged(answer, deliveries[0]!.envelope);
    expect(await forgetting()).toMatchObject({ answer: 1, envelope: 1 });
    for (const name of [answer, deliveries[0]!.envelope]) expect(await isStored(name)).toBe(false);
  });

  it('goes callback by callback of a batch, as each is about one docket', async () => {
    const pushed = ['24-cv-07304', OTHER_CASE].map((caseNumber) => ({ courtCode: 'dcd', caseNumber }));
    const sale = { cases: [stream, otherStream], urls: [HOOK, HOOK], isBatch: true, pushed };
    const { deliveries } = await sold({ results: [] }, sale);
    await damaged(...deliveries.map(({ envelope }) => envelope));
    await forgetting();
    expect(await Promise.all(deliveries.map(({ envelope }) => isStored(envelope)))).toEqual([false, true]);
  });

  it('that is the rest of a batch of which another docket was forgotten goes, too', async () => {
    const results = [];
    for (const number of [CASE, OTHER_CASE]) {
      const response = bodyOf(await world.ask('dcd', number, { context: 'full' }));
      results.push({ case_id: number, court_code: 'dcd', status: 'success', response });
    }
    const { answer } = await sold({ results }, { cases: [stream, otherStream], urls: [] });
    await carryOut(portsOf(), await ordered({ kind: 'docket', docket: otherStream }));
    const { replacement } = (await redactions()).find(({ name }) => name === answer)!;
    await damaged(String(replacement));
    expect(await forgetting()).toMatchObject({ answer: 1 });
    for (const name of [answer, String(replacement)]) expect(await isStored(name)).toBe(false);
  });
});

describe('a callback that is scheduled while its content is forgotten', () => {
  const purchaseOf = async ({ stream }: { readonly stream: string }) => {
    const [authorization, answer] = (await world.storage.log.read(stream)).map(({ data }) => data);
    return { authorization, answer } as unknown as Purchase;
  };
  const envelopeIn = async (deliveryId: string) => {
    const [scheduled] = await world.storage.log.read(deliveryStream(deliveryId));
    return scheduled?.data.envelope as string | null | undefined;
  };
  /** Schedules it by a node that has read the answer when the order begins. */
  async function scheduledDuring(sale: Awaited<ReturnType<typeof sold>>, subject: ForgetSubject): Promise<void> {
    const { payloads, log } = world.storage;
    const ports = {
      log,
      clock: world.clock,
      payloads: overriding(payloads, {
        async put(kind, bytes) {
          if (kind === 'envelope') await carryOut(portsOf(), await ordered(subject));
          return payloads.put(kind, bytes);
        },
      }),
    };
    await scheduleOwed(ports, sale.payment, await purchaseOf(sale), contextOf());
  }

  it.each(['wallet', 'callback_url', 'docket'] as const)('by an order on a %s goes too, by record', async (kind) => {
    const { stream } = await world.ingest(docket());
    const body = bodyOf(await world.ask('dcd', CASE, { context: 'full' }));
    const sale = await sold(body, { isScheduled: false });
    const subject: ForgetSubject =
      kind === 'wallet'
        ? { kind, wallet: ADA }
        : kind === 'docket'
          ? { kind, docket: stream }
          : await urlSubject('https://receiver.example:443/hook?token=s3cr3t-7d1f');
    await scheduledDuring(sale, subject);
    const envelope = await envelopeIn(sale.callbacks[0]!.deliveryId);
    expect(envelope).toEqual(expect.any(String));
    expect(await isKept(envelope!)).toBe(false);
    expect(await redactions()).toContainEqual(expect.objectContaining({ name: envelope, by: 'service' }));
    if (kind === 'docket') expect(await everything()).not.toMatch(/Quillfeder/);
  });

  it('is found by the order if it came before the removal of its URL', async () => {
    const sale = await sold({ of: 'ada' }, { isScheduled: false });
    const { log } = world.storage;
    const [{ deliveryId, target }] = [sale.callbacks[0]!];
    const ports = {
      ...portsOf(),
      log: overriding(log, {
        async append(...given) {
          if (given[0].stream === `content-${target}` && (await envelopeIn(deliveryId)) === undefined) {
            await scheduleOwed(
              { ...world.storage, clock: world.clock },
              sale.payment,
              await purchaseOf(sale),
              contextOf(),
            );
          }
          return log.append(...given);
        },
      }),
    };
    const order = await ordered(await urlSubject('https://receiver.example:443/hook?token=s3cr3t-7d1f'));
    expect(await carryOut(ports, order)).toMatchObject({ envelope: 1 });
    const envelope = await envelopeIn(deliveryId);
    expect([typeof envelope, await isKept(envelope!)]).toEqual(['string', false]);
  });

  it('in a batch of which another docket was forgotten is sent as it was bought', async () => {
    const { stream } = await world.ingest(docket());
    await world.ingest(docket(OTHER_CASE, 'COMPLAINT'));
    const responses: object[] = [];
    for (const number of [CASE, OTHER_CASE])
      responses.push(bodyOf(await world.ask('dcd', number, { context: 'full' })));
    const results = [CASE, OTHER_CASE].map((number, index) => ({
      ...{ case_id: number, court_code: 'dcd', status: 'success', response: responses[index] },
    }));
    const sale = await sold({ results }, { urls: [HOOK, HOOK], isBatch: true, isScheduled: false });
    await carryOut(portsOf(), await ordered({ kind: 'docket', docket: stream }));
    const ports = { ...world.storage, clock: world.clock };
    await scheduleOwed(ports, sale.payment, await purchaseOf(sale), contextOf());
    const [gone, kept] = await Promise.all(sale.callbacks.map(({ deliveryId }) => envelopeIn(deliveryId)));
    expect(gone).toBeNull();
    const pushed = JSON.parse(String(await world.storage.payloads.get(kept!)));
    expect(pushed.payload).toEqual(responses[1]);
    // A filing that is withdrawn leaves a text in its place, which nobody bought.
    const other = await sold({ results }, { urls: [HOOK, HOOK], isBatch: true, isScheduled: false });
    const replacement = await world.storage.payloads.put('answer', Buffer.from(JSON.stringify({ results })));
    await world.storage.payloads.remove(other.answer, replacement);
    await scheduleOwed(ports, other.payment, await purchaseOf(other), contextOf());
    for (const { deliveryId } of other.callbacks) expect(await envelopeIn(deliveryId)).toBeNull();
  });
});

describe('an answer that is no JSON', () => {
  it('goes with a docket that it names, stays with any other, and stops no order', async () => {
    const { stream } = await world.ingest(docket());
    const about = await sold(`<case>${CASE}</case>`, { isScheduled: false });
    const other = await sold('<case>2:24-cv-00001</case>', { isScheduled: false });
    await carryOut(portsOf(), await ordered({ kind: 'docket', docket: stream }));
    expect([await isKept(about.answer), await isKept(other.answer)]).toEqual([false, true]);
    expect(await openOrders(world.storage.log)).toEqual([]);
  });
});

it('an order that fails keeps no later one from being completed', async () => {
  const { stream } = await world.ingest(docket());
  const own = await sold({ of: 'ada' });
  const failing = await ordered({ kind: 'docket', docket: stream });
  await ordered({ kind: 'wallet', wallet: ADA });
  const { log } = world.storage;
  const unreadable = overriding(log, {
    async read(of, options) {
      if (of === stream) throw new Error('its stream cannot be read');
      return log.read(of, options);
    },
  });
  const completing = completeOrders({ ...world.storage, log: unreadable, clock: world.clock });
  await expect(completing).rejects.toThrow('its stream cannot be read');
  expect(await isKept(own.answer)).toBe(false);
  expect((await openOrders(log)).map(({ order }) => order.forgetId)).toEqual([failing.forgetId]);
});

describe('a preview', () => {
  it('names exactly what the order then removes, and removes nothing', async () => {
    const { stream } = await world.ingest(docket());
    const body = bodyOf(await world.ask('dcd', CASE, { context: 'full' }));
    const { deliveries } = await sold(body);
    await sold({ results: [{ case_id: CASE, court_code: 'dcd', status: 'success', response: body }, { other: 1 }] });
    const ports = { ...world.storage, clock: world.clock };
    const before = await everything();
    const subjects = [
      [{ kind: 'docket', docket: stream }, async () => ({ kind: 'docket', docket: stream })],
      [{ kind: 'callback_url', url: HOOK, origin: 'https://receiver.example' }, urlSubject],
      [{ kind: 'wallet', wallet: ADA }, async () => ({ kind: 'wallet', wallet: ADA })],
    ] as const;
    const previews: Preview[] = [];
    for (const [wanted] of subjects) previews.push(await previewOf(ports, wanted));
    expect(await everything()).toBe(before);
    expect(previews.map(({ counts, partly }) => [counts, partly])).toEqual([
      [{ docket: 2, answer: 2, target: 0, envelope: 2 }, 1],
      [{ docket: 0, answer: 0, target: 2, envelope: 2 }, 0],
      [{ docket: 0, answer: 2, target: 2, envelope: 2 }, 0],
    ]);
    for (const { openDeliveries } of previews) expect(openDeliveries).toContain(deliveries[0]!.deliveryId);
    await carryOut(portsOf(), await ordered((await subjects[0][1]()) as ForgetSubject));
    expect((await redactions()).map(({ name }) => name).sort()).toEqual(
      previews[0]!.contents.map(({ name }) => name).sort(),
    );
  });
});

describe('an order that is killed', () => {
  for (const step of ['put', 'append', 'remove'] as const) {
    it(`before any ${step} is completed by the service, and nothing of it is left`, async () => {
      const { stream } = await world.ingest(docket());
      const body = bodyOf(await world.ask('dcd', CASE, { context: 'full' }));
      await sold(body, { wallet: BOB, urls: ['https://another.example/'] });
      await sold({ results: [{ response: body }, { other: 1 }] }, { wallet: BOB, urls: [] });
      await sold({ of: 'ada' }, { urls: [HOOK, 'https://another.example/'] });
      const orders = [
        await ordered({ kind: 'docket', docket: stream }),
        await ordered(await urlSubject()),
        await ordered({ kind: 'wallet', wallet: ADA }),
      ];
      let last = '';
      for (const order of orders) {
        for (const killed of step === 'append' ? [0, 2] : [0, 1, 2, 3, 5, 8]) {
          let left = killed;
          const dying = <Port extends object>(port: Port, name: keyof Port): Port =>
            overriding(port, {
              [name]: async (...given: unknown[]) => {
                if (left-- <= 0) throw new Error('killed');
                return (port[name] as (...all: unknown[]) => unknown).apply(port, given);
              },
            } as Partial<Port>);
          const ports = portsOf();
          const dead =
            step === 'append'
              ? { ...ports, log: dying(ports.log, 'append') }
              : { ...ports, payloads: dying(ports.payloads, step) };
          await carryOut(dead, order).catch(({ message }) => {
            last = message;
          });
        }
      }
      if (step !== 'put') expect(last).toBe('killed');
      await completeAll();
      expect(await openOrders(world.storage.log)).toEqual([]);
      expect(await everything()).not.toMatch(/Quillfeder|s3cr3t-7d1f|"ada"/);
      const completed = (await world.storage.log.read(FORGET_STREAM)).filter(({ type }) => type === 'ForgetCompleted');
      const removed = new Map(completed.map(({ data }) => [data.forgetId, data.removed]));
      expect(removed.size).toBe(completed.length);
      expect(orders.map(({ forgetId }) => removed.get(forgetId))).toEqual([
        { docket: 2, answer: 2, target: 0, envelope: 1 },
        { docket: 0, answer: 0, target: 2, envelope: 1 },
        { docket: 0, answer: 1, target: 1, envelope: 1 },
      ]);
    });
  }

  it('is completed once by several nodes at the same time', async () => {
    for (let sale = 0; sale < 5; sale++) await sold({ of: 'ada' });
    const order = await ordered({ kind: 'wallet', wallet: ADA });
    const counts = await Promise.all([0, 1, 2].map(() => carryOut(portsOf(), order)));
    expect(counts.map(({ answer }) => answer)).toEqual([5, 5, 5]);
    expect(await world.storage.log.read(FORGET_STREAM)).toHaveLength(2);
    expect((await redactions()).length).toBe(15);
  });

  async function completeAll(): Promise<void> {
    for (const { order } of await openOrders(world.storage.log)) await carryOut(portsOf(), order);
    expect(await completeOrders({ ...world.storage, clock: world.clock })).toBe(0);
  }
});

it('a delivery whose content was forgotten is not sent, and ends as content_withdrawn', async () => {
  const { deliveries } = await sold({ of: 'ada' });
  await carryOut(portsOf(), await ordered({ kind: 'wallet', wallet: ADA }));
  const { deliveryId } = deliveries[0]!;
  let sent = 0;
  const ports = {
    ...{ ...world.storage, clock: world.clock, logger: pino({ level: 'silent' }), masterKeys },
    ...{ newKeyId: randomUUID, random: () => 0, owner: 'node-a', userAgent: 'test' },
    outbound: {
      async post() {
        sent++;
        throw new Error('nothing may be sent');
      },
    },
  };
  const attended = await attendDelivery(ports, deliveryId, new AbortController().signal);
  const { state } = await load(world.storage.log, delivery, deliveryStream(deliveryId));
  const [last] = (await world.storage.log.read(deliveryStream(deliveryId))).slice(-1);
  expect([sent, attended.next, state.status]).toEqual([0, null, 'failed']);
  expect(last?.data).toMatchObject({ outcome: 'failed', failureClass: 'content_withdrawn', nextAttemptAt: null });
});
