import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { type CliContext, CliError, EXIT } from '../../../src/cli/command.ts';
import { createDeliveriesCommand } from '../../../src/cli/deliveries/deliveries.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { DELIVERIES, deliveries } from '../../../src/projections/deliveries.ts';
import { type DeliveryWorld, openDeliveryWorld, status } from '../../processes/delivery-world.ts';

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

let world: DeliveryWorld;
afterEach(() => world.close());

async function run(...argv: string[]) {
  const stdout = new Collected();
  const stderr = new Collected();
  const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  createDeliveriesCommand(async () => ({ ...world.storage, close: async () => undefined }))(program, context);
  try {
    await program.parseAsync(['deliveries', ...argv], { from: 'user' });
    return { code: EXIT.ok as number, out: stdout.text, err: stderr.text };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: error.exitCode, out: stdout.text, err: stderr.text, error };
  }
}
const lines = (out: string) => out.trim().split('\n').filter(Boolean);
const jsonLines = (out: string) => lines(out).map((line) => JSON.parse(line));
const settled = (id: string, wanted: string) =>
  vi.waitFor(async () => expect((await world.recordOf(id))?.status).toBe(wanted), { timeout: 10_000, interval: 10 });

it('lists failures, explains one without the secrets of its URL, and redelivers it while the service runs', async () => {
  world = await openDeliveryWorld({ realTime: true });
  world.answer((request, response) => status(request.url?.startsWith('/down') ? 503 : 200)(request, response, 0));
  world.node();
  const fine = await world.schedule({ path: '/fine' });
  const down = await world.schedule({ path: '/down?token=hunter2', wallet: 'wallet-b' });
  await settled(fine, 'succeeded');
  await settled(down, 'retrying');

  expect(
    jsonLines((await run('list', '--json')).out)
      .map(({ deliveryId }) => deliveryId)
      .sort(),
  ).toEqual([fine, down].sort());
  const retrying = jsonLines((await run('list', '--status', 'retrying', '--json')).out);
  expect(retrying).toMatchObject([{ deliveryId: down, attempts: 1, lastResponseCode: 503 }]);
  expect(lines((await run('list', '--wallet', 'wallet-a')).out)).toEqual([expect.stringContaining(fine), '1 delivery']);
  expect(lines((await run('list', '--limit', '1')).out).at(-1)).toBe('The first 1; --limit 0 shows all.');

  const shown = await run('show', down);
  expect(shown.out).toContain('/down?…');
  expect(shown.out).toMatch(/attempt 1 +failed +503 +http_5xx/);
  expect(shown.out + JSON.stringify(retrying)).not.toContain('hunter2');
  expect(jsonLines((await run('show', down, '--json')).out)).toMatchObject([
    { deliveryId: down, status: 'retrying', url: `${world.base}/down?…`, attemptLog: [{ failureClass: 'http_5xx' }] },
  ]);

  world.answer(status(204));
  expect((await run('retry', down, '--reason', 'it is up again', '--by', 'Ann Lee')).out).toContain(
    `${down}: requested at`,
  );
  await settled(down, 'succeeded');
  const sent = world.received.filter(({ path }) => path.startsWith('/down'));
  expect(sent).toHaveLength(2);
  expect(sent[0]!.body.equals(sent[1]!.body)).toBe(true);
  expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual([down, down]);
  const after = (await run('show', down)).out;
  expect(after).toMatch(/redelivery 1 +acknowledged +204/);
  expect(after).toMatch(/redelivery 1 requested by Ann Lee: it is up again/);
});

it('rejects a redelivery without a reason', async () => {
  world = await openDeliveryWorld();
  const id = await world.schedule();
  for (const argv of [
    ['--reason', ''],
    ['--reason', 'x', '--by', ' '.repeat(501)],
  ]) {
    expect(await run('retry', id, ...argv)).toMatchObject({ code: EXIT.usage, error: { message: /--(reason|by)/ } });
  }
  expect((await world.storage.log.read(deliveryStream(id))).map(({ type }) => type)).toEqual(['DeliveryScheduled']);
});

it('reports unknown ids', async () => {
  world = await openDeliveryWorld();
  const id = randomUUID();
  expect(await run('show', id)).toMatchObject({ code: EXIT.found, error: { message: `Delivery ${id} not found.` } });
  const asked = await run('retry', id, '--reason', 'x', '--json');
  expect([asked.code, jsonLines(asked.out)]).toEqual([EXIT.found, [{ deliveryId: id, found: false, askedAt: null }]]);
  expect(lines((await run('list')).out)).toEqual(['0 deliveries']);
  expect((await run('list', '--limit', 'x')).code).toBe(EXIT.usage);
});

it('says that its list is incomplete while the read model is behind', async () => {
  world = await openDeliveryWorld();
  const id = await world.schedule();
  await settled(id, 'pending');
  expect(await run('list')).toMatchObject({ err: '', out: expect.stringMatching(/^1 delivery$/m) });
  const { readStore } = world.storage;
  await readStore.prepare(DELIVERIES, 2, deliveries.collections);
  await readStore.movePointer(DELIVERIES, { active: 1, next: null }, { active: 2, next: null });
  expect(await run('list')).toMatchObject({
    err: expect.stringMatching(/^This list is not complete/),
    out: '0 deliveries\n',
  });
});

it('shows a delivery whose URL and bytes are damaged, and why it failed', async () => {
  world = await openDeliveryWorld({ realTime: true });
  const id = await world.schedule({ path: '/spoilt' });
  const { facts } = await world.stateOf(id);
  await world.storage.damage(facts.target);
  await world.storage.damage(facts.envelope!);
  world.node();
  await settled(id, 'retrying');
  const shown = await run('show', id);
  expect(shown.code).toBe(EXIT.ok);
  expect(shown.out).toContain(`${world.base} (the URL is no longer stored)`);
  expect(shown.out).toMatch(/attempt 1 +failed +- +content_damaged/);
  expect(shown.out).toContain('The stored content of the delivery is damaged');
});
