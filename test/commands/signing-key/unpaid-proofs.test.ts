/** Proofs without a payment: each is an event that stays and that no caller has paid for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { proveCall } from '../../../src/commands/signing-key/sign-in.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { walletStream } from '../../../src/events/signing-key.ts';
import { toInstant } from '../../../src/runtime/instant.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { claimed, WALLET } from '../payment/payment.fixtures.ts';

const MINUTE = 60_000_000;
const REFUSED = { problem: 'rate_limit_exceeded', details: { limit: 3, window: 'payments_under_way' } };

let directory: string;
let storage: ReturnType<typeof openSqlite>;
let now: number;
let count: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'unpaid-proofs-'));
  storage = openSqlite({ directory });
  [now, count] = [1_800_000_000_000_000, 0];
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true, force: true });
});

const context = () => ({
  commandId: `test-${count}`,
  requestId: null,
  correlationId: 'test',
  causationId: null,
  actor: 'test',
});

/** Makes an unused proof, with its own payment, for a rotation. */
async function prove() {
  count++;
  const payment = `${count}`.padStart(64, '0');
  const proof = { proof: `${count}`.padStart(64, 'a'), validUntil: toInstant(now + 5 * MINUTE) };
  const ports = { log: storage.log, clock: { now: () => now } };
  return { payment, refused: await proveCall(ports, { wallet: WALLET, payment, proof }, true, context()) };
}
const events = async () => (await storage.log.read(walletStream(WALLET))).length;

async function pay(payment: string): Promise<void> {
  const stream = paymentStream(payment);
  const recordedAt = toInstant(now);
  await storage.log.append(
    prepareAppend({ stream, head: NO_STREAM, events: [...claimed], context: context(), recordedAt }),
  );
}

it('are limited to three, and leave no event from then on', async () => {
  for (let i = 0; i < 3; i++) expect((await prove()).refused).toBeNull();
  expect((await prove()).refused).toMatchObject(REFUSED);
  expect((await prove()).refused).toMatchObject(REFUSED);
  expect(await events()).toBe(3);
});

it('are accepted again once one of the last three is paid for', async () => {
  const [, second] = [await prove(), await prove(), await prove()];
  await pay(second.payment);
  expect((await prove()).refused).toBeNull();
});

it('are accepted again after the time that the error names', async () => {
  for (let i = 0; i < 3; i++) await prove();
  const { refused } = await prove();
  now += (refused?.details.retry_after as number) * 1_000_000;
  expect((await prove()).refused).toBeNull();
});

it('never limit a wallet that pays', async () => {
  for (let i = 0; i < 10; i++) {
    const { payment, refused } = await prove();
    expect(refused).toBeNull();
    await pay(payment);
  }
});
