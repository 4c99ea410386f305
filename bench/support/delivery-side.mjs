/**
 * One side of the benchmark of deliveries, in its own process: `node delivery-side.mjs SIDE FOLDER COUNT PORTS`. `ours`
 * schedules COUNT deliveries and lets the process manager make them, through the guard, claimed and recorded in a
 * durable log; `bare` is a minimal implementation: an undici pool per receiver, an HMAC, one durable row per attempt.
 * Prints one line of JSON: attempts, elapsed ms, processor time ms.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { Pool } from 'undici';
import { envelopeOf } from '../../dist/callbacks/envelope.js';
import { readMasterKeys } from '../../dist/callbacks/master-keys.js';
import { createOutbound } from '../../dist/callbacks/outbound/guarded-outbound.js';
import { delivery } from '../../dist/commands/delivery/delivery.js';
import { handle } from '../../dist/commands/handle.js';
import { DeliveryAttemptFinished, deliveryStream } from '../../dist/events/delivery.js';
import { createCallbackDeliveries } from '../../dist/processes/callbacks/deliveries.js';
import { deliveries } from '../../dist/projections/deliveries.js';
import { createProjectionRunner } from '../../dist/projections/runner.js';
import { systemClock, toInstant } from '../../dist/runtime/instant.js';
import { Database } from '../../dist/storage/sqlite/driver.js';
import { openSqlite } from '../../dist/storage/sqlite/open.js';
import { commandContext } from './events.mjs';
import { pause } from './processes.mjs';
import { inParallel } from './rpc.mjs';

const [side, folder, countText, portsText] = process.argv.slice(2);
const COUNT = Number(countText);
const PORTS = JSON.parse(portsText);
/** As many as the process manager runs at once to one receiver. */
const AT_ONCE_EACH = 8;
const WALLETS = 64;
/** Everything is scheduled before the first delivery is due. */
const HEAD_START_MS = 2_000 + COUNT * 3;
const PAYLOAD = Buffer.from(JSON.stringify({ meta: { tag: null }, case: { filing: 'x'.repeat(2_000) } }));
const SECRET = '5a'.repeat(32);

/** @returns the wall time and the processor time of an async piece of work, ms */
async function measured(work) {
  const [began, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { elapsed: performance.now() - began, processor: (user + system) / 1000 };
}

async function bare() {
  const database = new Database(join(folder, 'bare.sqlite'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE attempts (id TEXT PRIMARY KEY, status INTEGER, at INTEGER)');
  const record = database.prepare('INSERT INTO attempts VALUES (?, ?, ?)');
  const body = envelopeOf(PAYLOAD, { deliveryId: randomUUID(), createdAt: toInstant(systemClock.now()) });
  const pools = PORTS.map((port) => new Pool(`http://127.0.0.1:${port}`, { connections: AT_ONCE_EACH }));
  const jobs = Array.from({ length: COUNT }, (_, index) => pools[index % pools.length]);
  const figures = await measured(() =>
    inParallel(jobs, PORTS.length * AT_ONCE_EACH, async (pool) => {
      const id = randomUUID();
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'x-service-signature': `sha256=${signature}`,
        'idempotency-key': id,
      };
      const { statusCode, body: answer } = await pool.request({ method: 'POST', path: '/hook', headers, body });
      await answer.dump();
      record.run(id, statusCode, Date.now());
    }),
  );
  await Promise.all(pools.map((pool) => pool.close()));
  database.close();
  return { attempts: COUNT, ...figures };
}

async function ours() {
  const storage = openSqlite({ directory: folder });
  const logger = pino({ level: 'warn' }, pino.destination(2));
  const clock = systemClock;
  const runner = createProjectionRunner({ ...storage, projections: [deliveries], clock, logger, owner: randomUUID() });
  await runner.start();
  const due = clock.now() + HEAD_START_MS * 1_000;
  await inParallel(Array.from({ length: COUNT }), 64, (_, index) => schedule(storage, clock, index, toInstant(due)));
  const outbound = createOutbound({ trustedPairs: PORTS.map((port) => `127.0.0.1:${port}`) });
  let acknowledged = 0;
  const failures = [];
  const node = createCallbackDeliveries({
    ...storage,
    clock,
    logger,
    outbound,
    masterKeys: readMasterKeys(`1:${SECRET}`),
    newKeyId: randomUUID,
    random: Math.random,
    owner: randomUUID(),
    userAgent: 'DocketMonitor/bench',
    observe({ failureClass }) {
      if (failureClass === null) acknowledged += 1;
      else failures.push(failureClass);
    },
  });
  node.start();
  const wait = (due - clock.now()) / 1_000;
  if (wait < 0) throw new Error(`scheduling took ${Math.round(-wait)} ms longer than its head start`);
  await pause(wait);
  const figures = await measured(async () => {
    while (acknowledged + failures.length < COUNT) await pause(2);
  });
  if (failures.length) throw new Error(`${failures.length} attempts failed: ${[...new Set(failures)].join(', ')}`);
  await node.stop();
  const recorded = await countFinished(storage.log);
  if (recorded !== COUNT) throw new Error(`the log has ${recorded} outcomes, expected ${COUNT}`);
  await runner.stop();
  await outbound.close();
  await storage.close();
  return { attempts: acknowledged, ...figures };
}

async function schedule({ log, payloads }, clock, index, createdAt) {
  const deliveryId = randomUUID();
  const url = `http://127.0.0.1:${PORTS[index % PORTS.length]}/hook`;
  const [target, envelope] = await Promise.all([
    payloads.put('target', Buffer.from(url)),
    payloads.put('envelope', envelopeOf(PAYLOAD, { deliveryId, createdAt })),
  ]);
  const facts = {
    deliveryId,
    wallet: `wallet-${index % WALLETS}`,
    requestId: randomUUID(),
    payment: 'c'.repeat(64),
    caseId: '3:24-cv-00042',
    courtCode: 'cand',
    caseNumber: '3:24-cv-00042',
    target,
    origin: new URL(url).origin,
    envelope,
    keepUntil: '2999-01-01T00:00:00.000000Z',
    createdAt,
  };
  const command = { type: 'Schedule', facts };
  await handle({ log, clock }, delivery, deliveryStream(deliveryId), command, commandContext());
}

async function countFinished(log) {
  let finished = 0;
  for await (const { events } of log.readAll(null, { by: 'types', types: [DeliveryAttemptFinished.type] })) {
    finished += events.filter(({ data }) => data.outcome === 'acknowledged').length;
  }
  return finished;
}

console.log(JSON.stringify(await (side === 'bare' ? bare() : ours())));
