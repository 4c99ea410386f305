/**
 * Given sources that can be asked and nodes that share a storage, when several ask about one case, then there is one look at
 * a time; a source that is paused or has failed is left alone, and what was looked at in vain is in the log.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handle } from '../../../src/commands/handle.ts';
import { source as sourceRules } from '../../../src/commands/source/source.ts';
import { sourceStream } from '../../../src/events/source.ts';
import { lookLeaseName } from '../../../src/processes/sources/look-lease.ts';
import { LASTING } from '../../../src/processes/sources/standings.ts';
import { FAULTS_TO_OPEN } from '../../../src/sources/breaker.ts';
import type { Look } from '../../../src/sources/source.ts';
import { HeldLease } from '../../../src/storage/held-lease.ts';
import { contextOf, court, overriding } from '../../dockets/world.ts';
import { CASE, type DeskWorld, failedLook, faultOf, openDeskWorld, ScriptedSource } from './desk-world.ts';

let world: DeskWorld;
beforeEach(async () => {
  world = await openDeskWorld();
});
afterEach(() => world.close());

const NEVER = new AbortController().signal;
const paid = { priority: 'paid', signal: NEVER } as const;
const systemClock = { now: () => Date.now() * 1_000 };
const fault = (look: Look): string => ('because' in look ? look.because.fault : look.look);

describe('which sources', () => {
  it('are asked about a court: those that cover it, in their order', async () => {
    const desk = world.node([new ScriptedSource('scotus', ['scotus']), new ScriptedSource()]);
    const scotus = { ...CASE.court, code: 'scotus' };
    expect(desk.sourcesFor(scotus)).toEqual(['scotus', 'courtlistener']);
    expect(desk.sourcesFor(CASE.court)).toEqual(['courtlistener']);
    expect(desk.sourcesFor({ ...CASE.court, code: 'ok_tulsa' })).toEqual([]);
    expect(await desk.look({ ...CASE, court: { ...CASE.court, code: 'ok_tulsa' } }, paid)).toEqual({
      look: 'not_found',
    });
  });

  it('the second is asked if the first fails, and not if it knows that there is no such case', async () => {
    const [first, second] = [new ScriptedSource('scotus', ['ilnd']), new ScriptedSource()];
    const desk = world.node([first, second]);
    first.always = async () => failedLook('unavailable');
    second.always = world.shown;
    expect(await desk.look(CASE, paid)).toMatchObject({ look: 'complete' });
    first.always = async () => ({ look: 'not_found' });
    expect(await desk.look(CASE, paid)).toEqual({ look: 'not_found' });
    expect(second.begun).toHaveLength(1);
    first.always = async () => failedLook('timeout');
    second.always = async () => ({ look: 'not_found' });
    expect(fault(await desk.look(CASE, paid))).toBe('timeout');
  });
});

describe('one look at a time', () => {
  it('is shared by all who ask in one process, with the urgency of the most urgent', async () => {
    const source = new ScriptedSource();
    const desk = world.node([source]);
    const leaving = new AbortController();
    const first = desk.look(CASE, { priority: 'backfill', signal: leaving.signal });
    const begun = await source.look(0);
    expect(begun.asking.priority).toBe('backfill');
    const second = desk.look(CASE, paid);
    expect(begun.asking.priority).toBe('paid');
    leaving.abort();
    expect(fault(await first)).toBe('interrupted');
    expect(begun.asking.signal.aborted).toBe(false);
    begun.end(await world.shown(begun.asked, begun.asking));
    expect(await second).toMatchObject({ look: 'complete' });
    expect(source.begun).toHaveLength(1);
  });

  it('ends once no caller waits for it; the next one begins after its end', async () => {
    const source = new ScriptedSource();
    const desk = world.node([source]);
    const leaving = new AbortController();
    const left = desk.look(CASE, { priority: 'watched', signal: leaving.signal });
    const begun = await source.look(0);
    leaving.abort();
    expect(fault(await left)).toBe('interrupted');
    expect(begun.asking.signal.aborted).toBe(true);
    const next = desk.look(CASE, paid);
    const second = await source.look(1);
    second.end({ look: 'not_found' });
    expect(await next).toEqual({ look: 'not_found' });
  });

  it('is waited for by other nodes, which use what it has recorded', async () => {
    const source = new ScriptedSource();
    const { readStore } = world.storage;
    let isRefused: () => void = () => undefined;
    const refused = new Promise<void>((resolve) => {
      isRefused = resolve;
    });
    const waiting = overriding(readStore, {
      async acquireLease(...args) {
        const lease = await readStore.acquireLease(...args);
        if (lease === null) isRefused();
        return lease;
      },
    });
    const [one, other] = [world.node([source]), world.node([source], { readStore: waiting })];
    const first = one.look(CASE, paid);
    const begun = await source.look(0);
    const second = other.look(CASE, paid);
    await refused;
    begun.end(await world.shown(begun.asked, begun.asking));
    expect(await first).toMatchObject({ look: 'complete' });
    expect(await second).toMatchObject({ look: 'complete', stream: 'docket-ilnd-1:26-cv-02417' });
    expect(source.begun).toHaveLength(1);
  });

  it('of another node is waited for until the deadline, and no longer', async () => {
    const source = new ScriptedSource();
    const [one, other] = [world.node([source]), world.node([source])];
    const first = one.look(CASE, paid);
    const begun = await source.look(0);
    expect(fault(await other.look(CASE, { ...paid, deadline: systemClock.now() }))).toBe('timeout');
    begun.end({ look: 'not_found' });
    await first;
  });

  it('continues after a process was killed in its middle, once its lease has expired', async () => {
    const { readStore } = world.storage;
    const name = lookLeaseName(CASE);
    const acquiredAt = systemClock.now();
    const dead = await readStore.acquireLease(name, 'elsewhere/9/9/dead', acquiredAt, 200_000);
    expect(dead).not.toBeNull();
    const source = new ScriptedSource();
    source.always = world.shown;
    expect(await world.node([source]).look(CASE, paid)).toMatchObject({ look: 'complete' });
    expect(systemClock.now()).toBeGreaterThanOrEqual(acquiredAt + 200_000);
  });

  it('leaves no lease behind', async () => {
    const source = new ScriptedSource();
    source.always = async () => failedLook('unavailable');
    await world.node([source]).look(CASE, paid);
    const options = { readStore: world.storage.readStore, clock: systemClock, owner: 'another', durationMs: 1_000 };
    const lease = await HeldLease.acquire({ ...options, name: lookLeaseName(CASE) });
    expect(lease).not.toBeNull();
    await lease?.release();
  });

  it('ends at a stop, and none begins', async () => {
    const source = new ScriptedSource();
    const desk = world.node([source]);
    const looking = desk.look(CASE, paid);
    await source.look(0);
    await desk.stop();
    expect(fault(await looking)).toBe('interrupted');
    expect(fault(await desk.look(CASE, paid))).toBe('interrupted');
    expect(source.begun).toHaveLength(1);
  });
});

describe('a look knows', () => {
  it('when this source last began to show the whole docket', async () => {
    const source = new ScriptedSource();
    source.always = world.shown;
    const desk = world.node([source]);
    await desk.look(CASE, paid);
    await desk.look(CASE, paid);
    const [first, second] = source.begun;
    expect(first?.asked.known).toBeNull();
    const events = await world.events('docket-ilnd-1:26-cv-02417');
    const checked = events.find(({ type }) => type === 'DocketChecked');
    expect(second?.asked.known).toEqual({ stream: checked?.stream, completeSince: checked?.data.askedAt });
  });
});

describe('a look that fails', () => {
  const failures = async (): Promise<number> => {
    const events = await world.events('docket-ilnd-1:26-cv-02417');
    return events.filter(({ data }) => data.outcome === 'failed').length;
  };

  it('at a known case is recorded once an hour, unless nothing was asked', async () => {
    const source = new ScriptedSource();
    const desk = world.node([source], { clock: world.clock });
    source.always = world.shown;
    await desk.look(CASE, paid);
    source.always = async () => failedLook('budget');
    await desk.look(CASE, paid);
    expect(await failures()).toBe(0);
    source.always = async () => failedLook('unavailable');
    await desk.look(CASE, paid);
    await desk.look(CASE, paid);
    expect(await failures()).toBe(1);
    world.clock.advance(3_600_000);
    await desk.look(CASE, paid);
    expect(await failures()).toBe(2);
  });

  it('at an unknown case records nothing', async () => {
    const source = new ScriptedSource();
    source.always = async () => failedLook('unavailable');
    await world.node([source]).look(CASE, paid);
    expect(await failures()).toBe(0);
  });

  it('because storage failed is the caller\u2019s to repeat, and no fault of the source', async () => {
    const source = new ScriptedSource();
    source.always = () => Promise.reject(new Error('storage'));
    const desk = world.node([source]);
    for (let time = 0; time < FAULTS_TO_OPEN; time++) await expect(desk.look(CASE, paid)).rejects.toThrow('storage');
    expect(desk.breaker('courtlistener')).toEqual({ is: 'closed', faults: 0 });
  });
});

describe('a source', () => {
  const act = (type: 'Pause' | 'Resume', court: string | null) =>
    handle(
      world.ports,
      sourceRules,
      sourceStream.itself('courtlistener'),
      { type, source: 'courtlistener', court, by: 'ann', reason: 'maintenance' },
      contextOf(),
    );
  const untilPaused = async (is: boolean): Promise<void> => {
    while (world.pauses.isPaused('courtlistener', 'ilnd') !== is) await new Promise((again) => setTimeout(again, 5));
  };

  it.each([[null], ['ilnd']])('that is paused for %s is not asked, until it is resumed', async (court) => {
    const source = new ScriptedSource();
    source.always = world.shown;
    const desk = world.node([source]);
    await act('Pause', court);
    await untilPaused(true);
    expect(fault(await desk.look(CASE, paid))).toBe('paused');
    expect(desk.standing('courtlistener').isPaused).toBe(court === null);
    await act('Resume', court);
    await untilPaused(false);
    expect(await desk.look(CASE, paid)).toMatchObject({ look: 'complete' });
    expect(source.begun).toHaveLength(1);
  });

  it('that fails again and again is left alone, then tried once, and both are recorded', async () => {
    const { clock, standings } = world;
    const source = new ScriptedSource();
    const desk = world.node([source], { clock });
    source.always = async () => failedLook('unavailable');
    for (let time = 0; time < FAULTS_TO_OPEN; time++) await desk.look(CASE, paid);
    expect(fault(await desk.look(CASE, paid))).toBe('open');
    expect(source.begun).toHaveLength(FAULTS_TO_OPEN);
    expect(desk.standing('courtlistener')).toMatchObject({ standing: 'failing', why: 'unavailable' });
    const recorded = async () =>
      (await world.events(sourceStream.itself('courtlistener'))).map(({ data }) => data.standing);
    await standings.step(clock.now());
    expect(await recorded()).toEqual([]);
    clock.advance(LASTING / 1_000 + 1);
    expect(await standings.step(clock.now())).toBeNull();
    expect(await recorded()).toEqual(['failing']);
    source.always = world.shown;
    expect(await desk.look(CASE, paid)).toMatchObject({ look: 'complete' });
    await standings.step(clock.now());
    expect(await recorded()).toEqual(['failing', 'working']);
    expect(desk.standing('courtlistener')).toMatchObject({ standing: 'working', why: null, openUntil: null });
  });

  it.each(['timeout', 'unreadable', 'too_large'] as const)('is not closed to all by one case: %s', async (reason) => {
    const source = new ScriptedSource();
    const desk = world.node([source]);
    const numbered = (index: number) => ({ ...CASE, caseNumber: `1:26-cv-0300${index}` });
    source.always = async () => failedLook(reason);
    for (let time = 0; time < 3 * FAULTS_TO_OPEN; time++) expect(fault(await desk.look(CASE, paid))).toBe(reason);
    expect(desk.breaker('courtlistener')).toEqual({ is: 'closed', faults: 1 });
    source.always = world.shown;
    expect(await desk.look(numbered(0), paid)).toMatchObject({ look: 'complete' });
    source.always = async () => failedLook(reason);
    for (let index = 0; index < FAULTS_TO_OPEN; index++) await desk.look(numbered(index), paid);
    expect(fault(await desk.look(CASE, paid))).toBe('open');
  });

  it('whose credential is wrong is misconfigured at once', async () => {
    const source = new ScriptedSource();
    source.always = async () => failedLook('unauthorised');
    const desk = world.node([source], { clock: world.clock });
    await desk.look(CASE, paid);
    expect(fault(await desk.look(CASE, paid))).toBe('open');
    await world.standings.step(world.clock.now());
    const [event] = await world.events(sourceStream.itself('courtlistener'));
    expect(event?.data).toMatchObject({ standing: 'misconfigured', why: 'unauthorised', court: null });
  });

  it('that blocks this service (403) is left alone, and that is recorded', async () => {
    const { clock, standings } = world;
    const source = new ScriptedSource('scotus');
    const desk = world.node([source], { clock });
    const asked = { court: court('scotus'), caseNumber: '25-447' };
    source.always = async () => failedLook('forbidden');
    for (let time = 0; time < FAULTS_TO_OPEN; time++) await desk.look(asked, paid);
    expect(fault(await desk.look(asked, paid))).toBe('open');
    await standings.step(clock.now());
    clock.advance(LASTING / 1_000 + 1);
    await standings.step(clock.now());
    const [event] = await world.events(sourceStream.itself('scotus'));
    expect(event?.data).toMatchObject({ standing: 'failing', why: 'forbidden' });
  });

  it.each(['budget', 'forbidden'] as const)('that showed a part because of %s works', async (because) => {
    const source = new ScriptedSource();
    const desk = world.node([source]);
    source.always = async (asked, asking) => {
      const look = await world.shown(asked, asking, false);
      return { look: 'partial', stream: 'stream' in look ? look.stream : '', because: faultOf(because) };
    };
    for (let time = 0; time <= FAULTS_TO_OPEN; time++) expect(fault(await desk.look(CASE, paid))).toBe(because);
    expect(desk.breaker('courtlistener')).toEqual({ is: 'closed', faults: 0 });
  });
});
