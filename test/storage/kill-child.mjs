// A process under load that the test kills: several writers put payloads and append events, and print what was
// acknowledged; a projection follows. Runs the built project: node kill-child.mjs DIRECTORY NAME load|finish
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import pino from 'pino';
import { QueryAnswered } from '../../dist/events/payment.js';
import { createProjectionRunner } from '../../dist/projections/runner.js';
import { systemClock, toInstant } from '../../dist/runtime/instant.js';
import { NO_STREAM, RevisionConflict } from '../../dist/storage/event-log.js';
import { leaseOwner } from '../../dist/storage/lease-owner.js';
import { prepareAppend } from '../../dist/storage/prepare-append.js';
import { openSqlite } from '../../dist/storage/sqlite/open.js';

const [directory, name, mode] = process.argv.slice(2);
// As in the service: groups are committed in a thread, single writes in this one.
const storage = openSqlite({ directory, logThread: true });

/** Per stream: how many events, how many bytes of content, the hash of the newest event. */
const totals = {
  name: 'totals',
  events: [QueryAnswered],
  collections: [{ name: 'totals', indexes: [['events']] }],
  contentOf: ({ data }) => [data.answer],
  targets: ({ recorded }) => [
    { collection: 'totals', id: recorded.stream },
    { collection: 'totals', id: 'all' },
  ],
  fold: (_, document, { recorded, contents }) => ({
    events: (document?.events ?? 0) + 1,
    bytes: (document?.bytes ?? 0) + [...contents.values()].reduce((sum, { bytes }) => sum + bytes.length, 0),
    last: recorded.metadata.hash,
  }),
};
const runner = createProjectionRunner({
  ...storage,
  projections: [totals],
  clock: systemClock,
  logger: pino({ level: 'error' }, pino.destination({ fd: 2, sync: true })),
  owner: leaseOwner(),
});

// Written at once, so that what this process knew at its death is known outside.
const say = (words) => writeSync(1, `${words.join(' ')}\n`);

async function write(stream) {
  const content = randomBytes(randomInt(1, 20_000));
  const answer = await storage.payloads.put('answer', content);
  say(['put', answer, createHash('sha256').update(content).digest('hex')]);
  const last = (await storage.log.read(stream)).at(-1);
  const size = randomInt(1, 6);
  const requestId = randomUUID();
  const append = prepareAppend({
    stream,
    head: last ? { revision: last.revision, hash: last.metadata.hash } : NO_STREAM,
    events: Array.from({ length: size }, () =>
      QueryAnswered.of({
        requestId,
        answer,
        keepUntil: '2999-01-01T00:00:00.000000Z',
        answeredCases: size,
        keyCall: null,
        callbacks: [],
      }),
    ),
    context: { commandId: requestId, requestId, correlationId: requestId, causationId: null, actor: name },
    recordedAt: toInstant(systemClock.now()),
  });
  try {
    const { position } = await storage.log.append(append);
    say(['append', stream, append.events.at(-1).revision, position, append.events.at(-1).id]);
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
  }
}

async function writer(number) {
  const turns = randomInt(50, 100);
  for (let turn = 0; ; turn++) {
    await write(turn % 4 === 0 ? 'contended' : `${name}-${number}-${Math.floor(turn / turns)}-${process.pid}`);
  }
}

if (mode === 'finish') {
  await runner.catchUp();
  await storage.close();
} else {
  await runner.start();
  await Promise.all(Array.from({ length: 6 }, (_, number) => writer(number)));
}
