/**
 * A number that names its office means one docket, in any order in which dockets became known and numbers were
 * completed.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { bodyOf, court, openWorld, type World } from '../../dockets/world.ts';

describe('case numbers of dockets that differ only in their office', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it('lead to their own docket each; without the office they lead to none of several', async () => {
    let sequence = 500;
    const offices = fc.uniqueArray(fc.constantFrom('1', '3', '4', '5', '6'), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(offices, fc.boolean(), async (known, partFirst) => {
        const core = `24-cv-0${1_000 + sequence++}`;
        const textOf = (office: string) => `COMPLAINT of office ${office}`;
        const import_ = (office: string, number: string) =>
          world.ingest(
            rawDocket([rawEntry(1, '2024-02-01', textOf(office))], {
              docket_number: number,
              federal_dn_office_code: null,
            }),
          );
        // The first docket may be seen before its office is known.
        const [first = '3'] = known;
        if (partFirst) await import_(first, core);
        for (const office of known) await import_(office, `${office}:${core}-ABC`);

        for (const office of known) {
          for (const typed of [`${office}:${core}`, `No. ${office}:${core.toUpperCase()}-XYZ`]) {
            const { case: shown } = bodyOf(await world.ask('cand', typed, { context: 'full' }));
            expect(shown.case_number).toBe(`${office}:${core}`);
            expect(shown.docket_history.map(({ description }: { description: string }) => description)).toEqual([
              textOf(office),
            ]);
          }
        }
        const asked = { court: court('cand'), courtCode: 'cand', caseId: core, lastChecked: null, since: null };
        const answer = await world.queries.answerCase({
          ...asked,
          context: 'basic',
          language: null,
          filingTypes: null,
        });
        if (known.length === 1) expect('body' in answer).toBe(true);
        else {
          expect(answer).toMatchObject({ problem: 'ambiguous_case_id' });
          const { candidates } = (answer as unknown as { details: { candidates: string[] } }).details;
          expect(candidates.toSorted()).toEqual(known.map((office) => `${office}:${core}`).toSorted());
        }
      }),
      { numRuns: 20 },
    );
  }, 60_000);
});
