/** A clock that once ran ahead leaves a case's times ahead: a time that a caller was given is still accepted. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCourt } from '../../../src/courts/registry.ts';
import { CASES } from '../../../src/dockets/case-document.ts';
import { isProblem } from '../../../src/errors.ts';
import { createFreshness } from '../../../src/projections/freshness.ts';
import { createCaseQueries } from '../../../src/queries/case-answer.ts';
import { MICROS_PER_SECOND, systemClock, toInstant } from '../../../src/runtime/instant.ts';
import { until } from '../../payments/steering.ts';
import { openWorld, type World } from '../world.ts';

const HOUR = 3_600 * MICROS_PER_SECOND;
const CASE = 'court_code=cand&case_id=4:25-cv-00931';

const entries = [
  ['2025-02-03', 'COMPLAINT against Tern Point Marina. Filed by Ada Quill.'],
  ['2025-03-10', 'MOTION to Dismiss filed by Tern Point Marina.'],
].map(([date_filed, description], index) => ({ document_number: index + 1, date_filed, description }));
const docket = (count: number) => ({
  court_id: 'cand',
  docket_number: '4:25-cv-00931',
  case_name: 'Quill v. Tern Point Marina',
  date_filed: '2025-02-03',
  docket_entries: entries.slice(0, count),
});

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.importDocket(docket(1));
  // A node whose clock is an hour ahead answers, and then a filing arrives.
  const ahead = createCaseQueries({
    readStore: world.storage.readStore,
    freshness: createFreshness({ ...world.storage, runner: world.runner, projection: CASES }),
    clock: { now: () => systemClock.now() + HOUR },
  });
  const court = findCourt('cand')!;
  const since = '2025-01-01T00:00:00.000000Z';
  const answer = await until(
    () => ahead.answerMonitor({ court, caseId: '4:25-cv-00931', lastChecked: since, filingTypes: null }),
    (given) => !isProblem(given),
  );
  if (isProblem(answer)) throw new Error(answer.problem);
  await world.importDocket(docket(2));
});
afterAll(() => world.close());

describe('a last_checked an hour ahead of the clock', () => {
  it.each(['/v2/case', '/v2/monitor'])('is accepted by %s if it is the queried_at of an answer', async (path) => {
    const pay = await world.agent();
    const ask = async (since: string) => {
      const response = await pay(`${world.url}${path}?${CASE}&last_checked=${since}`);
      const {
        meta,
        delta,
        changed = delta?.changed,
      } = (await response.json()) as {
        meta: { queried_at: string };
        delta?: { changed: boolean };
        changed?: boolean;
      };
      return { status: response.status, changed, queriedAt: meta.queried_at as string };
    };
    const now = toInstant(systemClock.now());
    // Until the second filing is visible.
    const first = await until(
      () => ask(now),
      ({ changed }) => changed === true,
    );
    expect(first).toMatchObject({ status: 200, changed: true });
    expect(first.queriedAt > toInstant(systemClock.now() + HOUR - 60 * MICROS_PER_SECOND)).toBe(true);
    expect(await ask(first.queriedAt)).toEqual({ status: 200, changed: false, queriedAt: first.queriedAt });
  });

  it.each([
    ['that was given to no caller', CASE, HOUR + 60 * MICROS_PER_SECOND],
    ['of another case', 'court_code=cand&case_id=4:25-cv-00932', HOUR / 2],
  ])('%s is rejected before payment is requested', async (_title, query, aheadOf) => {
    for (const path of ['/v2/case', '/v2/monitor']) {
      const since = toInstant(systemClock.now() + aheadOf);
      const answer = await fetch(`${world.url}${path}?${query}&last_checked=${since}`);
      expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        400,
        'last_checked_in_future',
      ]);
    }
  });

  it('is accepted in a batch too, query by query', async () => {
    const court = { court_code: 'cand', case_id: '4:25-cv-00931' };
    const pay = await world.agentOf(await world.wallet(), fetch, '$60');
    const send = async (queries: object[], by: typeof fetch) => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ queries }),
      };
      const response = await by(`${world.url}/v2/cases/batch`, init);
      return { status: response.status, json: (await response.json()) as Answered };
    };
    interface Answered {
      readonly results: { response: { meta: { queried_at: string }; delta: { changed: boolean } } }[];
      readonly error: { code: string; details: { issues: { parameter: string; code: string }[] } };
    }
    const now = toInstant(systemClock.now());
    const first = await send([{ ...court, last_checked: now }], pay);
    const queriedAt = first.json.results[0]!.response.meta.queried_at;
    expect(queriedAt > toInstant(systemClock.now() + HOUR - 60 * MICROS_PER_SECOND)).toBe(true);

    const again = await send(
      [
        { ...court, last_checked: now },
        { ...court, last_checked: queriedAt },
      ],
      pay,
    );
    expect(again.json.results.map(({ response }) => response.delta.changed)).toEqual([true, false]);

    const never = toInstant(systemClock.now() + HOUR + 60 * MICROS_PER_SECOND);
    for (const other of [
      { ...court, last_checked: never },
      { ...court, case_id: '4:25-cv-00932', last_checked: queriedAt },
      { court_code: 'nowhere', case_id: '1', last_checked: queriedAt },
    ]) {
      const { status, json } = await send([{ ...court, last_checked: queriedAt }, other], fetch);
      expect([status, json.error.code]).toEqual([400, 'invalid_batch_request']);
      expect(json.error.details.issues).toContainEqual(
        expect.objectContaining({ parameter: 'queries[1].last_checked', code: 'last_checked_in_future' }),
      );
    }
  });
});
