/**
 * Entries of which many documents changed (docs/design/sources.md#courtlistener).
 * Given an entry that the list of changes repeats once for each such document, when the case is looked at, then the look ends; and a list
 * that repeats rows without such a reason is cut off.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AskingWorld, openAsking } from './asking.ts';

const NUMBER = '1:26-cv-02417';
const HOUR = 3_600_000;

let world: AskingWorld;
let stream: string;
let entry: number;
beforeEach(async () => {
  world = await openAsking();
  const docket = world.site.addDocket({ court: 'ilnd', number: NUMBER });
  entry = world.site.addEntry(docket, {
    number: 1,
    description: 'MOTION with exhibits',
    documents: Array.from({ length: 85 }, (_, index) => ({
      pacerDocId: String(67_030_000_000 + index),
      attachmentNumber: index === 0 ? null : index,
      description: `Exhibit ${index}`,
    })),
  });
  world.clock.advance(HOUR);
  const look = await world.ask('ilnd', NUMBER);
  if (look.look !== 'complete') throw new Error(look.look);
  stream = look.stream;
  world.clock.advance(HOUR);
});
afterEach(() => world.close());

it('an entry of which 85 documents changed comes on five pages, and the look at changes ends', async () => {
  for (const { id } of world.site.rows.documentsOf(entry)) world.site.changeDocument(id, { page_count: 9 });
  const before = world.site.requests.length;
  expect(await world.ask('ilnd', NUMBER, { stream })).toMatchObject({ look: 'complete' });
  const asked = world.site.requests.slice(before).filter(({ url }) => url.includes('recap_documents__date_modified'));
  expect(asked).toHaveLength(5);
  const [filing] = await world.filings(stream);
  expect(filing?.attachments).toHaveLength(84);
  expect(filing?.attachments.every(({ pageCount }) => pageCount === 9)).toBe(true);
  // No page is left of a look that is over.
  const left = [];
  for await (const blob of world.world.storage.payloads.list('look', '2100-01-01T00:00:00.000000Z')) left.push(blob);
  expect(left).toEqual([]);
});

it('a list that repeats an entry more often than it has documents is cut off after a few pages', async () => {
  const row = { id: entry, docket: world.site.rows.entries.get(entry)?.docket, entry_number: 1 };
  let page = 0;
  world.site.onAnswer(() => {
    const next = `${world.site.url}docket-entries/?cursor=${++page}`;
    const results = [{ ...row, recap_documents: [{ id: 1 }, { id: 2 }] }];
    world.site.forgetFailures();
    world.site.failNext({ path: 'recap_documents__date_modified', status: 200, body: { next, results } });
  });
  const before = world.site.requests.length;
  expect(await world.ask('ilnd', NUMBER, { stream })).toMatchObject({ because: { reason: 'a list without end' } });
  expect(world.site.requests.length - before).toBeLessThan(10);
});
