/**
 * The recorded behaviours of CourtListener, rows 1 to 23, over real sockets and with the real ingest.
 * Given a docket there, when the source asks for its case, then what it shows is recorded once, and a fault says what it is.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bodyOf } from '../../dockets/world.ts';
import { type AskingWorld, openAsking } from './asking.ts';

const NUMBER = '1:26-cv-02417';
const HOUR = 3_600_000;

let world: AskingWorld;
let docket: number;
let complaint: number;

beforeEach(async () => {
  world = await openAsking();
  docket = world.site.addDocket({ court: 'ilnd', number: NUMBER });
  complaint = world.site.addEntry(docket, {
    number: 1,
    description: 'COMPLAINT filed by Harrowgate Tile Works, LLC (Quillfeather, Isaura) (Entered: 03/02/2026)',
    sequence: 3,
    documents: [
      { pacerDocId: '067030118841', description: 'Complaint' },
      { pacerDocId: '067030118842', description: 'Exhibit A', attachmentNumber: 1, pageCount: 44 },
    ],
  });
  world.clock.advance(HOUR);
});
afterEach(() => world.close());

/** Asks for the whole case, which must succeed, and returns its stream. */
async function whole(): Promise<string> {
  const look = await world.ask('ilnd', NUMBER);
  expect(look).toMatchObject({ look: 'complete' });
  if (!('stream' in look)) throw new Error('no stream');
  return look.stream;
}

async function later(stream: string) {
  world.clock.advance(HOUR);
  return world.ask('ilnd', NUMBER, { stream });
}

const motion = (more: object = {}) => ({
  number: 12,
  description: 'MOTION by Defendant Lucan Pellworth to dismiss (Drumgold, Ferrand) (Entered: 04/02/2026)',
  dateFiled: '2026-04-02',
  sequence: 31,
  documents: [{ pacerDocId: '067030241907', description: 'Motion to Dismiss' }],
  ...more,
});

describe('CourtListener, as recorded', () => {
  it('row 1: a key that is not accepted is misconfigured, and is not tried again', async () => {
    const source = world.node('wrong').source;
    expect(await world.ask('ilnd', NUMBER, { source })).toMatchObject({
      look: 'failed',
      because: { fault: 'unauthorised', reason: 'Invalid token.' },
    });
    expect(world.site.requests).toHaveLength(1);
    expect(world.site.requests[0]?.authorization).toBe('Token wrong');
  });

  it('row 2: without the grant for entries, head and parties are recorded as a part', async () => {
    world.site.health.entriesGranted = false;
    world.site.addParty(docket, { name: 'Harrowgate Tile Works, LLC', attorneys: [{ name: 'Isaura Quillfeather' }] });
    const look = await world.ask('ilnd', NUMBER);
    expect(look).toMatchObject({ look: 'partial', because: { fault: 'forbidden' } });
    const { body } = await world.world.ask('ilnd', NUMBER, { context: 'full' });
    expect(body).toMatchObject({
      case: { case_name: 'Harrowgate Tile Works, LLC v. Pellworth', parties: [{ name: 'Harrowgate Tile Works, LLC' }] },
    });
  });

  it('row 3: a look waits for the limit of a minute, and continues at its cursor', async () => {
    for (let number = 2; number <= 45; number++)
      world.site.addEntry(docket, { number, description: `NOTICE ${number}` });
    world.site.setRates([{ requests: 3, micros: 60_000_000 }]);
    const look = await world.ask('ilnd', NUMBER);
    expect(look).toMatchObject({ look: 'partial', because: { fault: 'throttled', retryAt: expect.any(Number) } });
    if (look.look !== 'partial') throw new Error('not partial');
    expect(await world.heldUntil()).toBe(look.because.retryAt);
    const pages = () =>
      world.site.requests.filter(({ url, status }) => url.startsWith('docket-entries') && status === 200);
    expect(pages()).toHaveLength(2);
    const before = world.site.requests.length;
    expect(await world.ask('ilnd', NUMBER, { stream: look.stream })).toMatchObject({ because: { fault: 'budget' } });
    expect(world.site.requests).toHaveLength(before);
    world.site.setRates([]);
    world.clock.advance(61_000);
    expect(await world.ask('ilnd', NUMBER, { stream: look.stream })).toMatchObject({ look: 'complete' });
    expect(pages()).toHaveLength(3);
    expect(await world.filings(look.stream)).toHaveLength(45);
  });

  it('row 4: a limit of a day holds everything until then, and fails at once', async () => {
    world.site.failNext({
      status: 429,
      headers: { 'Retry-After': '41000' },
      body: { detail: 'Request was throttled. Rate limit exceeded: 125/day. Expected available in 41000 seconds.' },
    });
    const now = world.clock.now();
    const look = await world.ask('ilnd', NUMBER);
    expect(look).toMatchObject({ look: 'failed', because: { fault: 'throttled' } });
    const { retryAt } = (look as { because: { retryAt: number } }).because;
    expect((retryAt - now) / 1e6).toBeCloseTo(41_000, -1);
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ because: { fault: 'budget', retryAt } });
    expect(world.site.requests).toHaveLength(1);
  });

  it('row 5: a blocked account is not a limit that ends', async () => {
    world.site.health.blocked = true;
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({
      look: 'failed',
      because: { fault: 'blocked', retryAt: null },
    });
  });

  it('row 6: the budget is lowered to what the source says, though it had more', async () => {
    world.site.setRates([{ requests: 1, micros: 60_000_000 }]);
    const look = await world.ask('ilnd', NUMBER);
    expect(look).toMatchObject({ because: { fault: 'throttled' } });
    expect(await world.heldUntil()).toBeGreaterThan(world.clock.now());
  });

  it('row 7: entries are read by cursor, in the order of their changes', async () => {
    for (let number = 2; number <= 25; number++)
      world.site.addEntry(docket, { number, description: `NOTICE ${number}` });
    await whole();
    const pages = world.site.requests.filter(({ url }) => url.startsWith('docket-entries'));
    expect(pages.map(({ url }) => new URLSearchParams(url.split('?')[1]).get('order_by'))).toEqual([
      'date_modified',
      'date_modified',
    ]);
    expect(pages[1]?.url).toContain('cursor=');
    expect(pages.every(({ url }) => url.includes('omit=recap_documents__plain_text'))).toBe(true);
  });

  it('row 8: no list is read by numbered pages, which end at the hundredth', async () => {
    for (let number = 2; number <= 25; number++)
      world.site.addEntry(docket, { number, description: `NOTICE ${number}` });
    await whole();
    expect(world.site.requests.some(({ url }) => /[?&]page=/.test(url))).toBe(false);
  });

  it('row 9: a page that is refused as too deep makes the look partial and withdraws nothing', async () => {
    for (let number = 2; number <= 25; number++)
      world.site.addEntry(docket, { number, description: `NOTICE ${number}` });
    world.site.failNext({
      path: 'cursor=',
      status: 404,
      body: { detail: 'Invalid page: Deep API pagination is not allowed. Please review API documentation.' },
    });
    const look = await world.ask('ilnd', NUMBER);
    expect(look).toMatchObject({ look: 'partial', because: { fault: 'unreadable' } });
    if (look.look !== 'partial') throw new Error('not partial');
    expect(await world.filings(look.stream)).toHaveLength(20);
    expect(await later(look.stream)).toMatchObject({ look: 'complete' });
    const filings = await world.filings(look.stream);
    expect(filings).toHaveLength(25);
    expect(filings.some(({ withdrawn }) => withdrawn)).toBe(false);
  });

  it('row 10: a cursor that is not valid any more starts the list again, and nothing is lost or doubled', async () => {
    for (let number = 2; number <= 125; number++)
      world.site.addEntry(docket, { number, description: `NOTICE ${number}` });
    let pages = 0;
    world.site.onAnswer(({ url }) => {
      const isFifth = url.startsWith('docket-entries') && ++pages === 5;
      if (isFifth) world.site.failNext({ path: 'cursor=', status: 404, body: { detail: 'Invalid cursor' } });
    });
    const stream = await whole();
    expect(await world.filings(stream)).toHaveLength(125);
    const asked = world.site.requests.filter(({ url, status }) => url.startsWith('docket-entries') && status === 200);
    expect(asked).toHaveLength(5 + 7);
    const left = [];
    for await (const blob of world.world.storage.payloads.list('look', '2100-01-01T00:00:00.000000Z')) left.push(blob);
    expect(left).toEqual([]);
  });

  it('row 11: an answer that only counts is not a page', async () => {
    world.site.failNext({ path: 'docket-entries', status: 200, body: { count: 7 } });
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'failed', because: { fault: 'unreadable' } });
  });

  it('row 12: a parameter that the source does not know is a fault of this service, and loud', async () => {
    world.site.failNext({
      status: 400,
      body: { detail: 'Unknown filter parameters are not allowed.', unknown_params: ['court_code'] },
    });
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({
      look: 'failed',
      because: { fault: 'bad_request', reason: 'Unknown filter parameters are not allowed. court_code' },
    });
    expect(world.errors).toHaveLength(1);
  });

  it('row 13: a row that changes between two pages comes twice and is one filing, in its newest form', async () => {
    for (let number = 2; number <= 25; number++)
      world.site.addEntry(docket, { number, description: `NOTICE ${number}` });
    let pages = 0;
    world.site.onAnswer(({ url }) => {
      if (url.startsWith('docket-entries') && ++pages === 1) {
        world.site.changeEntry(complaint, { description: 'AMENDED COMPLAINT filed by Harrowgate Tile Works, LLC' });
      }
    });
    const stream = await whole();
    const filings = await world.filings(stream);
    expect(filings).toHaveLength(25);
    expect(filings.find(({ entryNumber }) => entryNumber === 1)?.description).toMatch(/^AMENDED COMPLAINT/);
  });

  it('row 14: an entry that is doubled is one filing, also after one of its rows is deleted', async () => {
    const stub = world.site.addEntry(docket, motion({ description: '', timeFiled: '16:42:10' }));
    const full = world.site.doubleEntry(stub, { ...motion(), time_filed: null, description: motion().description });
    world.clock.advance(HOUR);
    const stream = await whole();
    const numbers = async () => (await world.filings(stream)).map(({ entryNumber }) => entryNumber);
    expect(await numbers()).toEqual([1, 12]);
    world.site.deleteEntry(stub);
    expect(await later(stream)).toMatchObject({ look: 'unchanged' });
    world.site.changeEntry(full, { recap_sequence_number: '2026-04-02.009' });
    await later(stream);
    expect(await numbers()).toEqual([1, 12]);
    expect((await world.filings(stream)).every(({ withdrawn }) => !withdrawn)).toBe(true);
  });

  it('row 14: of an entry doubled later, the second row is the same filing and is not announced again', async () => {
    const stub = world.site.addEntry(docket, motion({ description: '', timeFiled: '16:42:10' }));
    const stream = await whole();
    const [, before] = await world.filings(stream);
    world.site.doubleEntry(stub, { time_filed: null, description: motion().description });
    await later(stream);
    const filings = await world.filings(stream);
    expect(filings).toHaveLength(2);
    expect(filings[1]).toMatchObject({
      filingId: before?.filingId,
      availableAt: before?.availableAt,
      description: expect.stringContaining('to dismiss'),
    });
  });

  it('row 15: an entry known by its short name and time of entry is filled by its text, and dated anew', async () => {
    const stream = await whole();
    world.clock.advance(HOUR);
    const entry = world.site.addEntry(
      docket,
      motion({ description: '', timeFiled: '16:42:10', dateFiled: '2026-04-02' }),
    );
    await later(stream);
    const [, stub] = await world.filings(stream);
    expect(stub).toMatchObject({
      description: '',
      shortDescription: 'Motion to Dismiss',
      enteredAt: '2026-04-02T21:42:10.000000Z',
      dateFiled: null,
    });
    world.clock.advance(HOUR);
    world.site.changeEntry(entry, { description: motion().description, time_filed: null, date_filed: '2026-04-01' });
    await later(stream);
    const filings = await world.filings(stream);
    expect(filings).toHaveLength(2);
    expect(filings[1]).toMatchObject({
      filingId: stub?.filingId,
      availableAt: stub?.availableAt,
      dateFiled: '2026-04-01',
      enteredAt: '2026-04-02T21:42:10.000000Z',
      description: expect.stringContaining('to dismiss'),
    });
  });

  it('row 16: minute entries without number and document are filings', async () => {
    world.site.addEntry(docket, { description: 'MINUTE entry: status hearing set.', sequence: 11 });
    world.site.addEntry(docket, { description: 'Set/Reset Deadlines.', sequence: 50, documents: [] });
    const filings = await world.filings(await whole());
    expect(filings.map(({ entryNumber, documentIdentifier }) => [entryNumber, documentIdentifier])).toEqual([
      [1, '067030118841'],
      [null, null],
      [null, null],
    ]);
  });

  it('row 17: a document sealed later is found though its entry did not move, and its public text stays', async () => {
    const stream = await whole();
    world.clock.advance(HOUR);
    world.site.sealDocument(complaint);
    expect(await later(stream)).toMatchObject({ look: 'complete' });
    const [filing] = await world.filings(stream);
    expect(filing).toMatchObject({ sealed: true, withdrawn: false, description: expect.stringMatching(/^COMPLAINT/) });
    const { body } = await world.world.ask('ilnd', NUMBER, { context: 'full' });
    const [shown] = bodyOf({ body } as never).case.docket_history;
    expect(shown).toMatchObject({
      sealed: true,
      description: expect.stringMatching(/^COMPLAINT/),
      document_identifier: null,
      external_url: null,
      attachments: [],
    });
    expect(JSON.stringify(body)).not.toContain('067030118841');
    // A feed that says nothing of the seal does not end it.
    world.site.changeEntry(complaint, { recap_sequence_number: '2026-03-02.009' });
    for (const document of world.site.rows.documentsOf(complaint))
      world.site.changeDocument(document.id, { is_sealed: null });
    await later(stream);
    expect((await world.filings(stream))[0]?.sealed).toBe(true);
    for (const document of world.site.rows.documentsOf(complaint))
      world.site.changeDocument(document.id, { is_sealed: false });
    await later(stream);
    expect((await world.filings(stream))[0]?.sealed).toBe(false);
  });

  it('row 17: a text that is taken away for a notice of its seal is not served any more', async () => {
    const stream = await whole();
    world.site.changeEntry(complaint, { description: 'SEALED DOCUMENT by Plaintiff' });
    await later(stream);
    expect((await world.filings(stream))[0]).toMatchObject({ sealed: true, withdrawn: true });
    const { body } = await world.world.ask('ilnd', NUMBER, { context: 'full' });
    expect(JSON.stringify(body)).not.toContain('COMPLAINT filed by');
  });

  it('row 18: a docket that was deleted after a merge is looked up again by its number', async () => {
    const stream = await whole();
    const survivor = world.site.addDocket({ court: 'ilnd', number: NUMBER, pacerCaseId: '489904' });
    world.site.addEntry(survivor, {
      number: 1,
      description: 'COMPLAINT filed by Harrowgate Tile Works, LLC (Quillfeather, Isaura) (Entered: 03/02/2026)',
      sequence: 3,
      documents: [{ pacerDocId: '067030118841', description: 'Complaint' }],
    });
    world.site.addEntry(survivor, motion());
    world.site.deleteDocket(docket);
    expect(await later(stream)).toEqual({ look: 'complete', stream });
    expect((await world.filings(stream)).map(({ entryNumber }) => entryNumber)).toEqual([1, 12]);
    const before = world.site.requests.length;
    expect(await later(stream)).toMatchObject({ stream });
    expect(world.site.requests.slice(before).map(({ url, status }) => [url.split('?')[0], status])).toEqual([
      [`dockets/${survivor}/`, 200],
      ['docket-entries/', 200],
      ['docket-entries/', 200],
    ]);
  });

  it('row 19: two dockets of one number are one case, and an entry of both is one filing', async () => {
    const twin = world.site.addDocket({ court: 'ilnd', number: NUMBER, pacerCaseId: '489999' });
    world.site.addEntry(twin, {
      number: 1,
      description: 'COMPLAINT filed by Harrowgate Tile Works, LLC',
      sequence: 3,
      documents: [{ pacerDocId: '067130118841', description: 'Complaint' }],
    });
    world.site.addEntry(twin, motion());
    const stream = await whole();
    expect((await world.filings(stream)).map(({ entryNumber }) => entryNumber)).toEqual([1, 12]);
  });

  it('row 19: dockets of another case are not merged', async () => {
    const other = world.site.addDocket({
      court: 'ilnd',
      number: NUMBER,
      name: 'Ombersley v. Blythe',
      dateFiled: '1998-01-05',
    });
    world.site.changeDocket(docket, {});
    world.site.addEntry(other, { number: 9, description: 'JUDGMENT of another case' });
    world.site.changeDocket(docket, {});
    expect((await world.filings(await whole())).map(({ entryNumber }) => entryNumber)).toEqual([1]);
  });

  it('row 20: nested rows of other dockets are asked to be left out, and ignored', async () => {
    const other = world.site.addDocket({ court: 'cand', number: '3:24-cv-04321' });
    const party = world.site.addParty(docket, {
      name: 'Lucan Pellworth',
      type: 'Defendant',
      attorneys: [{ name: 'Ferrand Drumgold' }],
    });
    world.site.alsoIn(party, other, { type: 'Counter Claimant', attorney: 'Somebody Else' });
    await whole();
    const asked = world.site.requests.filter(({ url }) => /^(?:parties|attorneys)/.test(url));
    expect(asked).toHaveLength(2);
    expect(asked.every(({ url }) => url.includes('filter_nested_results=True'))).toBe(true);
    const { body } = await world.world.ask('ilnd', NUMBER, { context: 'full' });
    expect(JSON.stringify(body)).not.toMatch(/Counter Claimant|Somebody Else/);
  });

  it('row 21: an attorney of unknown role is kept, and no address of one is', async () => {
    world.site.addParty(docket, {
      name: 'Lucan Pellworth',
      type: 'Defendant',
      attorneys: [
        { name: 'Ferrand Drumgold', roles: [10], contact: 'Drumgold Example LLP\n200 Invented Plaza\n(312) 555-0142' },
        { name: 'Thessaly Ombersley', roles: [null] },
        { name: 'Isaura Quillfeather', roles: [2] },
      ],
    });
    await whole();
    const { body } = await world.world.ask('ilnd', NUMBER, { context: 'full' });
    const [party] = bodyOf({ body } as never).case.parties;
    expect(party.attorneys).toMatchObject([
      { name: 'Ferrand Drumgold', role: null, firm: 'Drumgold Example LLP' },
      { name: 'Thessaly Ombersley', role: null },
      { name: 'Isaura Quillfeather', role: 'Lead attorney' },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/Invented Plaza|555-0142/);
  });

  it('row 22: maintenance is a page for people, and no answer about the case', async () => {
    world.site.health.maintenance = true;
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'failed', because: { fault: 'unavailable' } });
    world.site.health.maintenance = false;
    world.site.failNext({ status: 200, body: '<html>We will be back</html>' });
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'failed', because: { fault: 'unreadable' } });
  });

  it('row 23: with the search down, a case is what the database says of it', async () => {
    const appeal = world.site.addDocket({ court: 'ca7', number: '26-1234', name: 'Pellworth v. Harrowgate' });
    world.site.addEntry(appeal, { number: 1, description: 'NOTICE of appeal' });
    world.site.health.searchDown = true;
    expect(await world.ask('ca7', '26-1234')).toMatchObject({ look: 'complete' });
    expect(await world.ask('ca7', '26-9999')).toEqual({ look: 'not_found' });
    world.site.health.searchDown = false;
    const spelled = world.site.addDocket({ court: 'ca7', number: 'No. 26-4321', name: 'Blythe v. Ombersley' });
    world.site.addEntry(spelled, { number: 1, description: 'NOTICE of appeal' });
    expect(await world.ask('ca7', '26-4321')).toMatchObject({ look: 'complete' });
  });
});
