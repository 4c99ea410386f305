/**
 * Personal data through the real program: a docket by `docket import` and `docket cases export`, and a log that older
 * rules masked, on which the service is killed repeatedly while it masks it by the current rules. Invented data.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ingestDocket } from '../../src/commands/docket/ingest.ts';
import { COMPLETE } from '../../src/projections/freshness.ts';
import { createCaseQueries } from '../../src/queries/case-answer.ts';
import { systemClock, toInstant } from '../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../src/sources/juriscraper/juriscraper.ts';
import { Database } from '../../src/storage/sqlite/driver.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { docket } from '../crash/agreement.ts';
import { type Stage, setStage } from '../crash/paid-load.ts';
import { rawDocket, rawEntry } from '../dockets/raw-docket.ts';
import { bodyOf, contextOf, court } from '../dockets/world.ts';
import { type RunningProcess, spawnDocket, until } from '../support/processes.ts';

/** This process stores content as rules that mask nothing would; the program that it starts has the current rules. */
vi.mock(import('../../src/dockets/mask.ts'), async (original) => {
  const { cleanText, clip } = await import('../../src/dockets/text.ts');
  const shown = (text: string, limit: number) => clip(cleanText(text), limit);
  return {
    ...(await original()),
    MASKING_VERSION: 1 as never,
    maskPersonalDetails: (text) => text,
    maskedText: shown,
    maskedName: shown,
  };
});

const KILLS = Number(process.env.KILLS ?? 20);
/** Each has two contents with personal details: its filings and its head. */
const DOCKETS = 120;
const SERVING_WITHIN_MS = 120_000;

/** A text of each kind, and the part that must not remain anywhere: long enough to occur in no random id. */
const PERSONAL: readonly (readonly [text: string, ...secrets: string[]])[] = [
  ['Motion for Relief from Stay Property: 2280 COPPER SAMPLE COURT, HENDERSON, NV 89002 . Fee $199', 'COPPER SAMPLE'],
  [
    'Motion to Value Collateral Property: 6122 Harrier Run, Las Vegas, NV 89108 with Certificate',
    'Harrier Run',
    '6122 Harrier',
  ],
  ['Application to Allow Loan Modification (re 9071 S. Mesa Vista, Yuma, Arizona 85364)', '9071 S.', 'Mesa Vista'],
  [
    'Notice of sale no. 4410 Bramble Hollow, Little Rock, Arkansas 72205 and its fixtures',
    '4410 Bramble',
    'Bramble Hollow',
  ],
  ['Motion to abandon the vehicle and 733 Fern Bend, Knoxville, TN 37919', 'Fern Bend'],
  [
    'TRANSCRIPT. Contact: 29 West Muster Street, Suite 1300 Chicago, IL 60603 312-555-0177',
    '555-0177',
    'Muster Street',
  ],
  ['Reporter may be reached at 3125550188 before the hearing', '3125550188'],
  ['NOTICE of address: muster@example.org, telephone (202) 555-0155', 'muster@example', '555-0155'],
  ['PETITION by A-Number: 205118733 for review', '205118733'],
  ['RECEIPT of Passport # 066843211 for defendant', '066843211'],
  ['Declaration as to account no. 9876543210987654', '9876543210987654'],
  ["Exhibit with driver's license D7654321 returned", 'D7654321'],
  ['Statement of SSN 123-45-6789 stricken', '123-45-6789'],
];
const SECRETS = [...PERSONAL.flatMap(([, ...secrets]) => secrets), '555-0166'];

/** Ordinary texts that resemble one of them. */
const PLAIN = [
  'NOTICE OF MOTION pursuant to F.R.C.P. 12(b)(6), and F.R.C.P. 4(f)',
  "Response (Related document(s) 141 Ch 7 Trustee's Motion to Amend, 142 Motion to Shorten Time)",
  'Amended Plan. Modified To Reflect Plan Number 3 In Place Of Plan Number 2',
  'Filing Fee. Receipt number A18166144, amount 338.00.',
];
const TEXTS = [...PERSONAL.map(([text]) => text), ...PLAIN];

const numberOf = (index: number): string => `3:24-cv-0${2_000 + index}`;
const report = (index: number, more: readonly string[] = []) =>
  rawDocket(
    [...TEXTS, ...more].map((text, at) => rawEntry(at + 1, '2024-02-05', text)),
    { docket_number: numberOf(index), case_name: `Muster ${index} v. Beispiel (202) 555-0166` },
  );

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-remasking-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const leftIn = (written: string): string[] => SECRETS.filter((secret) => written.includes(secret));
/** The text of each filing in an export, in order. */
const textsOf = (exported: string): string[] =>
  JSON.parse(exported).entries.map(({ description }: { description: string }) => description);

describe('a docket with personal data', () => {
  it('is imported and exported without it, and so is an export into which a person wrote it', async () => {
    const file = join(directory, 'docket.json');
    const through = async (dataDirectory: string, content: string): Promise<string> => {
      const environment = { DATA_DIR: join(directory, dataDirectory) };
      await writeFile(file, content);
      await docket(['import', file, '--json'], environment);
      expect(leftIn(await docket(['cases', 'show', 'cand', numberOf(0), '--json'], environment))).toEqual([]);
      return docket(['cases', 'export', 'cand', numberOf(0)], environment);
    };
    const exported = await through('first', JSON.stringify(report(0)));
    expect(leftIn(exported)).toEqual([]);
    expect(textsOf(exported).slice(PERSONAL.length)).toEqual(PLAIN);
    expect(textsOf(await through('second', exported))).toEqual(textsOf(exported));

    const { entries, ...rest } = JSON.parse(exported);
    const unmasked = entries.map((entry: object, at: number) => ({ ...entry, description: TEXTS[at] }));
    const again = await through('third', JSON.stringify({ ...rest, entries: unmasked }));
    expect(leftIn(again)).toEqual([]);
    expect(textsOf(again)).toEqual(textsOf(exported));
  });
});

describe(`${KILLS} kills of a service that masks stored content again`, () => {
  let stage: Stage;
  let service: RunningProcess | null = null;
  afterEach(async () => {
    await service?.kill();
    await stage?.chain.kill();
  });

  /** The log as an older service has left it. */
  async function storeByOldRules(): Promise<void> {
    const storage = openSqlite({ directory: stage.dataDirectory });
    const ports = { ...storage, clock: systemClock, newId: randomUUID, sleep: (ms: number) => delay(ms) };
    for (let index = 0; index < DOCKETS; index++) {
      const askedAt = toInstant(systemClock.now());
      const read = readJuriscraperDocket(report(index), { askedAt, complete: true, source: 'file' });
      if ('refused' in read) throw new Error(read.refused);
      expect(await ingestDocket(ports, read.snapshot, contextOf())).toMatchObject({ baselineFilings: TEXTS.length });
    }
    await storage.close();
  }

  /** What each case answers to a caller that asked then. */
  async function answersSince(lastChecked: string) {
    const { readStore, close } = openSqlite({ directory: stage.dataDirectory });
    const queries = createCaseQueries({ readStore, freshness: COMPLETE, clock: systemClock });
    const answers = [];
    for (let index = 0; index < DOCKETS; index++) {
      const answer = await queries.answerCase({
        court: court('cand'),
        courtCode: 'cand',
        caseId: numberOf(index),
        lastChecked,
        since: lastChecked,
        context: 'full',
        language: null,
        filingTypes: null,
      });
      if ('problem' in answer) throw new Error(answer.problem);
      answers.push(bodyOf(answer));
    }
    await close();
    return answers;
  }

  /** The progress so far; checked without writing, so that the next start recovers what the kill left. */
  function progress(): { readonly redacted: number; readonly applied: number } {
    const database = new Database(join(stage.dataDirectory, 'log.sqlite'), { readonly: true });
    try {
      const count = database.prepare<[string], number>('SELECT count(*) FROM events WHERE type = ?').pluck();
      return { redacted: count.get('ContentRedacted') ?? 0, applied: count.get('MaskingApplied') ?? 0 };
    } finally {
      database.close();
    }
  }

  async function importAll(more: readonly string[] = []) {
    const file = join(directory, 'again.ndjson');
    const reports = Array.from({ length: DOCKETS }, (_, index) => report(index, index === 0 ? more : []));
    await writeFile(file, reports.map((each) => JSON.stringify(each)).join('\n'));
    return JSON.parse(await docket(['import', file, '--json'], stage.environment));
  }

  it('lose nothing, make no filing new, and the last start completes it', async () => {
    stage = await setStage(directory, 0);
    await storeByOldRules();
    const before = toInstant(systemClock.now());
    expect(progress()).toEqual({ redacted: 0, applied: 0 });

    const step = Math.ceil((2 * DOCKETS) / (KILLS + 1));
    let inTheMiddle = 0;
    for (let kill = 0; kill < KILLS && progress().applied === 0; kill++) {
      const target = progress().redacted + randomInt(step);
      service = spawnDocket(['serve'], stage.environment);
      const reached = async () => progress().redacted > target || progress().applied > 0;
      await until('it makes this progress', reached, { process: service, within: SERVING_WITHIN_MS, every: 1 });
      await service.kill();
      const { redacted, applied } = progress();
      if (redacted > 0 && applied === 0) inTheMiddle++;
    }
    expect(inTheMiddle, 'kills before the work was done').toBeGreaterThan(0);
    service = spawnDocket(['serve'], stage.environment);
    const completed = async () => progress().applied > 0;
    await until('it completes', completed, { process: service, within: SERVING_WITHIN_MS });
    expect(await service.stop()).toBe(0);

    const events = (await docket(['audit', 'replay', 'all', '--json'], stage.environment))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { type: string; data: { name?: string } });
    const namesOf = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data.name);
    expect(new Set(namesOf('ContentRedacted')).size).toBe(2 * DOCKETS);
    expect(['ContentRedacted', 'MaskingApplied', 'FilingsRecorded'].map((type) => namesOf(type).length)).toEqual([
      2 * DOCKETS,
      1,
      DOCKETS,
    ]);
    expect(namesOf('FilingRevised')).toEqual([]);

    expect(await importAll()).toMatchObject({
      refused: 0,
      new_filings: 0,
      baseline_filings: 0,
      revised: 0,
      unchanged: DOCKETS * TEXTS.length,
    });
    for (const { case: served, delta } of await answersSince(before)) {
      expect(delta).toMatchObject({ changed: false, change_count: 0 });
      expect(served.filing_count).toBe(TEXTS.length);
      expect(leftIn(JSON.stringify(served))).toEqual([]);
      const said = served.docket_history.map((filing: { description: string }) => filing.description);
      expect(said).toEqual(expect.arrayContaining(PLAIN));
    }
    for (const file of await readdir(stage.dataDirectory, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      expect([file.name, leftIn(await readFile(join(file.parentPath, file.name), 'latin1'))]).toEqual([file.name, []]);
    }

    // New filings are still reported: the comparison above could have failed.
    await importAll(['ORDER granting the motion']);
    const [first] = await answersSince(before);
    expect(first.delta).toMatchObject({ changed: true, change_count: 1 });
  });
});
