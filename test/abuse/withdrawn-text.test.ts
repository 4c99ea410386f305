/**
 * A text that a court ordered removed: it is in no stored answer, in no callback and in no docket, and a record says
 * so.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery } from '../../src/commands/delivery/delivery.ts';
import { type WithdrawalPorts, withdrawText } from '../../src/commands/docket/withdraw-text.ts';
import { handle } from '../../src/commands/handle.ts';
import { deliveryStream } from '../../src/events/delivery.ts';
import { docketStream } from '../../src/events/docket.ts';
import { paymentStream, QueryAnswered } from '../../src/events/payment.ts';
import { contentsOf } from '../../src/processes/callbacks/contents.ts';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../src/runtime/instant.ts';
import { NO_STREAM } from '../../src/storage/event-log.ts';
import { CorruptPayload } from '../../src/storage/payload-store.ts';
import { prepareAppend } from '../../src/storage/prepare-append.ts';
import { bodyOf, contextOf, openWorld, overriding, type World } from '../dockets/world.ts';
import { openWorld as openHttpWorld } from '../http/world.ts';

const CASE = '1:24-cv-07304';
const SECRET = 'the informant Xaver Quillfeder';
const docket = (more: readonly string[] = []) => ({
  court_id: 'dcd',
  docket_number: CASE,
  case_name: 'Beispiel v. Muster',
  date_filed: '2024-02-01',
  docket_entries: [`NOTICE naming ${SECRET}`, 'ORDER setting a hearing', ...more].map((description, index) => ({
    document_number: String(index + 1),
    date_filed: '2024-02-01',
    date_entered: '2024-02-01',
    description,
  })),
});

let world: World;
let order: { stream: string; filingId: string; by: string; reason: string };
beforeEach(async () => {
  world = await openWorld();
  const { stream } = await world.ingest(docket());
  const [first] = (await full()).case.docket_history;
  order = { stream, filingId: first.filing_id, by: 'J. Muster', reason: 'order of 2 March' };
});
afterEach(() => world.close());

const full = async (lastChecked: string | null = null) =>
  bodyOf(await world.ask('dcd', CASE, { context: 'full', lastChecked }));

/** A stored answer, as a purchase records it, with a scheduled callback. */
async function sold(body: object, cases?: readonly string[]) {
  const { storage, clock } = world;
  const bytes = Buffer.from(JSON.stringify({ meta: { request_id: randomUUID() }, ...body }));
  const [requestId, deliveryId] = [randomUUID(), randomUUID()];
  const payment = randomUUID().replaceAll('-', '').repeat(2);
  const [answer, target, envelope] = [
    await storage.payloads.put('answer', bytes),
    await storage.payloads.put('target', Buffer.from('https://receiver.example/')),
    await storage.payloads.put('envelope', Buffer.from(JSON.stringify({ payload: JSON.parse(bytes.toString()) }))),
  ];
  const keepUntil = toInstant(clock.now() + 86_400 * MICROS_PER_SECOND);
  const callback = { deliveryId, target, origin: 'https://receiver.example', result: null };
  const answered = QueryAnswered.of({
    requestId,
    answer,
    keepUntil,
    answeredCases: 1,
    keyCall: null,
    callbacks: [callback],
    ...(cases ? { cases: [...cases] } : {}),
  });
  const recordedAt = toInstant(clock.now());
  const stream = paymentStream(payment);
  await storage.log.append(
    prepareAppend({ stream, head: NO_STREAM, events: [answered], context: contextOf(), recordedAt }),
  );
  const facts = {
    ...{ deliveryId, wallet: 'W'.repeat(40), requestId, payment, caseId: CASE, courtCode: 'dcd', caseNumber: CASE },
    ...{ target, origin: callback.origin, envelope, keepUntil, createdAt: recordedAt },
  };
  await handle({ ...storage, clock }, delivery, deliveryStream(deliveryId), { type: 'Schedule', facts }, contextOf());
  return { requestId, deliveryId, answer, facts };
}

const portsOf = (): WithdrawalPorts => ({ ...world.storage, clock: world.clock, untilQueriesEnded: async () => {} });

async function redactions() {
  const found = [];
  for await (const { events } of world.storage.log.readAll(null, { by: 'types', types: ['ContentRedacted'] }))
    found.push(...events);
  return found.map(({ data }) => data);
}
const stored = async (name: string) => (await world.storage.payloads.get(name))?.toString() ?? '';

describe('a withdrawn text', () => {
  it('is removed from the docket, from the answers that contain it in any form, and from open callbacks, on record', async () => {
    const inHistory = await sold(await full());
    const asNew = await sold(bodyOf(await world.ask('dcd', CASE, { lastChecked: '2024-01-01T00:00:00.000000Z' })));
    const inBatch = await sold({ results: [{ status: 'success', response: await full() }] });
    const other = await sold({ case: { docket_history: [] } });

    const report = await withdrawText(portsOf(), order);
    expect(report).toMatchObject({ known: true, contents: 1 });
    const affected = [inHistory, asNew, inBatch];
    expect([...report.answers].sort()).toEqual(affected.map(({ requestId }) => requestId).sort());
    expect([...report.callbacks].sort()).toEqual(affected.map(({ deliveryId }) => deliveryId).sort());
    for (const { answer, facts } of affected) {
      expect(await stored(answer)).not.toContain(SECRET);
      expect(JSON.stringify(await contentsOf(world.storage.payloads, { facts }))).not.toContain(SECRET);
    }
    expect(await contentsOf(world.storage.payloads, { facts: inHistory.facts })).toMatchObject({
      unsent: { failureClass: 'content_withdrawn' },
    });
    // The paid answer still exists, without the text and marked.
    const left = JSON.parse(await stored(inHistory.answer));
    expect(left.meta.withdrawn_filings).toEqual([order.filingId]);
    expect(left.case.docket_history).toMatchObject([
      { filing_id: order.filingId, description: '' },
      { description: 'ORDER setting a hearing' },
    ]);
    // Answers that never contained it are unchanged.
    expect(await contentsOf(world.storage.payloads, { facts: other.facts })).toMatchObject({
      url: 'https://receiver.example/',
    });
    for (const { by, reason, filingIds } of await redactions()) {
      expect([by, reason]).toEqual(['J. Muster', 'order of 2 March']);
      expect(filingIds).toContain(order.filingId);
    }
  });

  it('goes with damaged answers and callbacks of the docket, and damage elsewhere does not stop it', async () => {
    const [first, about, earlier, other, last] = [
      await sold(await full(), [order.stream]),
      await sold(await full(), [order.stream]),
      await sold(await full()),
      await sold({ case: { docket_history: [] } }, ['docket-dcd-1:24-cv-00009']),
      await sold(await full(), [order.stream]),
    ];
    for (const { answer, facts } of [about, earlier, other]) {
      await world.storage.damage(answer);
      await world.storage.damage(facts.envelope);
    }
    const report = await withdrawText(portsOf(), order);
    const affected = [first, about, earlier, last];
    expect([...report.answers].sort()).toEqual(affected.map(({ requestId }) => requestId).sort());
    expect([...report.callbacks].sort()).toEqual(affected.map(({ deliveryId }) => deliveryId).sort());
    for (const { answer, facts } of [about, earlier]) {
      for (const name of [answer, facts.envelope]) {
        expect(await world.storage.payloads.get(name)).toBeNull();
        expect(await redactions()).toContainEqual(expect.objectContaining({ name, replacement: null, by: order.by }));
      }
    }
    for (const { answer } of [first, last]) expect(await stored(answer)).not.toContain(SECRET);
    await expect(world.storage.payloads.get(other.answer)).rejects.toThrow(CorruptPayload);
    expect(await withdrawText(portsOf(), order)).toMatchObject({ answers: [], callbacks: [] });
  });

  it('is not served again by any later snapshot, and makes no filing new or updated', async () => {
    const before = await world.ask('dcd', CASE);
    await withdrawText(portsOf(), order);
    await world.ports.waitUntilProjected?.((await world.storage.log.head())!);
    expect(JSON.stringify(await full())).not.toContain(SECRET);
    expect((await full(before.queriedAt)).delta).toMatchObject({ changed: false, updated_filings: [] });
    await world.ingest(docket(['ANSWER']));
    expect(JSON.stringify(await full())).not.toContain(SECRET);
  });

  it('is removed from an answer that a running query stores meanwhile', async () => {
    const body = await full();
    let late: Awaited<ReturnType<typeof sold>> | undefined;
    const untilQueriesEnded = async () => {
      late ??= await sold(body);
    };
    const ports = { ...portsOf(), untilQueriesEnded };
    expect((await withdrawText(ports, order)).answers).toEqual([late!.requestId]);
    expect(await stored(late!.answer)).not.toContain(SECRET);
  });

  for (const step of ['put', 'append', 'remove'] as const) {
    it(`is withdrawn by repeating a withdrawal that was killed before any ${step}`, async () => {
      const { answer, facts } = await sold(await full());
      for (let killed = 0; killed < 8; killed++) {
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
        await withdrawText(dead, order).catch(() => undefined);
      }
      await withdrawText(portsOf(), order);
      expect(await stored(answer)).not.toContain(SECRET);
      expect(JSON.stringify(await contentsOf(world.storage.payloads, { facts }))).not.toContain(SECRET);
      for (const { name, replacement } of await redactions()) {
        for (const one of [name, replacement])
          if (typeof one === 'string') expect(await stored(one)).not.toContain(SECRET);
      }
    });
  }

  it('is rejected for a filing that the docket does not have', async () => {
    expect(await withdrawText(portsOf(), { ...order, filingId: 'none' })).toMatchObject({ known: false, answers: [] });
  });
});

describe('the result URL of an answer that contains a withdrawn text', () => {
  it('returns it without the text, even if it was read and cached before', async () => {
    const service = await openHttpWorld();
    try {
      await service.importDocket({ ...docket(), court_id: 'cand', docket_number: '4:25-cv-00813' });
      const pay = await service.agent();
      const sold = await pay(`${service.url}/v2/case?court_code=cand&case_id=4:25-cv-00813&context=full`);
      const text = await sold.text();
      const body = JSON.parse(text);
      expect([sold.status, text.includes(SECRET)]).toEqual([200, true]);
      const read = async (headers: Record<string, string> = {}) => {
        const answer = await fetch(service.url + sold.headers.get('content-location'), { headers });
        return { status: answer.status, text: await answer.text(), etag: answer.headers.get('etag') ?? '' };
      };
      const encodings = ['identity', 'br', 'gzip'].map((encoding) => ({ 'accept-encoding': encoding }));
      const before = [];
      for (const headers of encodings) before.push(await read(headers));
      expect(before.map((answer) => answer.text.includes(SECRET))).toEqual([true, true, true]);

      const [{ filing_id: filingId }] = body.case.docket_history;
      const stream = docketStream('cand', '4:25-cv-00813');
      const ports = { ...service.storage, clock: systemClock, untilQueriesEnded: async () => {} };
      const report = await withdrawText(ports, { ...order, stream, filingId });
      expect([...report.answers]).toEqual([body.meta.request_id]);

      for (const [index, headers] of encodings.entries()) {
        const after = await read({ ...headers, 'if-none-match': before[index]?.etag ?? '' });
        expect([after.status, after.text.includes(SECRET)]).toEqual([200, false]);
        expect(JSON.parse(after.text).meta.withdrawn_filings).toEqual([filingId]);
      }
    } finally {
      await service.close();
    }
  });
});
