/**
 * Given a read model in use, when an operator rebuilds it, then answers come from the present generation until the new one
 * is proven equal and readers are moved; every wrong step is refused and says what to do. With a service and without.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorStream, projectionSubject } from '../../../src/events/operator.ts';
import { type GenerationWorld, openGenerationWorld, until } from '../../projections/generation-world.ts';
import { ledger, POISON } from '../../projections/ledger.ts';

let world: GenerationWorld;
beforeEach(async () => {
  world = await openGenerationWorld();
});
afterEach(() => world.close());

const acts = async () =>
  (await world.storage.log.read(operatorStream(projectionSubject('ledger')))).map(({ type }) => type);
const json = (out: string) => JSON.parse(out.trim().split('\n').at(-1) ?? '');

/** The same documents, with one field more. */
const wordier = () => {
  const own = ledger();
  return {
    ...own,
    fold: (...args: Parameters<typeof own.fold>) => {
      const document = own.fold(...args);
      return document && { ...document, words: 'many' };
    },
  };
};

describe.each([['with a service', true] as const, ['without a service', false] as const])('%s', (_, served) => {
  const start = async () => {
    if (served) return world.node();
    // What a service has left: a model that is current.
    const node = await world.node();
    const head = await world.storage.log.head();
    if (head !== null) await node.runner.waitFor('ledger', head, 30_000);
    await node.stop();
    return null;
  };

  it('a generation is built, found equal, and seen; readers can go back', async () => {
    await world.write('a', '1', '2');
    await start();
    const built = await world.run('rebuild', 'ledger', '--reason', 'a test', '--by', 'Ann', '--json');
    expect(built.code).toBe(0);
    expect(json(built.out)).toMatchObject({ projection: 'ledger', generation: 2, percent: 100, by: 'Ann' });
    expect(await world.report()).toMatchObject({ active: { generation: 1 }, building: { generation: 2, halt: null } });

    await world.write('a', '3');
    const verified = await world.run('verify', 'ledger', '--json');
    expect(verified.code).toBe(0);
    expect(json(verified.out)).toMatchObject({ from: 1, to: 2, differences: 0, documents: 2 });

    const swapped = await world.run('swap', 'ledger', '--reason', 'it is right');
    expect(swapped.code).toBe(0);
    expect(await world.report()).toMatchObject({
      active: { generation: 2 },
      previous: { generation: 1 },
      building: null,
    });
    expect(await world.seen('a')).toEqual(['1', '2', '3']);
    expect((await world.run('status', 'ledger')).out).toMatch(/^ +kept for a rollback until /m);

    expect((await world.run('rollback', 'ledger', '--reason', 'a test')).code).toBe(0);
    expect(await world.report()).toMatchObject({ active: { generation: 1 }, previous: { generation: 2 } });
    expect((await world.run('status', 'ledger')).out).toMatch(/^ +readers were moved back from it; kept until /m);
    expect(await acts()).toEqual(['RebuildStarted', 'GenerationActivated', 'GenerationActivated']);
    const [rebuilt] = await world.storage.log.read(operatorStream(projectionSubject('ledger')));
    expect(rebuilt?.data).toMatchObject({ by: 'Ann', reason: 'a test', generation: 2 });
  });

  it('a generation that differs is not seen until its differences are accepted, by a reason that is recorded', async () => {
    await world.write('a', '1');
    await start();
    world.foldAs(wordier());
    expect((await world.run('rebuild', 'ledger', '--reason', 'a test')).code).toBe(0);
    // The rebuild of a service that runs is folded by its own code; so damage the new generation itself.
    const position = (await world.storage.log.head()) ?? '';
    await world.storage.readStore.commit({
      projection: 'ledger',
      generation: 2,
      position,
      writes: [
        { collection: 'ledger-cases', id: 'a', document: { entries: ['other'], size: 9 }, position: `${position}~` },
        { collection: 'ledger-cases', id: 'invented', document: { entries: [], size: 0 }, position },
      ],
    });
    const refused = await world.run('swap', 'ledger', '--reason', 'a test', '--json');
    expect(refused.code).toBe(1);
    expect(json(refused.out)).toMatchObject({ swapped: false, differences: served ? 2 : 3 });
    expect(json(refused.out).sample).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: 'a',
          collection: 'ledger-cases',
          fields: expect.arrayContaining([{ path: 'entries[0]', from: '"1"', to: '"other"' }]),
        }),
        expect.objectContaining({ id: 'invented', from_hash: null }),
      ]),
    );
    expect((await world.run('verify', 'ledger', '--sample', '1')).out).toMatch(/^ {2}[-+] /m);
    expect(await world.report()).toMatchObject({ active: { generation: 1 }, building: { generation: 2 } });
    expect((await world.storage.readStore.generationPointer('ledger')).next).toBeNull();

    expect((await world.run('swap', 'ledger', '--accept-differences', '--reason', 'they are right')).code).toBe(0);
    expect(await world.seen('a')).toEqual(['other']);
    const activated = (await world.storage.log.read(operatorStream(projectionSubject('ledger')))).at(-1);
    expect(activated?.data).toMatchObject({ reason: 'they are right', differences: served ? 2 : 3, act: 'swap' });
  });

  it('a rebuild that is halted leaves answers alone, and continues once its event is skipped', async () => {
    await world.write('a', '1');
    await start();
    // Live events that the present generation has skipped before are skipped by a rebuild too, so poison comes later.
    const poison = await world.write('b', POISON);
    await world.write('a', '2');
    const halted = await world.run('rebuild', 'ledger', '--reason', 'a test');
    expect(halted.code).toBe(1);
    expect(halted.err).toContain(`docket projections skip ledger --position ${poison} --reason "…"`);
    expect((await world.run('status', 'ledger')).out).toContain(`--position ${poison}`);

    const wrong = await world.run('skip', 'ledger', '--position', '1~', '--reason', 'a test');
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining(`at ${poison}`) });
    expect((await world.run('skip', 'ledger', '--position', poison, '--reason', 'a test')).code).toBe(0);
    if (!served) expect((await world.run('rebuild', 'ledger', '--reason', 'a test')).code).toBe(0);
    await until(async () =>
      expect((await world.report()).building).toMatchObject({ halt: null, percent: 100, skipped: 1 }),
    );
    expect((await world.run('verify', 'ledger')).code).toBe(0);
    const [skipped] = (await world.storage.log.read('ledger-b')).slice(-1);
    const recorded = (await world.storage.log.read(operatorStream(projectionSubject('ledger')))).at(-1);
    expect(recorded?.data).toMatchObject({ position: poison, eventId: skipped?.id });
  });

  it('a rebuild that is cancelled leaves nothing behind', async () => {
    await world.write('a', '1');
    await start();
    expect((await world.run('rebuild', 'ledger', '--reason', 'a test')).code).toBe(0);
    expect((await world.run('cancel', 'ledger', '--reason', 'a test')).code).toBe(0);
    await until(async () => expect(await world.storage.readStore.generations('ledger')).toEqual([1]));
    expect(await world.seen('a')).toEqual(['1']);
    expect((await world.run('rebuild', 'ledger', '--reason', 'a test', '--json')).code).toBe(0);
    expect(await world.report()).toMatchObject({ building: { generation: 3 } });
  });
});

describe('is refused, with what to do instead', () => {
  it('a name that there is not', async () => {
    const refused = await world.run('status', 'ledgre');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean ledger?') });
  });
  it('a second rebuild, while a service builds the first', async () => {
    await world.write('a', '1');
    await world.node();
    expect((await world.run('rebuild', 'ledger', '--reason', 'a test', '--detach')).code).toBe(0);
    const second = await world.run('rebuild', 'ledger', '--reason', 'a test');
    expect(second).toMatchObject({ code: 1, err: expect.stringContaining('docket projections pace ledger') });
    expect(await acts()).toEqual(['RebuildStarted']);
  });
  it.each(['rebuild', 'swap', 'rollback', 'cancel'])('a %s without a reason', async (act) => {
    await expect(world.run(act, 'ledger')).rejects.toThrow(/required option '--reason <text>'/);
    expect(await world.run(act, 'ledger', '--reason', ' ')).toMatchObject({ code: 2 });
    expect(await acts()).toEqual([]);
  });
  it('a rebuild that nobody would make', async () => {
    expect(await world.run('rebuild', 'ledger', '--reason', 'a test', '--detach')).toMatchObject({ code: 3 });
    expect(await acts()).toEqual([]);
  });
  it('a swap, a verification, a pace and a cancellation without a rebuild; a rollback without a swap', async () => {
    await world.write('a', '1');
    const why = ['--reason', 'a test'];
    for (const words of [['swap', ...why], ['verify'], ['cancel', ...why], ['pace', '--max-rate', '5']]) {
      const [name = '', ...rest] = words;
      const refused = await world.run(name, 'ledger', ...rest);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('docket projections rebuild ledger') });
    }
    expect(await world.run('rollback', 'ledger', '--reason', 'a test')).toMatchObject({
      code: 1,
      err: expect.stringContaining('return to'),
    });
    expect(await acts()).toEqual([]);
  });
  it('a skip where nothing is halted', async () => {
    await world.write('a', '1');
    const refused = await world.run('skip', 'ledger', '--position', '1', '--reason', 'a test');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('not halted') });
  });
  it.each(['0', '-1', 'fast', '1e9'])('a rate of %s', async (rate) => {
    expect(await world.run('rebuild', 'ledger', '--reason', 'a test', `--max-rate=${rate}`)).toMatchObject({ code: 2 });
  });
});

it('lists every projection with its lag and what is beside it', async () => {
  await world.write('a', '1');
  await world.node();
  expect((await world.run('rebuild', 'ledger', '--reason', 'a test')).code).toBe(0);
  const [header, row] = (await world.run('list')).out.split('\n');
  expect(header).toMatch(/^PROJECTION +GEN +STATE +BEHIND/);
  expect(row).toMatch(/^ledger +1 +current +0 +0 s +\d+ s ago +2 +\S+ +building 2 \(built\)$/);
  expect(json((await world.run('list', '--json')).out)).toMatchObject({
    projection: 'ledger',
    active: { generation: 1, events_behind: 0, documents: 2, state: 'following' },
    building: { generation: 2, percent: 100, max_rate: null },
  });
});
