import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CliContext, CliError, EXIT } from '../../../src/cli/command.ts';
import { createImportCommand } from '../../../src/cli/import/import.ts';
import { COMPLETE } from '../../../src/projections/freshness.ts';
import { createCaseQueries } from '../../../src/queries/case-answer.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openSqlite } from '../../../src/storage/sqlite/open.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { bodyOf, court } from '../../dockets/world.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docket-import-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const storage = async () => openSqlite({ directory: join(folder, 'data') });

class Collected extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Runs the command in this process; returns its output and the code that it would exit with. */
async function run(...argv: string[]) {
  const stdout = new Collected();
  const stderr = new Collected();
  const context: CliContext = { environment: {}, stdin: process.stdin, stdout, stderr, interactive: false };
  const program = new Command().exitOverride();
  createImportCommand(storage)(program, context);
  let exitCode: number = EXIT.ok;
  let error: CliError | null = null;
  try {
    await program.parseAsync(['import', ...argv], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    error = thrown;
    exitCode = thrown.exitCode;
  }
  return { exitCode, error, out: stdout.text, err: stderr.text };
}

const write = async (name: string, content: unknown): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return path;
};

async function filingCount(number = '3:24-cv-01234'): Promise<number | null> {
  const { readStore, close } = await storage();
  const answer = await createCaseQueries({ readStore, freshness: COMPLETE, clock: systemClock }).answerCase({
    court: court('cand'),
    courtCode: 'cand',
    caseId: number,
    lastChecked: null,
    since: null,
    context: 'basic',
    language: null,
    filingTypes: null,
  });
  await close();
  return 'problem' in answer ? null : bodyOf(answer).case.filing_count;
}

const two = rawDocket([rawEntry(1, '2024-02-05', 'COMPLAINT'), rawEntry(2, '2024-02-06', 'SUMMONS issued')]);
const three = { ...two, docket_entries: [...two.docket_entries, rawEntry(3, '2024-03-01', 'ORDER')] };

describe('docket import', () => {
  it('is visible in answers when it returns, and prints a summary', async () => {
    const { exitCode, out } = await run(await write('two.json', two));
    expect([exitCode, out]).toEqual([0, expect.stringContaining('2 entries recorded as its history')]);
    expect(await filingCount()).toBe(2);
  });

  it('changes nothing for bytes already imported, in this run or another', async () => {
    const path = await write('two.json', two);
    const copy = await write('copy.json', two);
    expect(JSON.parse((await run(path, copy, '--json')).out)).toMatchObject({ dockets: 1, already_imported: 1 });
    expect(JSON.parse((await run(path, '--json')).out)).toMatchObject({ dockets: 0, already_imported: 1 });
    const { log, close } = await storage();
    expect((await log.read('docket-cand-3:24-cv-01234')).filter(({ type }) => type === 'DocketChecked')).toHaveLength(
      1,
    );
    await close();
  });

  it('applies two versions of one docket in the given order', async () => {
    const report = JSON.parse((await run(await write('a.json', two), await write('b.json', three), '--json')).out);
    expect(report).toMatchObject({ dockets: 2, baseline_filings: 2, new_filings: 1, unchanged: 2 });
    expect(await filingCount()).toBe(3);
  });

  it('reads folders, lists and files with one docket per line', async () => {
    await mkdir(join(folder, 'in', 'deep'), { recursive: true });
    const numbered = (number: string) => rawDocket(two.docket_entries, { docket_number: number });
    await write('in/list.json', [numbered('3:24-cv-00001'), numbered('3:24-cv-00002')]);
    await write(
      'in/deep/lines.ndjson',
      `${JSON.stringify(numbered('3:24-cv-00003'))}\n\nno json\n${JSON.stringify(numbered('3:24-cv-00004'))}`,
    );
    await write('in/readme.txt', 'not a docket');
    const { exitCode, out } = await run(join(folder, 'in'), '--json');
    expect(exitCode).toBe(EXIT.found);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ dockets: 4, refused: 1 });
    expect(report.files.flatMap((file: { refusals: unknown[] }) => file.refusals)).toEqual([
      { where: 'line 3', why: expect.stringContaining('is not JSON') },
    ]);
    expect(await filingCount('3:24-cv-00004')).toBe(2);
  });

  it('reports what it skipped and why, and imports the rest', async () => {
    const path = await write('odd.json', { ...two, docket_entries: [...two.docket_entries, { description: 5 }] });
    const { exitCode, out } = await run(path, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(out).files[0]).toMatchObject({
      skipped_entries: 1,
      entries: 3,
      skipped: [{ where: 'docket_entries[2]', why: expect.stringContaining('description') }],
    });
    expect(await filingCount()).toBe(2);
  });

  it.each([
    ['empty.json', ''],
    ['broken.json', '{"court_id":'],
    ['deep.json', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['binary.json', Buffer.from([0, 255, 254, 0, 1])],
    ['other.json', { results: [] }],
  ])('rejects %s with a reason and a code, and does not crash', async (name, content) => {
    const { exitCode, out, error } = await run(await write(name, content));
    expect(exitCode).toBe(EXIT.found);
    expect(out).toContain('not usable');
    expect(error?.hint).toBeTruthy();
  });

  it('rejects wrong usage before it does anything', async () => {
    const path = await write('two.json', two);
    expect(await run(path, join(folder, 'nowhere.json'))).toMatchObject({ exitCode: EXIT.usage });
    expect(await run(path, '--asked-at', 'yesterday')).toMatchObject({ exitCode: EXIT.usage });
    expect(await run(path, '--asked-at', '2999-01-01T00:00:00Z')).toMatchObject({ exitCode: EXIT.usage });
    await mkdir(join(folder, 'void'));
    expect(await run(join(folder, 'void'))).toMatchObject({ exitCode: EXIT.usage });
    expect(await filingCount()).toBeNull();
  });

  it('applies --asked-at and --partial', async () => {
    await run(await write('two.json', two), '--partial', '--asked-at', '2026-03-01T13:00:00+01:00');
    const { log, close } = await storage();
    const [check] = (await log.read('docket-cand-3:24-cv-01234')).filter(({ type }) => type === 'DocketChecked');
    expect(check?.data).toMatchObject({ askedAt: '2026-03-01T12:00:00.000000Z', complete: false, outcome: 'partial' });
    await close();
  });
});
