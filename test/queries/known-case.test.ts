import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { overriding } from '../dockets/world.ts';
import { openStepwise, type Stepwise } from './stepwise.ts';

const FIRST = '3:24-cv-01234';
const SECOND = '5:24-cv-01234';
const THIRD = '1:24-cv-01234';
const CORE = '24-cv-01234';
const UNKNOWN = '3:24-cv-99998';

let model: Stepwise;
beforeEach(async () => {
  model = await openStepwise();
});
afterEach(() => model.close());

/** Given dockets that are visible, and others that are recorded, when a number is queried, then this is the answer. */
const given = (...shown: readonly string[]) => ({
  recorded: (...recorded: readonly string[]) => ({
    when: (number: string, wasBuilt = true) => ({
      async then(outcome: string) {
        for (const one of shown) await model.record(one);
        await model.show();
        for (const one of recorded) await model.record(one);
        expect(await model.ask(number, { wasBuilt })).toBe(outcome);
      },
    }),
  }),
});

describe('a case is denied', () => {
  it('if everything recorded is shown', () => given(FIRST).recorded().when(UNKNOWN).then('case_not_found'));
  it('if nothing was ever recorded', () => given().recorded().when(UNKNOWN).then('case_not_found'));
  it('with similar numbers', () => given(FIRST).recorded().when(SECOND).then(`case_not_found ${FIRST}`));
  it('not while any event is still to be shown', () =>
    given(FIRST).recorded(SECOND).when(UNKNOWN).then('service_unavailable'));
  it('not while the case itself is still to be shown', () =>
    given(FIRST).recorded(SECOND).when(SECOND).then('service_unavailable'));
  it('not if only its number is shown', async () => {
    await model.record(FIRST);
    while ((await model.waiting())[0]?.type === 'AliasClaimed') await model.show(1);
    expect(await model.ask(FIRST)).toBe('service_unavailable');
    // Opened and not yet checked: by now it is known to exist.
    await model.show(1);
    expect(await model.ask(FIRST)).toBe('court_unavailable');
    await model.show();
    expect(await model.ask(FIRST)).toBe(FIRST);
  });
  it('not if it became visible during the wait', async () => {
    await model.record(FIRST);
    const load = model.storage.readStore.load.bind(model.storage.readStore);
    let loads = 0;
    const on = overriding(model.storage.readStore, {
      load: (async (...args: Parameters<typeof load>) => {
        const loaded = await load(...args);
        if (++loads === 1) await model.show();
        return loaded;
      }) as typeof load,
    });
    expect(await model.ask(FIRST, { on })).toBe(FIRST);
  });
});

describe('a case that is shown is answered', () => {
  it('by its full number, even while events are still to be shown', () =>
    given(FIRST).recorded(SECOND).when(FIRST, false).then(FIRST));
  it('and an invalid number is rejected', () =>
    given(FIRST).recorded(SECOND).when('no number').then('invalid_case_id'));

  it('without a read of the log', async () => {
    await given(FIRST).recorded(SECOND).when(FIRST).then(FIRST);
    expect(await model.ask(CORE, { wasBuilt: true })).toBe(FIRST);
    expect(model.asked()).toBe(0);
  });
});

describe('a number without its office', () => {
  it('means the only case that matches', () => given(FIRST).recorded().when(CORE, false).then(FIRST));
  it('is undecided while the model is being built', () =>
    given(FIRST).recorded(SECOND).when(CORE, false).then('service_unavailable'));
  it('is ambiguous as recorded in the log', () =>
    given(FIRST, SECOND).recorded().when(CORE, false).then(`ambiguous_case_id ${FIRST} ${SECOND}`));
  it('has no candidates while the model is being built', () =>
    given(FIRST, SECOND).recorded(THIRD).when(CORE, false).then('service_unavailable'));
  it('has slightly older candidates from a complete model', () =>
    given(FIRST, SECOND).recorded(THIRD).when(CORE).then(`ambiguous_case_id ${FIRST} ${SECOND}`));
});

describe('a docket known without its office', () => {
  it('is found by a full number', () => given(CORE).recorded().when(SECOND, false).then(CORE));
  it('is not sold while another may turn out to be the right one', async () => {
    await model.record(CORE);
    const own = (await model.waiting()).length;
    await model.show();
    // Its complete number, and then another docket of the same sequence.
    await model.record(FIRST);
    await model.record(SECOND);
    await model.beginAnew();
    await model.show(own);
    expect(await model.ask(SECOND, { wasBuilt: true })).toBe('service_unavailable');
    await model.show();
    expect(await model.ask(SECOND)).toBe(SECOND);
  });
});

describe('a case whose clock is lost', () => {
  const lost = () =>
    overriding(model.storage.readStore, {
      cell: async () => ({ version: 0, value: null }),
      compareAndSet: async () => true,
    });

  it('is answered only if everything is shown, because its clock does not say how much was shown before', async () => {
    await model.record(FIRST);
    await model.show();
    await model.record(SECOND);
    expect(await model.ask(FIRST, { on: lost() })).toBe('court_unavailable');
    await model.show();
    expect(await model.ask(FIRST, { on: lost() })).toBe(FIRST);
  });
});

describe('a model that is rebuilt from scratch', () => {
  const number = fc.record({ office: fc.constantFrom(null, '1', '3', '5'), sequence: fc.constantFrom(7, 8) });
  const written = ({ office, sequence }: { readonly office: string | null; readonly sequence: number }) =>
    `${office === null ? '' : `${office}:`}24-cv-0000${sequence}`;
  const numbers = fc.uniqueArray(number.map(written), { minLength: 1, maxLength: 5 });

  it('never denies a case, and never answers for another case than at the end', () =>
    fc.assert(
      fc.asyncProperty(numbers, async (recorded) => {
        const one = await openStepwise();
        try {
          const known = new Set<string>();
          for (const each of recorded) {
            // A number that may mean several dockets is rejected; what is known stays so.
            await one.record(each).then(
              () => known.add(each),
              (error: Error) => expect(error.message).toMatch(/may be/),
            );
          }
          await one.show();
          const questions = [...new Set([...known, ...[...known].map((each) => each.replace(/^.*:/, '')), UNKNOWN])];
          const inTheEnd = new Map<string, string>();
          for (const question of questions) inTheEnd.set(question, await one.ask(question, { byFiling: true }));
          for (const each of known) expect(inTheEnd.get(each)).not.toMatch(/^case_not_found/);

          await one.beginAnew();
          const moments: string[] = [];
          do {
            for (const question of questions) {
              const outcome = await one.ask(question, { byFiling: true });
              moments.push(outcome);
              expect(['service_unavailable', 'court_unavailable', inTheEnd.get(question)], question).toContain(outcome);
              if (question === UNKNOWN && (await one.waiting()).length > 0) expect(outcome).toBe('service_unavailable');
            }
          } while (await one.show(1));
          expect(moments).toContain('service_unavailable');
          for (const question of questions)
            expect(await one.ask(question, { byFiling: true })).toBe(inTheEnd.get(question));
        } finally {
          await one.close();
        }
      }),
      { numRuns: 8 },
    ));
});
