/**
 * Given many open callbacks, when a bulk retry, a pause and a resume are killed at random and repeated, then each delivery
 * is requested once, the host is as the last act left it, and the log keeps every rule. Runs the compiled program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hostSubject, operatorStream } from '../../src/events/operator.ts';
import { createOperatorActs } from '../../src/processes/operator-acts.ts';
import { deliveries } from '../../src/projections/deliveries.ts';
import { operatorActs } from '../../src/projections/operator-acts.ts';
import { toInstant } from '../../src/runtime/instant.ts';
import { silent } from '../http/serving.ts';
import { type DeliveryWorld, openDeliveryWorld, status } from '../processes/delivery-world.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'bin/docket.js');
const KILLS = Number(process.env.KILLS ?? 4);
const DELIVERIES = 200;
const BY = ['--reason', 'ticket 4711', '--by', 'Ann Lee'];

let world: DeliveryWorld;
const stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  return world.close();
});

const docket = (...argv: string[]): ChildProcess =>
  spawn(process.execPath, [PROGRAM, ...argv], {
    env: { ...process.env, DATA_DIR: world.directory, NODE_ENV: 'test' },
    stdio: 'ignore',
  });
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('exit', (code) => resolve(code)));
const caughtUp = async () => {
  const head = (await world.storage.log.head()) ?? '';
  for (const { name } of [deliveries, operatorActs]) await world.runner.waitFor(name, head, 30_000);
};
/** How long a whole run takes here, so that kills fall anywhere in one. */
async function timed(...argv: string[]): Promise<number> {
  const startedAt = performance.now();
  expect(await ended(docket(...argv))).toBe(0);
  return performance.now() - startedAt;
}
async function killed(within: number, ...argv: string[]): Promise<void> {
  const child = docket(...argv);
  const end = ended(child);
  await delay(randomInt(Math.ceil(within * 0.3), Math.ceil(within * 1.1)));
  child.kill('SIGKILL');
  await end;
}

describe.skipIf(!existsSync(join(ROOT, 'dist/cli/main.js')))(`${KILLS} kills at random`, () => {
  it('leave a part of a bulk retry done, and no delivery requested twice by its repetition', async () => {
    world = await openDeliveryWorld({ realTime: true, projections: [deliveries, operatorActs] as never });
    const ids = await Promise.all(
      Array.from({ length: DELIVERIES }, (_, i) => world.schedule({ wallet: `wallet ${i % 20}` })),
    );
    await caughtUp();
    const since = toInstant(world.clock.now());
    // Open deliveries can be cancelled, and cancelled ones retried.
    const host = ['--host', world.base, ...BY];
    const whole = await timed('deliveries', 'cancel', '--yes', ...host);
    await caughtUp();
    const retry = ['deliveries', 'retry', '--status', 'cancelled', '--not-since', since, '--yes', ...host];
    for (let kill = 0; kill < KILLS; kill++) await killed(whole, ...retry);
    expect(await ended(docket(...retry))).toBe(0);
    const typesOf = async (id: string) => (await world.eventsOf(id)).map(({ type }) => type);
    const once = ['DeliveryScheduled', 'DeliveryCancelled', 'DeliveryRedeliveryRequested'];
    for (const id of ids) expect(await typesOf(id)).toEqual(once);

    const pausing = ['hosts', 'pause', world.base, ...BY];
    for (let kill = 0; kill < KILLS / 2; kill++) await killed(whole / 2, ...pausing);
    expect(await ended(docket(...pausing))).toBe(0);
    const acts = createOperatorActs({ ...world.storage, logger: silent });
    void acts.run(stopping.signal);
    await acts.ready;
    expect(acts.isPaused(world.base)).toBe(true);
    world.answer(status(200));
    world.node('node-a', { hosts: acts });
    world.node('node-b', { hosts: acts });
    const resuming = ['hosts', 'resume', world.base, ...BY];
    for (let kill = 0; kill < KILLS / 2 && acts.isPaused(world.base); kill++) await killed(whole / 2, ...resuming);
    expect(await ended(docket(...resuming))).toBe(0);
    const types = (await world.storage.log.read(operatorStream(hostSubject(world.base)))).map(({ type }) => type);
    expect(types).toEqual(['HostPaused', 'HostResumed']);
    await vi.waitFor(
      async () => {
        await caughtUp();
        const count = { collection: 'deliveries', equals: { status: 'succeeded' } };
        expect(await world.storage.readStore.count(count)).toBe(DELIVERIES);
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(world.received).toHaveLength(DELIVERIES);
  }, 180_000);
});
