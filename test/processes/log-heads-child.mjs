// A process that appends events and records heads over them, one after the other, until it is killed. Two of them write
// heads at once, as nodes do that both believe they hold the lease. Runs the built project: node log-heads-child.mjs DIRECTORY
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pino from 'pino';
import { readMasterKeys } from '../../dist/callbacks/master-keys.js';
import { QueryAnswered } from '../../dist/events/payment.js';
import { createLogHeads } from '../../dist/processes/log-heads.js';
import { systemClock, toInstant } from '../../dist/runtime/instant.js';
import { NO_STREAM } from '../../dist/storage/event-log.js';
import { leaseOwner } from '../../dist/storage/lease-owner.js';
import { prepareAppend } from '../../dist/storage/prepare-append.js';
import { openSqlite } from '../../dist/storage/sqlite/open.js';

const [directory, logId, masterKey] = process.argv.slice(2);
const storage = openSqlite({ directory, logThread: true });

async function write() {
  const requestId = randomUUID();
  const answer = 'ab'.repeat(32);
  const keepUntil = '2999-01-01T00:00:00.000000Z';
  const event = QueryAnswered.of({ requestId, answer, keepUntil, answeredCases: 1, keyCall: null, callbacks: [] });
  const context = { commandId: requestId, requestId, correlationId: requestId, causationId: null, actor: 'test' };
  const recordedAt = toInstant(systemClock.now());
  const stream = `stream-${requestId}`;
  await storage.log.append(prepareAppend({ stream, head: NO_STREAM, events: [event, event], context, recordedAt }));
}

const heads = createLogHeads({
  ...storage,
  masterKeys: readMasterKeys(masterKey),
  logId,
  clock: systemClock,
  logger: pino({ level: 'error' }, pino.destination({ fd: 2, sync: true })),
  owner: leaseOwner(),
});

async function writer() {
  for (;;) await write();
}
async function signer() {
  for (;;) {
    const head = await heads.round(undefined, false);
    // Written at once, so that what this process knew at its death is known outside.
    if (head) writeSync(1, `${JSON.stringify(head)}\n`);
    // Reading resolves within one turn of the event loop, and the writer needs turns too.
    await nextTurn();
  }
}
await Promise.all([writer(), signer()]);
