/**
 * Given imitations of CourtListener and of the Supreme Court, and no running service, when an operator refreshes a case,
 * then the command says what came of it, and the log has what the source showed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/command.ts';
import { readConfig } from '../../../src/config.ts';
import { cases } from '../../../src/projections/cases.ts';
import { createProjectionRunner } from '../../../src/projections/runner.ts';
import { systemClock } from '../../../src/runtime/instant.ts';
import { openStorage } from '../../../src/service/open-storage.ts';
import { silent } from '../../http/serving.ts';
import { openTown } from '../../sources/town.ts';
import { docketInProcess } from '../../support/docket-in-process.ts';

let town: Awaited<ReturnType<typeof openTown>>;
let directory: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  town = await openTown();
  directory = await mkdtemp(join(tmpdir(), 'refresh-'));
  environment = { ...town.variables, DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'silent' };
});
afterAll(async () => {
  await town?.close();
  await rm(directory, { recursive: true, force: true });
});

const sources = (...argv: string[]) => docketInProcess(['sources', ...argv], environment);
const refresh = (...argv: string[]) => sources('refresh', ...argv);

describe('docket sources refresh', () => {
  it('records a case that was unknown, and later what is new in it', async () => {
    const first = await refresh('ilnd', '1:26-cv-02417', '--json');
    expect([first.code, first.err]).toEqual([EXIT.ok, expect.not.stringContaining('imitation-token')]);
    const { look, filings } = JSON.parse(first.out);
    expect([look, filings > 0]).toEqual(['complete', true]);
    const shown = await docketInProcess(['cases', 'show', 'ilnd', '1:26-cv-02417', '--json'], environment);
    expect(shown.code, shown.err).toBe(EXIT.ok);
    const again = await refresh('ilnd', '1:26-cv-02417');
    expect(again.code, again.err).toBe(EXIT.ok);
    expect(again.out).toMatch(new RegExp(`^ilnd 1:26-cv-02417: .*; ${filings} filings known.\\n$`));
  });

  it('counts what it has recorded while a running service folds the read models', async () => {
    const storage = await openStorage(readConfig(environment));
    const owner = 'a running service';
    const runner = createProjectionRunner({
      ...storage,
      projections: [cases],
      clock: systemClock,
      logger: silent,
      owner,
    });
    await runner.start();
    try {
      const { code, out, err } = await refresh('scotus', '25-447');
      expect([code, out], err).toEqual([
        EXIT.ok,
        expect.stringMatching(/showed everything; [1-9]\d* filings known\.\n$/),
      ]);
    } finally {
      await runner.stop();
      await storage.close();
    }
  });

  it('shows in the list what it has used of the budget, and when it succeeded', async () => {
    const { out } = await sources('list', '--json');
    const row = JSON.parse(out.split('\n')[0] ?? '');
    expect(row).toMatchObject({ name: 'courtlistener', configured: true });
    expect(row.budget.at(-1).used).toBeGreaterThan(0);
  });

  it('says that a source knows no such case, and what a query gets', async () => {
    for (const argv of [
      ['ilnd', '1:26-cv-09999'],
      ['scotus', '25-999'],
    ]) {
      const { code, out, err } = await refresh(...argv);
      expect([code, out]).toEqual([EXIT.found, '']);
      expect(err).toMatch(/knows no such case[\s\S]*404/);
    }
  });

  it('says that a source has the head of a docket alone, and what a query gets', async () => {
    town.courtListener.addDocket({ court: 'ilnd', number: '1:26-cv-08888' });
    const { code, err } = await refresh('ilnd', '1:26-cv-08888');
    expect([code, err]).toEqual([EXIT.found, expect.stringMatching(/no docket \(no_entries[\s\S]*503/)]);
  });

  it('says that a source could not be asked, and what a query gets', async () => {
    await town.maintenance();
    const { code, out, err } = await refresh('ilnd', '1:26-cv-02417', '--json');
    await town.maintenance();
    expect(code).toBe(EXIT.unavailable);
    expect(JSON.parse(out)).toMatchObject({ error: { look: 'failed', because: { fault: 'unavailable' } } });
    expect(out).toMatch(/503/);
    expect(err).not.toContain('imitation-token');
  });

  it('sends nothing to a source that is paused', async () => {
    await sources('pause', 'scotus', '--reason', 'ticket 4711');
    const { code, err } = await refresh('scotus', '25-447');
    expect([code, err]).toEqual([EXIT.unavailable, expect.stringMatching(/paused[\s\S]*docket sources resume/)]);
    await sources('resume', 'scotus', '--reason', 'done');
    expect((await refresh('scotus', '25-447')).code).toBe(EXIT.ok);
  });

  it('does not ask about a case that an order removed, nor subscribe to it', async () => {
    const reason = ['--reason', 'sealing order', '--yes'];
    const forgotten = await docketInProcess(['forget', 'docket', 'ilnd', '1:26-cv-02417', ...reason], environment);
    expect(forgotten.code, forgotten.err).toBe(EXIT.ok);
    const asked = town.courtListener.requests.length;
    for (const command of [['refresh'], ['courtlistener', 'subscribe']]) {
      const { code, err } = await sources(...command, 'ilnd', '1:26-cv-02417');
      expect([code, err]).toEqual([
        EXIT.found,
        expect.stringMatching(/forgotten by an order[\s\S]*forget list[\s\S]*404/),
      ]);
    }
    expect(town.courtListener.requests).toHaveLength(asked);
  });

  it.each([
    [['moon', '1'], /Unknown court/],
    [['ilnd', 'no number'], /not a case number of ilnd/],
    [['ok_tulsa', 'CJ-2026-1'], /No source that can be asked/],
  ])('%j is refused with what to do', async (argv, fault) => {
    const { code, out, err } = await refresh(...argv);
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toMatch(fault);
  });
});
