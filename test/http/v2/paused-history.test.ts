/**
 * Given callbacks whose host an operator has paused, and one that was cancelled, when their wallet buys its history, then
 * it sees since when, and what that means; the documented statuses stay the only ones.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DeliveryCommand, delivery } from '../../../src/commands/delivery/delivery.ts';
import { handleWithRetry } from '../../../src/commands/handle.ts';
import { host } from '../../../src/commands/host/host.ts';
import { deliveryStream } from '../../../src/events/delivery.ts';
import { hostSubject, operatorStream } from '../../../src/events/operator.ts';
import { systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { contextOf } from '../../storage/samples.ts';
import { callTool, paymentFor } from '../mcp/client.ts';
import { openWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const ACT = { by: 'Ann Lee', reason: 'its owner asked' };
const PAUSED = 'https://paused.example';

it('shows pauses and cancellations, over REST and MCP', async () => {
  const keypair = await world.wallet();
  const wallet = keypair.publicKey.toBase58();
  const ports = { ...world.storage, clock: systemClock };
  const act = (id: string, command: DeliveryCommand) =>
    handleWithRetry(ports, delivery, deliveryStream(id), command, contextOf());
  const schedule = async (url: string) => {
    const deliveryId = randomUUID();
    const now = systemClock.now();
    const facts = {
      deliveryId,
      wallet,
      requestId: randomUUID(),
      payment: 'c'.repeat(64),
      caseId: '3:24-cv-00042',
      courtCode: 'cand',
      caseNumber: '3:24-cv-00042',
      target: await world.storage.payloads.put('target', Buffer.from(url)),
      origin: new URL(url).origin,
      envelope: await world.storage.payloads.put('envelope', Buffer.from('{}')),
      keepUntil: toInstant(now + 1e12),
      createdAt: toInstant(now),
    };
    await act(deliveryId, { type: 'Schedule', facts });
    return deliveryId;
  };
  const waiting = await schedule(`${PAUSED}/a`);
  const cancelled = await schedule(`${PAUSED}/b`);
  const open = await schedule('https://open.example/c');
  await act(cancelled, { type: 'Cancel', now: systemClock.now(), ...ACT });
  const pause = { type: 'Pause', origin: PAUSED, ...ACT } as const;
  await handleWithRetry(ports, host, operatorStream(hostSubject(PAUSED)), pause, contextOf());
  const head = (await world.storage.log.head()) ?? '';
  for (const name of ['deliveries', 'operator-acts']) await world.runner.waitFor(name, head, 30_000);

  const moment = expect.stringMatching(/^20\d\d-/);
  const expected = {
    [waiting]: { status: 'pending', paused_since: moment, cancelled_at: null, hint: expect.stringContaining('paused') },
    [cancelled]: { status: 'failed', paused_since: null, cancelled_at: moment, hint: expect.stringContaining('ended') },
    [open]: { status: 'pending', paused_since: null, cancelled_at: null, hint: null },
  };
  const shown = (deliveries: Record<string, unknown>[]) =>
    Object.fromEntries(
      deliveries.map(({ delivery_id, status, paused_since, cancelled_at, hint }) => [
        delivery_id,
        { status, paused_since, cancelled_at, hint },
      ]),
    );
  const pay = await world.agentOf(keypair);
  const history = async (query = '') =>
    ((await (await pay(`${world.url}/v2/wallet/deliveries${query}`)).json()) as { deliveries: never[] }).deliveries;
  expect(shown(await history())).toEqual(expected);
  expect(Object.keys(shown(await history('?status=failed')))).toEqual([cancelled]);

  const mcp = `${world.url}/v2/mcp`;
  const { data } = await callTool(mcp, 'service_wallet_info', { include_deliveries: true });
  const [keys, deliveries] = data.payments ?? [data.payment_tx_keys, data.payment_tx_deliveries];
  const answer = await callTool(mcp, 'service_wallet_info', {
    include_deliveries: true,
    payment_tx_keys: paymentFor(keys, keypair),
    payment_tx_deliveries: paymentFor(deliveries, keypair),
  });
  expect(shown(answer.data.deliveries)).toEqual(expected);
});
