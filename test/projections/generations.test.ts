/**
 * Given several nodes and operators, and processes that die between two steps, when readers move from one generation of a
 * read model to another, then every node sees the same one, nothing is denied that is there, and nothing is left behind.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GenerationActivated, operatorStream, projectionSubject } from '../../src/events/operator.ts';
import { startOver } from '../../src/identity/read-models.ts';
import { keepGenerations, startGenerationKeeper, swapLease } from '../../src/projections/generation-keeper.ts';
import { generationLease, readGenerations } from '../../src/projections/generations.ts';
import { decide } from '../../src/projections/move-readers.ts';
import { readPace, writePace } from '../../src/projections/pacer.ts';
import { createProjectionRunner } from '../../src/projections/runner.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { contextOf } from '../storage/samples.ts';
import { openTestStorage } from '../support/storage.ts';
import { type GenerationWorld, openGenerationWorld, until } from './generation-world.ts';
import { ledger, POISON } from './ledger.ts';

const LONG_MS = 20_000;

let world: GenerationWorld;
beforeEach(async () => {
  world = await openGenerationWorld();
});
afterEach(() => world.close());

const keeperPorts = (owner = 'keeper') => ({ ...world.storage, clock: systemClock, owner });
const operator = () => ({
  ...keeperPorts('operator'),
  projection: ledger(),
  context: contextOf(),
  by: 'Ann',
  reason: 'a test',
});
const recordedMoves = async () =>
  (await world.storage.log.read(operatorStream(projectionSubject('ledger')))).filter(
    ({ type }) => type === GenerationActivated.type,
  );
const built = async () => {
  expect((await world.run('rebuild', 'ledger', '--reason', 'a test')).code).toBe(0);
};

describe('a swap that was recorded by a process that then died', () => {
  const recordOnly = () =>
    decide(operator(), {
      type: 'Swap',
      generation: 2,
      present: 1,
      comparedAt: null,
      differences: 0,
      acceptDifferences: false,
    });

  it('is completed by the service', async () => {
    await world.write('a', '1');
    await world.node();
    await built();
    await recordOnly();
    await until(async () => expect(await world.storage.readStore.activeGeneration('ledger')).toBe(2));
    expect(await world.report()).toMatchObject({ active: { generation: 2 }, previous: { generation: 1 } });
  });

  it('leaves no pace to the next rebuild, wherever it died', async () => {
    await world.write('a', '1');
    await world.node();
    await built();
    const { readStore } = world.storage;
    await writePace(readStore, 'ledger', 500);
    await recordOnly();
    await until(async () => expect(await readStore.activeGeneration('ledger')).toBe(2));
    expect(await readPace(readStore, 'ledger')).toBeNull();
  });

  it('is left to the process that moves readers at this moment', async () => {
    await world.write('a', '1');
    await built();
    await recordOnly();
    const { readStore, log } = world.storage;
    await readStore.commit({ projection: 'ledger', generation: 2, position: (await log.head())!, writes: [] });
    const lease = await readStore.acquireLease(swapLease('ledger'), 'an operator', systemClock.now(), 60_000_000);
    expect((await keepGenerations(keeperPorts(), ledger())).pointer.active).toBe(1);
    await readStore.releaseLease(lease!);
    expect((await keepGenerations(keeperPorts(), ledger())).pointer.active).toBe(2);
  });

  it('is completed by the next command', async () => {
    await world.write('a', '1');
    await built();
    await recordOnly();
    expect(await world.storage.readStore.activeGeneration('ledger')).toBe(1);
    await world.run('swap', 'ledger', '--reason', 'a test');
    expect(await world.storage.readStore.activeGeneration('ledger')).toBe(2);
    expect(await recordedMoves()).toHaveLength(1);
  });

  it('waits until its generation holds what the log held at the record: a power cut may have set it back', async () => {
    await world.write('a', '1');
    await built();
    await recordOnly();
    const { readStore } = world.storage;
    const reached = await readStore.checkpoint('ledger', 2);
    const ports = { ...world.storage, clock: systemClock, owner: 'after a power cut' };
    expect(await keepGenerations(ports, ledger())).toMatchObject({ pointer: { active: 1, next: null } });
    const head = (await world.storage.log.head())!;
    expect(head > reached!).toBe(true);
    await readStore.commit({ projection: 'ledger', generation: 2, position: head, writes: [] });
    expect(await keepGenerations(ports, ledger())).toMatchObject({ pointer: { active: 2, next: null } });
  });

  it('is not made to read models that are lost since: readers see what is there', async () => {
    await world.write('a', '1');
    await built();
    await recordOnly();
    const directory = await mkdtemp(join(tmpdir(), 'docket-lost-'));
    const lost = await openTestStorage(directory);
    try {
      const storage = { log: world.storage.log, payloads: world.storage.payloads, readStore: lost.readStore };
      const options = { ...storage, projections: [ledger()], clock: systemClock, owner: 'after the loss' };
      const generations = await keepGenerations(options, ledger());
      expect(generations).toMatchObject({ pointer: { active: 1, next: null } });
      expect([...generations.roles.keys()]).toEqual([1]);
      const runner = createProjectionRunner({ ...options, folds: 'all', logger: silentLogger });
      await runner.catchUp();
      expect((await lost.readStore.load('ledger-cases', ['a'])).size).toBe(1);
      const started = await decide(
        { ...operator(), ...storage },
        { type: 'StartRebuild', present: 1, highest: 1, through: null },
      );
      expect('state' in started && started.state.building?.generation).toBe(3);
    } finally {
      await lost.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('is not made once the read models were started over, and no number is used twice', async () => {
    await world.write('a', '1');
    await built();
    await startOver(world.storage.log, world.storage.readStore, ledger(), 1);
    await recordOnly();
    expect((await keepGenerations(keeperPorts(), ledger())).pointer.active).toBe(3);
  });
});

const silentLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('on two nodes', () => {
  it('one folds each generation, and both show the new one after a swap', async () => {
    await world.write('a', '1');
    const nodes = [await world.node(), await world.node()];
    await built();
    expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
    const position = await world.write('a', '2');
    for (const { runner } of nodes) expect(await runner.waitFor('ledger', position, LONG_MS)).toBe(true);
    expect(await world.seen('a')).toEqual(['1', '2']);
    // The old one follows too, for a rollback.
    await until(async () => expect(await world.seen('a', 1)).toEqual(['1', '2']));
  });

  it('the other continues a rebuild when one stops', async () => {
    await world.write('a', '1');
    const first = await world.node();
    await built();
    await world.node();
    await first.stop();
    await world.write('a', '2');
    await until(async () => expect(await world.seen('a', 2)).toEqual(['1', '2']));
    expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
  });
});

it('of two operators who swap at once, one does', async () => {
  await world.write('a', '1');
  await world.node();
  await built();
  const codes = (
    await Promise.all([
      world.run('swap', 'ledger', '--reason', 'a test'),
      world.run('swap', 'ledger', '--reason', 'a test'),
    ])
  ).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 1]);
  expect(await recordedMoves()).toHaveLength(1);
  expect(await world.storage.readStore.generationPointer('ledger')).toEqual({ active: 2, next: null });
});

it('a swap to a generation that is halted is refused, and leaves no mark', async () => {
  await world.write('a', '1');
  await world.node();
  await built();
  const poison = await world.write('b', POISON);
  await until(async () => expect((await world.report()).building?.halt?.position).toBe(poison));
  const refused = await world.run('swap', 'ledger', '--reason', 'a test');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`--position ${poison}`) });
  expect(await world.storage.readStore.generationPointer('ledger')).toEqual({ active: 1, next: null });
});

it('what denies something waits for the next generation too, while readers are about to move', async () => {
  const first = await world.write('a', '1');
  const node = await world.node();
  expect(await node.runner.waitFor('ledger', first, LONG_MS)).toBe(true);
  const { readStore } = world.storage;
  // A generation that nobody folds: it never shows the event.
  await readStore.prepare('ledger', 9, ledger().collections);
  const lease = await readStore.acquireLease(swapLease('ledger'), 'a swap', systemClock.now(), 60_000_000);
  const folder = await readStore.acquireLease(generationLease('ledger', 9), 'stuck', systemClock.now(), 60_000_000);
  expect(lease && folder).not.toBeNull();
  expect(await readStore.movePointer('ledger', { active: 1, next: null }, { active: 1, next: 9 })).toBe(true);
  expect(await node.runner.waitFor('ledger', first, 200)).toBe(false);
  await readStore.movePointer('ledger', { active: 1, next: 9 }, { active: 1, next: null });
  expect(await node.runner.waitFor('ledger', first, LONG_MS)).toBe(true);
});

it('the mark of a swap whose process died is cleared', async () => {
  await world.write('a', '1');
  await built();
  const { readStore } = world.storage;
  await readStore.movePointer('ledger', { active: 1, next: null }, { active: 1, next: 2 });
  expect((await keepGenerations(keeperPorts(), ledger())).pointer).toEqual({ active: 1, next: null });
});

it('a command drops no generation, however short its own grace period: the service decides', async () => {
  await world.write('a', '1');
  await built();
  expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
  const ports = { ...world.storage, clock: systemClock, owner: 'a shell', graceMs: 0 };
  expect([...(await keepGenerations(ports, ledger())).roles]).toEqual([
    [2, 'active'],
    [1, 'previous'],
  ]);
  expect((await world.run('rollback', 'ledger', '--reason', 'a test')).code).toBe(0);
});

it('a swap that is made ends the pace of its rebuild', async () => {
  await world.write('a', '1');
  await world.node();
  expect((await world.run('rebuild', 'ledger', '--reason', 'a test', '--max-rate', '5000')).code).toBe(0);
  expect(await readPace(world.storage.readStore, 'ledger')).toBe(5_000);
  expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
  expect(await readPace(world.storage.readStore, 'ledger')).toBeNull();
});

it('a generation is not dropped while an operator moves readers, maybe back to it', async () => {
  await world.write('a', '1');
  await built();
  expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
  const { readStore } = world.storage;
  const service = { ...keeperPorts(), graceMs: 0, retires: true };
  const lease = await readStore.acquireLease(swapLease('ledger'), 'a rollback', systemClock.now(), 60_000_000);
  expect((await keepGenerations(service, ledger())).acts.kept).toEqual([1]);
  await readStore.releaseLease(lease!);
  expect((await keepGenerations(service, ledger())).acts.kept).toEqual([]);
});

it('a projection whose acts cannot be read keeps no other from being kept in order', async () => {
  await world.write('a', '1');
  await built();
  expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
  const { log } = world.storage;
  const unreadable = { ...ledger(), name: 'unreadable' };
  const read = async (stream: string) => {
    if (stream === operatorStream(projectionSubject('unreadable'))) throw new Error('an event of a later version');
    return log.read(stream);
  };
  const failing: typeof log = { read, append: log.append.bind(log) } as Partial<typeof log> as typeof log;
  const looks: boolean[] = [];
  const keeper = startGenerationKeeper({
    ...keeperPorts(),
    log: failing,
    projections: [unreadable, ledger()],
    logger: silentLogger,
    graceMs: 0,
    everyMs: 20,
    looked: async (beside) => void looks.push(beside),
  });
  try {
    await until(async () => expect(await world.storage.readStore.generations('ledger')).toEqual([2]));
    await until(() => expect(looks.length).toBeGreaterThan(0));
  } finally {
    await keeper.stop();
  }
});

it('a swap records what could not be compared apart from what differs, and neither without consent', async () => {
  await world.write('a', '1');
  await built();
  const move = { type: 'Swap', generation: 2, present: 1, comparedAt: null, differences: 1, undecided: 2 } as const;
  const onlyUndecided = { ...move, differences: 0, acceptDifferences: false };
  expect(await decide(operator(), onlyUndecided)).toEqual({ rejected: 'differs' });
  expect('state' in (await decide(operator(), { ...move, acceptDifferences: true }))).toBe(true);
  expect(await recordedMoves()).toMatchObject([{ data: { differences: 1, undecided: 2 } }]);
});

it('a generation is dropped by record after its grace period', async () => {
  await world.write('a', '1');
  const node = await world.node();
  await built();
  expect((await world.run('swap', 'ledger', '--reason', 'a test')).code).toBe(0);
  expect((await readGenerations(world.storage, 'ledger')).prepared).toEqual([1, 2]);
  await node.stop();
  await world.node({ graceMs: 0 });
  await until(async () => expect(await world.storage.readStore.generations('ledger')).toEqual([2]));
  const last = (await world.storage.log.read(operatorStream(projectionSubject('ledger')))).at(-1);
  expect(last).toMatchObject({ type: 'GenerationRetired', data: { generation: 1, by: 'service' } });
  expect(await world.run('rollback', 'ledger', '--reason', 'a test')).toMatchObject({ code: 1 });
});
