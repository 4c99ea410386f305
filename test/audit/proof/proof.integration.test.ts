/** The export of the whole log and a proof, on the engines. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { check } from '../../../examples/verifier/verify.ts';
import { askedProofOf, findSubject } from '../../../src/audit/proof/proof-subject.ts';
import { prove } from '../../../src/audit/proof/prove.ts';
import { rawLog } from '../../../src/audit/proof/raw-log.ts';
import type { Position } from '../../../src/storage/event-log.ts';
import { openEventStore } from '../../../src/storage/eventstoredb/open.ts';
import { openEventStoreRaw } from '../../../src/storage/eventstoredb/raw-events.ts';
import type { RawEventLog } from '../../../src/storage/raw-events.ts';
import { namespaced } from '../../support/namespaced-log.ts';
import { ENGINES } from '../../support/storage.ts';
import { LOG_ID, REQUEST, writtenLog } from '../../support/written-log.ts';

const missing = ENGINES.eventStore ? '' : ' (skipped: EVENTSTORE_URL is not set)';

const verified = (text: string) =>
  check(Readable.from([Buffer.from(text)]), { heads: [], keys: [] }, (breach) => {
    throw new Error(JSON.stringify(breach));
  });

/** The part of a shared log that `namespaced` shows. */
function within(log: RawEventLog, prefix: string, begin: Position | null): Pick<RawEventLog, 'read' | 'find'> {
  return {
    async *read(_, upTo) {
      for await (const batch of log.read(begin, upTo)) {
        const events = batch.events.filter(({ stream }) => stream.startsWith(prefix));
        yield { ...batch, events: events.map((event) => ({ ...event, stream: event.stream.slice(prefix.length) })) };
      }
    },
    async find(stream, revision) {
      const found = await log.find(`${prefix}${stream}`, revision);
      return found && { ...found, stream };
    },
  };
}

it.skipIf(missing)(`both pass the stand-alone verifier, and the root is that of SQLite${missing}`, async () => {
  const prefix = `test-${randomUUID()}.`;
  const log = await namespaced(await openEventStore(ENGINES.eventStore), prefix);
  const raw = await openEventStoreRaw(ENGINES.eventStore);
  const begin = await raw.head();
  try {
    for (const append of writtenLog().appends) await log.append(append);
    let text = '';
    for await (const part of rawLog(within(raw, prefix, begin), await log.head(), '2026-03-01T13:00:00.000000Z'))
      text += part;
    const root = writtenLog().tree().root().toString('hex');
    expect(await verified(text)).toMatch(new RegExp(`^ok 21 events, 7 streams, 5 heads: .* root ${root}\n`));

    const asked = askedProofOf(REQUEST);
    const subject = asked && (await findSubject(log, asked));
    if (!subject || typeof subject === 'string') throw new Error(`the payment is ${subject}`);
    expect(await verified(JSON.stringify(await prove(log, LOG_ID, subject)))).toMatch(/^ok 5 events of payment-/);
  } finally {
    await Promise.all([log.close(), raw.close()]);
  }
});
