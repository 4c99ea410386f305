/**
 * Fills a data folder with deliveries that are all due later: `node pending-side.mjs FOLDER COUNT`. They are scheduled
 * over the next twelve hours, the longest gap between attempts, and folded into their read model; all reference the
 * same two blobs. Prints nothing.
 */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { envelopeOf } from '../../dist/callbacks/envelope.js';
import { DeliveryScheduled, deliveryStream } from '../../dist/events/delivery.js';
import { deliveries } from '../../dist/projections/deliveries.js';
import { createProjectionRunner } from '../../dist/projections/runner.js';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../dist/runtime/instant.js';
import { NO_STREAM } from '../../dist/storage/event-log.js';
import { prepareAppend } from '../../dist/storage/prepare-append.js';
import { openSqlite } from '../../dist/storage/sqlite/open.js';
import { commandContext } from './events.mjs';
import { inParallel } from './rpc.mjs';

const [folder, count] = process.argv.slice(2);
const COUNT = Number(count);
const FIRST_DUE = 600 * MICROS_PER_SECOND;
const SPAN = 12 * 3_600 * MICROS_PER_SECOND;
const WALLETS = 10_000;
const WRITERS = 512;

const storage = openSqlite({ directory: folder });
const now = systemClock.now();
const envelope = envelopeOf(Buffer.from('{"meta":{}}'), { deliveryId: randomUUID(), createdAt: toInstant(now) });
const [target, sealed] = [
  await storage.payloads.put('target', Buffer.from('https://agent.example/hook')),
  await storage.payloads.put('envelope', envelope),
];
let position = null;
await inParallel(Array.from({ length: COUNT }), WRITERS, async (_, index) => {
  const deliveryId = randomUUID();
  const event = DeliveryScheduled.of({
    deliveryId,
    wallet: `wallet-${index % WALLETS}`,
    requestId: randomUUID(),
    payment: 'c'.repeat(64),
    caseId: '3:24-cv-00042',
    courtCode: 'cand',
    caseNumber: '3:24-cv-00042',
    target,
    origin: 'https://agent.example',
    envelope: sealed,
    keepUntil: '2999-01-01T00:00:00.000000Z',
    createdAt: toInstant(now + FIRST_DUE + Math.floor((SPAN * index) / COUNT)),
  });
  const stream = deliveryStream(deliveryId);
  const context = commandContext();
  const append = prepareAppend({ stream, head: NO_STREAM, events: [event], context, recordedAt: toInstant(now) });
  position = (await storage.log.append(append)).position;
});
const logger = pino({ level: 'warn' }, pino.destination(2));
const owner = randomUUID();
const runner = createProjectionRunner({ ...storage, projections: [deliveries], clock: systemClock, logger, owner });
await runner.start();
if (position && !(await runner.waitFor(deliveries.name, position, 1_200 * MICROS_PER_SECOND))) {
  throw new Error('the read model did not catch up');
}
await runner.stop();
await storage.close();
