/**
 * Given many deliveries, when an operator retries or cancels those that a filter selects, then their number is shown
 * first, nothing is done without a yes, each is done once however often the command runs, and the log says who and why.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { createDeliveriesCommand } from '../../../src/cli/deliveries/deliveries.ts';
import { PackedIds } from '../../../src/cli/deliveries/selection.ts';
import { deliveries } from '../../../src/projections/deliveries.ts';
import { operatorActs } from '../../../src/projections/operator-acts.ts';
import { type DeliveryWorld, openDeliveryWorld, status } from '../../processes/delivery-world.ts';
import { runCommand } from '../acting.ts';

let world: DeliveryWorld;
afterEach(async () => {
  await world?.close();
  world = undefined as never;
});

const ADA = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const BOB = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const BY = ['--reason', 'ticket 4711', '--by', 'Ann Lee'];

const run = (...argv: string[]) =>
  runCommand(
    createDeliveriesCommand(async () => ({ ...world.storage, close: async () => undefined })),
    'deliveries',
    ...argv,
  );
const caughtUp = async () => {
  const head = (await world.storage.log.head()) ?? '';
  for (const { name } of [deliveries, operatorActs]) await world.runner.waitFor(name, head, 30_000);
};
const open = async () => {
  world = await openDeliveryWorld({ realTime: true, projections: [deliveries, operatorActs] as never });
};
const typesOf = async (id: string) => (await world.eventsOf(id)).map(({ type }) => type);
const requests = async (id: string) =>
  (await typesOf(id)).filter((type) => type === 'DeliveryRedeliveryRequested').length;

describe('retry by filter', () => {
  it('shows the number first, and acts only with a yes; a repeated run doubles nothing', async () => {
    await open();
    world.answer(status(503));
    const node = world.node();
    const ids = await Promise.all([ADA, ADA, BOB].map((wallet) => world.schedule({ wallet })));
    await vi.waitFor(
      async () =>
        expect((await Promise.all(ids.map(world.recordOf))).map((one) => one?.status)).toEqual(
          Array(3).fill('retrying'),
        ),
      { timeout: 30_000 },
    );
    await node.stop();
    const filter = ['--status', 'retrying', '--wallet', ADA];
    const before = await world.storage.log.head();
    const dry = await run('retry', ...filter, '--dry-run', ...BY);
    expect([dry.code, dry.out]).toEqual([EXIT.ok, `2 deliveries match: status retrying, wallet ${ADA}.\n`]);
    const unasked = await run('retry', ...filter, ...BY);
    expect([unasked.code, unasked.error?.hint]).toEqual([EXIT.usage, expect.stringContaining('--yes')]);
    expect(await world.storage.log.head()).toBe(before);

    const done = await run('retry', ...filter, '--yes', ...BY);
    expect([done.code, done.out]).toEqual([EXIT.ok, '2 requested, 0 requested already.\n']);
    const since = /--not-since (\S+)/.exec(done.err)?.[1] ?? '';
    expect((await run('retry', ...filter, '--yes', ...BY)).out).toBe('0 requested, 2 requested already.\n');
    expect(await Promise.all(ids.map(requests))).toEqual([1, 1, 0]);

    // They are attempted, and fail again: a repeated run leaves them alone, a new one does not.
    world.node();
    await vi.waitFor(
      async () =>
        expect(await Promise.all(ids.slice(0, 2).map(async (id) => (await world.stateOf(id)).redelivery))).toEqual([
          null,
          null,
        ]),
      { timeout: 30_000 },
    );
    const again = await run('retry', ...filter, '--not-since', since, '--yes', '--json', ...BY);
    expect(JSON.parse(again.out)).toEqual({ matched: 2, requested: 0, unchanged: 2, underWay: 0, unknown: 0 });
    expect((await run('retry', ...filter, '--yes', ...BY)).out).toBe('2 requested, 0 requested already.\n');
  });

  it('selects by host, court, time and failure, and names an invalid filter', async () => {
    await open();
    world.answer((request, response) => status(request.url === '/gone' ? 410 : 503)(request, response, 0));
    world.node();
    const ids = [await world.schedule({ path: '/gone' }), await world.schedule({ path: '/down' })];
    await world.schedule({ url: 'https://localhost/refused' });
    await vi.waitFor(
      async () =>
        expect((await Promise.all(ids.map(world.recordOf))).map((one) => one?.status)).toEqual([
          'retrying',
          'retrying',
        ]),
      { timeout: 30_000 },
    );
    await caughtUp();
    const matched = async (...filter: string[]) => {
      const { out } = await run('retry', '--status', 'retrying', ...filter, '--dry-run', '--json', ...BY);
      return JSON.parse(out).matched as number;
    };
    expect(await matched('--host', world.base)).toBe(2);
    expect(await matched('--host', world.base.replace('http://', ''))).toBe(2);
    expect(await matched('--host', world.base, '--failure-class', 'http_4xx')).toBe(1);
    expect(await matched('--court', 'CAND', '--host', world.base)).toBe(2);
    expect(await matched('--court', 'txsd')).toBe(0);
    expect(await matched('--host', world.base, '--from', '2099-01-01T00:00:00Z')).toBe(0);
    expect(await matched('--host', world.base, '--to', '2099-01-01T00:00:00Z')).toBe(2);
    for (const filter of [
      ['--wallet', 'nobody'],
      ['--host', 'not a host'],
      ['--from', 'yesterday'],
      ['--from', '2026-02-02T00:00:00Z', '--to', '2026-01-01T00:00:00Z'],
      ['--court', ' '],
      ['--status', 'failed', '--not-since', 'then'],
      [],
      [ids[0]!, '--host', world.base],
    ]) {
      expect(await run('retry', ...filter, '--yes', ...BY), filter.join(' ')).toMatchObject({ code: EXIT.usage });
    }
    expect(await run('retry', '--host', 'unknown.example', '--yes', ...BY)).toMatchObject({ code: EXIT.found });
    expect(await Promise.all(ids.map(requests))).toEqual([0, 0]);
  });
});

describe('cancel', () => {
  it('ends what is open, by filter and by id; it is not sent, and shown apart', async () => {
    await open();
    const ids = await Promise.all([1, 2, 3].map(() => world.schedule()));
    await caughtUp();
    const [first = '', ...others] = ids;
    expect((await run('cancel', first, ...BY)).out).toBe(`${first}: cancelled\n`);
    expect((await run('cancel', first, ...BY)).out).toBe(`${first}: over already (cancelled)\n`);
    await caughtUp();
    const done = await run('cancel', '--host', world.base, '--yes', ...BY);
    expect([done.code, done.out]).toEqual([EXIT.ok, '2 cancelled, 0 over already.\n']);
    await caughtUp();
    expect((await run('cancel', '--host', world.base, '--yes', ...BY)).out).toMatch(/^0 deliveries match/);
    for (const id of others) expect(await typesOf(id)).toEqual(['DeliveryScheduled', 'DeliveryCancelled']);
    expect((await run('list', '--status', 'cancelled')).out).toMatch(/3 deliveries\n$/);
    expect((await run('show', first)).out).toMatch(/cancelled by Ann Lee: ticket 4711/);
    world.node();
    const last = await world.schedule();
    await vi.waitFor(async () => expect((await world.recordOf(last))?.status).toBe('succeeded'), { timeout: 30_000 });
    expect(world.received).toHaveLength(1);
    // It may be requested again after all.
    expect((await run('retry', first, ...BY)).out).toMatch(/requested at/);
    await vi.waitFor(async () => expect((await world.recordOf(first))?.status).toBe('succeeded'), { timeout: 30_000 });
  });

  it('waits for the attempt under way', async () => {
    await open();
    let answer: () => void = () => undefined;
    world.answer((_request, response) => {
      answer = () => response.writeHead(503).end();
    });
    world.node();
    const id = await world.schedule();
    await vi.waitFor(() => expect(world.received).toHaveLength(1), { timeout: 30_000 });
    const cancelling = run('cancel', id, ...BY);
    answer();
    expect((await cancelling).out).toBe(`${id}: cancelled\n`);
    expect(await world.stateOf(id)).toMatchObject({ status: 'cancelled', attempts: 1 });
  });
});

it('packs ids without changing them', () => {
  const ids = new PackedIds();
  const given = Array.from({ length: 3_000 }, () => crypto.randomUUID());
  for (const id of given) ids.add(id);
  expect([ids.size, [...ids]]).toEqual([3_000, given]);
});
