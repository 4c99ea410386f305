/** `docket audit` on the engines. */
import { Keypair } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { SigningKeyCreated, SigningKeyRotated, walletStream } from '../../../src/events/signing-key.ts';
import { NO_STREAM } from '../../../src/storage/event-log.ts';
import { openEventStore } from '../../../src/storage/eventstoredb/open.ts';
import { prepareAppend } from '../../../src/storage/prepare-append.ts';
import { appendInTurn, contextOf, freshStream, NOON } from '../../storage/samples.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';
import { freePort } from '../../support/processes.ts';
import { ENGINES } from '../../support/storage.ts';

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

it.skipIf(missing)(`an export needs only the event store, and selects a wallet in a shared one${missing}`, async () => {
  const wallet = Keypair.generate().publicKey.toBase58();
  const key = { keyId: 'k1', masterVersion: 1, createdAt: NOON };
  const next = { ...key, keyId: 'k2', previousKeyId: 'k1', previousValidUntil: NOON };
  const log = await openEventStore(ENGINES.eventStore);
  await log.append(
    prepareAppend({
      stream: walletStream(wallet),
      head: NO_STREAM,
      events: [SigningKeyCreated.of(key), SigningKeyRotated.of(next)],
      context: contextOf(),
      recordedAt: NOON,
    }),
  );
  await log.close();
  const { code, out } = await docketInProcess(['audit', 'export', 'keys', '--wallet', wallet, '--format', 'ndjson'], {
    EVENTSTORE_URL: ENGINES.eventStore,
    MONGODB_URL: `mongodb://127.0.0.1:${await freePort()}/`,
  });
  const rows = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect([code, rows.map(({ key_id, valid_until }) => [key_id, valid_until])]).toEqual([
    0,
    [
      ['k1', NOON],
      ['k2', null],
    ],
  ]);
});
