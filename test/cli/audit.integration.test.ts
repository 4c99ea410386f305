/** `docket audit replay` on the engines. */
import { expect, it } from 'vitest';
import { openEventStore } from '../../src/storage/eventstoredb/open.ts';
import { appendInTurn, freshStream } from '../storage/samples.ts';
import { docketInProcess } from '../support/docket-in-process.ts';
import { freePort } from '../support/processes.ts';
import { ENGINES } from '../support/storage.ts';

const missing = ENGINES.eventStore === '' ? ' (skipped: EVENTSTORE_URL is not set)' : '';

it.skipIf(missing)(`an auditor needs only the event store: MongoDB may be down${missing}`, async () => {
  const stream = freshStream();
  const log = await openEventStore(ENGINES.eventStore);
  await appendInTurn(log, stream, ['one', 'two']);
  await log.close();
  const { code, out } = await docketInProcess(['audit', 'replay', 'all', '--stream', stream, '--json'], {
    EVENTSTORE_URL: ENGINES.eventStore,
    MONGODB_URL: `mongodb://127.0.0.1:${await freePort()}/`,
  });
  const revisions = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).revision);
  expect([code, revisions]).toEqual([0, [0, 1]]);
});
