import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCasesCommand } from '../../../src/cli/cases/cases.ts';
import { withdraw } from '../../../src/cli/cases/withdraw.ts';
import { type CliContext, CliError, EXIT } from '../../../src/cli/command.ts';
import { createImportCommand } from '../../../src/cli/import/import.ts';
import { FILINGS, type FilingDocument } from '../../../src/dockets/case-document.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { DOCKET_ID, docket, entry, page } from '../../sources/courtlistener/courtlistener.fixtures.ts';

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

let folder: string;

async function run(data: string, ...argv: string[]) {
  const stdout = new Collected();
  const stderr = new Collected();
  const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
  const program = new Command().exitOverride();
  const open = async () => openSqlite({ directory: join(folder, data) });
  createCasesCommand(open)(program, context);
  createImportCommand(open)(program, context);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return { code: EXIT.ok as number, out: stdout.text, err: stderr.text, error: null };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { code: error.exitCode, out: stdout.text, err: stderr.text, error };
  }
}
const cases = (...argv: string[]) => run('data', 'cases', ...argv);
const json = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function importDocket(data: string, name: string, docket: unknown, ...argv: string[]) {
  const path = join(folder, name);
  await writeFile(path, typeof docket === 'string' ? docket : JSON.stringify(docket));
  return run(data, 'import', path, ...argv);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-cases-'));
  const first = rawEntry(1, '2024-02-01', 'COMPLAINT against Example Corporation');
  const motion = rawEntry(2, '2024-02-20', 'MOTION to Dismiss filed by Example Corporation');
  const order = rawEntry(3, '2024-03-01', 'ORDER setting a conference');
  await importDocket('data', 'a.json', rawDocket([first, motion, order]), '--asked-at', '2024-03-02T00:00:00Z');
  const corrected = { ...motion, description: 'MOTION to Dismiss for Lack of Standing filed by Example Corporation' };
  const sealed = { ...order, description: '*SEALED* ORDER setting a conference' };
  await importDocket('data', 'b.json', rawDocket([first, corrected, sealed]), '--asked-at', '2024-03-05T00:00:00Z');
  await importDocket('data', 'c.json', rawDocket([first], { docket_number: '3:24-cv-01299' }));
  await importDocket(
    'data',
    'd.json',
    rawDocket([first], { court_id: 'nysd', docket_number: '1:24-cv-00007', federal_dn_office_code: '1' }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('docket cases list', () => {
  it('lists all cases or those of a court, up to the limit', async () => {
    const { out } = await cases('list');
    expect(out).toMatch(/^cand +3:24-cv-01234 +3 filings .*Sample Person v\. Example Corporation$/m);
    expect(out).toMatch(/^3 cases$/m);
    expect(json((await cases('list', '--court', 'nysd', '--json')).out)).toMatchObject([
      { court_code: 'nysd', case_number: '1:24-cv-00007', filing_count: 1, whole: true },
    ]);
    const short = await cases('list', '--limit', '1');
    expect(short.out.trim().split('\n')).toHaveLength(2);
    expect(short.out).toContain('--limit 0');
    expect(json((await cases('list', '--limit', '0', '--json')).out)).toHaveLength(3);
  });

  it('rejects an unknown court and an invalid limit', async () => {
    expect(await cases('list', '--court', 'candd')).toMatchObject({
      code: EXIT.usage,
      error: { hint: expect.stringContaining('cand') },
    });
    expect((await cases('list', '--limit', 'many')).code).toBe(EXIT.usage);
  });
});

describe('docket cases show', () => {
  it('shows a case with the revisions of each filing', async () => {
    const [shown] = json((await cases('show', 'cand', '3:24-CV-1234-RJ', '--json')).out);
    expect(shown).toMatchObject({ court_code: 'cand', case_number: '3:24-cv-01234', filing_count: 3 });
    const motion = shown.filings.find(({ entry_number }: { entry_number: number }) => entry_number === 2);
    expect(motion.versions).toMatchObject([
      {
        what: 'recorded',
        asked_at: '2024-03-02T00:00:00.000000Z',
        text: 'MOTION to Dismiss filed by Example Corporation',
      },
      {
        what: 'revised',
        asked_at: '2024-03-05T00:00:00.000000Z',
        changed: ['description'],
        text: 'MOTION to Dismiss for Lack of Standing filed by Example Corporation',
      },
    ]);
    const { out } = await cases('show', 'cand', '3:24-cv-01234');
    expect(out).toMatch(/ #2 {2}2024-02-20 {2}motion +MOTION to Dismiss for Lack of Standing/);
    expect(out).toMatch(/revised \(description\); was: MOTION to Dismiss filed by Example Corporation$/m);
  });

  it('reveals no version of a sealed filing', async () => {
    const { out } = await cases('show', 'cand', '3:24-cv-01234', '--json');
    expect(out).not.toContain('setting a conference');
    const filing = json(out)[0].filings.find(({ entry_number }: { entry_number: number }) => entry_number === 3);
    expect(filing).toMatchObject({
      withdrawn: true,
      versions: expect.arrayContaining([
        expect.objectContaining({ what: 'withdrawn', changed: ['sealed'], text: null }),
      ]),
    });
    expect((await cases('show', 'cand', '3:24-cv-01234')).out).toContain('(withdrawn)');
  });

  it('shows only the revised filings on request', async () => {
    const [shown] = json((await cases('show', 'cand', '3:24-cv-01234', '--revised', '--json')).out);
    expect(shown.filings.map(({ entry_number }: { entry_number: number }) => entry_number)).toEqual([2, 3]);
  });

  it.each([
    [['cand', '3:24-cv-09999'], /not known/],
    [['cand', 'no number!'], /has no case numbers like/],
  ])('says why there is no case: %s', async (argv, message) => {
    const { code, error } = await cases('show', ...argv);
    expect(code).toBe(EXIT.found);
    expect(error?.message).toMatch(message);
  });
});

describe('docket cases export', () => {
  it('writes the format that docket import reads: another service then shows the same', async () => {
    const { out } = await cases('export', 'cand', '3:24-cv-01234');
    expect(out.trim().split('\n')).toHaveLength(1);
    const imported = await importDocket('other', 'export.ndjson', out, '--json');
    expect(imported.code).toBe(EXIT.ok);
    const again = await run('other', 'cases', 'export', 'cand', '3:24-cv-01234');
    expect(JSON.parse(again.out)).toEqual(JSON.parse(out));
    expect(out).not.toContain('setting a conference');
    // Where it came from, none of it is new.
    const back = JSON.parse((await importDocket('data', 'back.ndjson', out, '--json')).out);
    expect(JSON.stringify(back)).toMatch(/"newFilings":0|"new_filings":0/);
  });
});

describe('docket cases, with lost read models', () => {
  it('says what is unknown, instead of denying it, until they are rebuilt', async () => {
    const first = rawEntry(1, '2024-02-01', 'COMPLAINT');
    await importDocket('lost', 'lost.json', rawDocket([first]));
    for (const end of ['', '-wal', '-shm']) await rm(join(folder, 'lost', `read.sqlite${end}`), { force: true });

    for (const options of [[], ['--json']]) {
      const listed = await run('lost', 'cases', 'list', ...options);
      expect([listed.code, listed.out]).toEqual([EXIT.ok, options.length > 0 ? '' : '0 cases\n']);
      expect(listed.err).toMatch(/^This list is not complete: .*behind the log\. Start the service/);
    }
    for (const words of ['show', 'export']) {
      for (const number of ['3:24-cv-01234', '24-cv-01234', '3:24-cv-09999']) {
        const { code, error } = await run('lost', 'cases', words, 'cand', number);
        expect(code).toBe(EXIT.unavailable);
        expect(error?.message).toContain('Cannot tell yet');
      }
    }
    expect((await run('lost', 'cases', 'show', 'cand', 'no number!')).code).toBe(EXIT.found);

    await importDocket('lost', 'other.json', rawDocket([first], { docket_number: '3:24-cv-01299' }));
    expect(await run('lost', 'cases', 'list')).toMatchObject({ err: '', out: expect.stringMatching(/^2 cases$/m) });
    expect((await run('lost', 'cases', 'show', 'cand', '24-cv-01234')).code).toBe(EXIT.ok);
    expect((await run('lost', 'cases', 'show', 'cand', '3:24-cv-09999')).code).toBe(EXIT.found);
  });
});

describe('docket import of saved pages of CourtListener', () => {
  it('combines a folder of them into one docket, once, among other files', async () => {
    const pages = join(folder, 'pages');
    await mkdir(pages);
    const save = (name: string, value: unknown) => writeFile(join(pages, name), JSON.stringify(value));
    await save(
      'a-entries.json',
      page([entry(DOCKET_ID, 1, 'COMPLAINT against Example Mill')], { next: 'https://x/?c=b' }),
    );
    await save('b-entries.json', page([entry(DOCKET_ID, 2, 'ORDER')], { previous: 'https://x/?c=a' }));
    await save('dockets.json', page([docket(DOCKET_ID)]));
    await save('report.json', rawDocket([rawEntry(1, '2024-02-01', 'COMPLAINT')]));
    const first = await run('pages-data', 'import', pages);
    expect([first.code, first.error]).toEqual([EXIT.ok, null]);
    expect(first.out).toContain('3 pages of CourtListener');
    expect(json((await run('pages-data', 'cases', 'list', '--json')).out)).toMatchObject([
      { case_number: '3:24-cv-01234', filing_count: 1, whole: true },
      { case_number: '3:24-cv-04321', filing_count: 2, whole: true },
    ]);
    await run('pages-data', 'import', pages);
    const [shown] = json((await run('pages-data', 'cases', 'show', 'cand', '3:24-cv-04321', '--json')).out);
    expect(shown.filings.map(({ versions }: { versions: unknown[] }) => versions.length)).toEqual([1, 1]);
  });
});

describe('docket cases withdraw', () => {
  const SECRET = 'Jane Roe';
  const order = { by: 'J. Muster', reason: 'order of 2 March', json: true } as const;

  it('fails until answers no longer contain the text, says so, and completes when run again', async () => {
    await importDocket('withdrawn', 'w.json', rawDocket([rawEntry(1, '2024-02-01', `COMPLAINT of ${SECRET}`)]));
    const storage = await openSqlite({ directory: join(folder, 'withdrawn') });
    const stdout = new Collected();
    const stderr = new Collected();
    const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
    try {
      const shown = async () => (await storage.readStore.find<FilingDocument>({ collection: FILINGS, limit: 10 }))[0]!;
      const { case: stream, filingId: filing } = (await shown()).document;
      const text = async () => JSON.stringify((await shown()).document);
      // Another process holds the projection and makes no progress.
      const lease = await storage.readStore.acquireLease(
        'projection/cases@1',
        'stuck',
        Date.now() * 1000,
        3_600_000_000,
      );
      const run = (shownWithinMs: number) =>
        withdraw(storage, context, stream, { ...order, filing }, { queriesMs: 0, shownWithinMs });
      await expect(run(50)).rejects.toMatchObject({ exitCode: EXIT.unavailable, hint: /run this command again/ });
      expect(stdout.text).toBe('');
      expect(await text()).toContain(SECRET);

      await storage.readStore.releaseLease(lease!);
      await run(30_000);
      expect(JSON.parse(stdout.text)).toMatchObject({ filing_id: filing });
      expect(await text()).not.toContain(SECRET);
    } finally {
      await storage.close();
    }
  });
});
