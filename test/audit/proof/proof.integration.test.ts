/** The export of the whole log and a proof, on the engines. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { check } from '../../../examples/verifier/verify.ts';
import { askedProofOf, findSubject } from '../../../src/audit/proof/proof-subject.ts';
import { prove } from '../../../src/audit/proof/prove.ts';
import { rawLog } from '../../../src/audit/proof/raw-log.ts';
import { ENGINES, openTestStorage } from '../../support/storage.ts';
import { LOG_ID, REQUEST, writtenLog } from '../../support/written-log.ts';

const missing = ENGINES.eventStore && ENGINES.mongo ? '' : ' (skipped: EVENTSTORE_URL or MONGODB_URL is not set)';

const verified = (text: string) =>
  check(Readable.from([Buffer.from(text)]), { heads: [], keys: [] }, (breach) => {
    throw new Error(JSON.stringify(breach));
  });

it.skipIf(missing)(`both pass the stand-alone verifier, and the root is that of SQLite${missing}`, async () => {
  const { log, close } = await openTestStorage('');
  try {
    for (const append of writtenLog().appends) await log.append(append);
    let text = '';
    for await (const part of rawLog(log, await log.head(), '2026-03-01T13:00:00.000000Z')) text += part;
    const root = writtenLog().tree().root().toString('hex');
    expect(await verified(text)).toMatch(new RegExp(`^ok 21 events, 7 streams, 5 heads: .* root ${root}\n`));

    const asked = askedProofOf(REQUEST);
    const subject = asked && (await findSubject(log, asked));
    if (!subject || typeof subject === 'string') throw new Error(`the payment is ${subject}`);
    expect(await verified(JSON.stringify(await prove(log, LOG_ID, subject)))).toMatch(/^ok 5 events of payment-/);
  } finally {
    await close();
  }
});
