/**
 * Given reports as a court's site writes them, when `examples/scraper/push.py` parses them with the real juriscraper and
 * pushes them, then they are recorded, a repetition finds nothing new, and what is new is announced once.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../http/world.ts';

const run = promisify(execFile);
const EXAMPLE = fileURLToPath(new URL('../../examples/scraper/', import.meta.url));
const ENVIRONMENT = fileURLToPath(new URL('../../scripts/python/environment.mjs', import.meta.url));
const DOCKET = 'cand-4-25-cv-00777.html';
const HISTORY = 'history-cand-4-25-cv-00777.html';
const STREAM = 'docket-cand-4:25-cv-00777';

let world: World;
let python: string;
let directory: string;
let token: string;
beforeAll(async () => {
  // Never skipped: if juriscraper cannot be installed, the test did not run.
  python = (await run(process.execPath, [ENVIRONMENT, join(EXAMPLE, 'requirements.txt')])).stdout.trim();
  world = await openWorld();
  token = await world.sourceToken('my-scraper', ['cand']);
  directory = await mkdtemp(join(tmpdir(), 'scraper-'));
}, 360_000);
afterAll(async () => {
  await world?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Runs the example on a report that was saved at a time. */
async function push(report: string, savedAt: string, ...options: readonly string[]) {
  const path = join(directory, report);
  await copyFile(join(EXAMPLE, 'reports', report), path).catch(() => undefined);
  await utimes(path, new Date(savedAt), new Date(savedAt));
  const argv = [join(EXAMPLE, 'push.py'), '--court', 'cand', ...options, path];
  const env = { ...process.env, DOCKET_URL: world.url, DOCKET_TOKEN: token };
  return run(python, argv, { env, timeout: 60_000 }).then(
    ({ stdout }) => ({ code: 0, said: stdout.trim().split(' ').slice(1).join(' '), stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, said: stdout.trim(), stderr }),
  );
}
const typesOf = async () => (await world.storage.log.read(STREAM)).map(({ type }) => type);

describe('push.py', () => {
  it('pushes what juriscraper finds in a docket report', async () => {
    expect(await push(DOCKET, '2025-02-22T18:00:00Z')).toMatchObject({
      code: 0,
      said: 'cand 4:25-cv-00777 recorded, 0 new, 0 revised',
    });
    const agent = await world.agent();
    const answer = await agent(`${world.url}/v2/case?court_code=cand&case_id=4:25-cv-00777&context=full`);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      case: { case_name: 'Birch Hollow Mill v. Canal Street Salt Company', filing_count: 4 },
    });
    // Addresses and telephones of attorneys end at the door.
    expect(text).not.toMatch(/Invented Plaza|510-555-0100|finch\.example/);
  });

  it('finds nothing new in the same report, saved again later', async () => {
    expect((await push(DOCKET, '2025-03-01T18:00:00Z')).said).toMatch(/unchanged, 0 new/);
    const checks = (await world.storage.log.read(STREAM)).filter(({ type }) => type === 'DocketChecked');
    expect(checks.map(({ data }) => [data.source, data.askedAt])).toEqual([
      ['my-scraper', '2025-02-22T18:00:00.000000Z'],
      ['my-scraper', '2025-03-01T18:00:00.000000Z'],
    ]);
  });

  it('announces the one new entry of a history report, which writes the others differently', async () => {
    const said = await push(HISTORY, '2025-03-08T18:00:00Z', '--report', 'history');
    expect(said).toMatchObject({ code: 0, said: expect.stringMatching(/recorded, 1 new/) });
    const before = await typesOf();
    expect((await push(HISTORY, '2025-03-08T18:00:00Z', '--report', 'history')).said).toMatch(/unchanged, 0 new/);
    expect(await typesOf()).toEqual(before);
  });

  it('keeps every letter of a report that is not UTF-8', async () => {
    const report = (await readFile(join(EXAMPLE, 'reports', DOCKET), 'utf8'))
      .replaceAll('4:25-cv-00777', '4:25-cv-00778')
      .replaceAll('Salt Company', 'Café');
    await writeFile(join(directory, 'latin.html'), report, 'latin1');
    expect(await push('latin.html', '2025-03-08T18:00:00Z')).toMatchObject({ code: 0 });
    const agent = await world.agent();
    const answer = await agent(`${world.url}/v2/case?court_code=cand&case_id=4:25-cv-00778`);
    expect(await answer.json()).toMatchObject({ case: { case_name: 'Birch Hollow Mill v. Canal Street Café' } });
  });

  it('says which report was not accepted and why, and keeps the token to itself', async () => {
    await writeFile(join(directory, 'empty.html'), '<html><body><p>Case not found.</p></body></html>');
    const failed = await push('empty.html', '2025-03-08T18:00:00Z');
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('juriscraper')]);
    await world.revokeSource('my-scraper');
    const refused = await push(DOCKET, '2025-03-09T18:00:00Z');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('401 source_token_required')]);
    expect(refused.stderr + refused.said).not.toContain(token);
  });
});
