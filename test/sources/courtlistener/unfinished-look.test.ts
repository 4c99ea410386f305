/**
 * A look that takes longer than the budget (docs/design/sources.md#courtlistener).
 * Given a docket that one look cannot finish, when looks go on after waits and restarts, then every entry is one filing, and none is
 * reported as new that is as old as the docket.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { carryOut, giveOrder } from '../../../src/commands/forget/forget.ts';
import { bodyOf, court } from '../../dockets/world.ts';
import { type AskingWorld, openAsking } from './asking.ts';
import { docketOf, finish, HOUR, NUMBER } from './long-looks.ts';

let world: AskingWorld;
afterEach(() => world.close());

describe('a look that was cut off', () => {
  it('before the first entry shows nothing that could be sold, and the next look continues it', async () => {
    world = await openAsking({ budget: [{ requests: 2, micros: 60_000_000 }] });
    docketOf(world, 5);
    world.clock.advance(HOUR);
    await world.node().client.send({ path: 'courts/' }, { priority: 'paid', signal: new AbortController().signal });
    // One request is left, which finds the docket.
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'failed', because: { fault: 'budget' } });
    const query = { court: court('ilnd'), caseId: NUMBER, lastChecked: null, filingTypes: null };
    expect(await world.world.queries.answerMonitor(query)).toMatchObject({ problem: 'case_not_found' });
    const { stream } = await finish(world, null);
    expect(await world.filings(stream)).toHaveLength(5);
  });

  it('reports no entry as new that is as old as the docket, and each that came after an answer', async () => {
    world = await openAsking({ budget: [{ requests: 3, micros: 60_000_000 }] });
    const docket = docketOf(world, 90);
    world.clock.advance(HOUR);
    let lastChecked: string | null = null;
    let fresh: number | null = null;
    const told: number[] = [];
    const { stream } = await finish(world, null, async () => {
      const answer = await world.world.ask('ilnd', NUMBER, { lastChecked, context: 'full' });
      if (lastChecked !== null) {
        told.push(...bodyOf(answer).delta.new_filings.map((filing: { entry_number: number }) => filing.entry_number));
      }
      lastChecked = answer.queriedAt;
      // A clerk goes on docketing meanwhile.
      if (fresh === null) {
        fresh = 500;
        world.clock.advance(HOUR);
        world.site.addEntry(docket, { number: 500, description: 'ORDER of today', dateFiled: '2026-03-01' });
      }
    });
    const { delta } = bodyOf(await world.world.ask('ilnd', NUMBER, { lastChecked, context: 'full' }));
    told.push(...delta.new_filings.map((filing: { entry_number: number }) => filing.entry_number));
    expect(told).toEqual([500]);
    expect(await world.filings(stream)).toHaveLength(91);
  });

  it('begins again if nobody has continued it for a month, and its pages are removed', async () => {
    world = await openAsking({ budget: [{ requests: 3, micros: 60_000_000 }] });
    docketOf(world, 90);
    world.clock.advance(HOUR);
    const look = await world.ask('ilnd', NUMBER);
    expect(look).toMatchObject({ look: 'partial' });
    const { looks } = world.node();
    world.clock.advance(2 * 24 * HOUR);
    expect(await looks.removeExpired()).toBe(0);
    world.clock.advance(30 * 24 * HOUR);
    expect(await looks.removeExpired()).toBe(2);
    const { stream } = await finish(world, 'stream' in look ? look.stream : null);
    expect(await world.filings(stream)).toHaveLength(90);
  });

  it('is not whole if its docket was deleted meanwhile, and then no old entry of the one that is left is new', async () => {
    world = await openAsking({ budget: [{ requests: 3, micros: 60_000_000 }] });
    const docket = docketOf(world, 90);
    world.clock.advance(HOUR);
    const look = await world.ask('ilnd', NUMBER);
    const stream = 'stream' in look ? look.stream : '';
    docketOf(world, 90);
    world.site.deleteDocket(docket);
    for (let fault = ''; fault !== 'interrupted'; ) {
      world.clock.advance(64_000);
      const next = await world.ask('ilnd', NUMBER, { stream });
      if (!('because' in next)) throw new Error(`the look claims to be ${next.look}`);
      fault = next.because.fault;
    }
    world.clock.advance(64_000);
    await finish(world, stream);
    expect(await world.filings(stream)).toHaveLength(90);
    const recorded = (await world.world.storage.log.read(stream)).filter(({ type }) => type === 'FilingsRecorded');
    expect(recorded.every(({ data }) => data.baseline === true || data.backlog === true)).toBe(true);
  });

  it('begins again, and loses nothing, if a page that was kept is missing', async () => {
    world = await openAsking({ budget: [{ requests: 3, micros: 60_000_000 }] });
    docketOf(world, 50);
    world.clock.advance(HOUR);
    const look = await world.ask('ilnd', NUMBER);
    const { payloads } = world.world.storage;
    for await (const { name } of payloads.list('look', '2100-01-01T00:00:00.000000Z')) await payloads.remove(name);
    world.clock.advance(64_000);
    const stream = 'stream' in look ? look.stream : null;
    for (let again = 0; again < 2; again++) {
      const lost = await world.ask('ilnd', NUMBER, { stream });
      if (lost.look === 'failed') expect(['unreadable', 'budget']).toContain(lost.because.fault);
      world.clock.advance(64_000);
    }
    expect(await world.filings((await finish(world, stream)).stream)).toHaveLength(50);
  });

  it('leaves nothing behind of a case that must be forgotten', async () => {
    world = await openAsking({ budget: [{ requests: 3, micros: 60_000_000 }] });
    docketOf(world, 90);
    world.clock.advance(HOUR);
    const { source, looks } = world.node();
    const asked = { court: court('ilnd'), caseNumber: NUMBER, known: null };
    const refusing = { priority: 'paid', signal: new AbortController().signal } as const;
    const refused = 'an order forbids it';
    const kept = async () => {
      const names = [];
      for await (const { name } of world.world.storage.payloads.list('look', '2100-01-01T00:00:00.000000Z'))
        names.push(name);
      return names.length;
    };
    expect(await source.ask(asked, { ...refusing, ingest: async () => ({ refused }) })).toEqual({
      look: 'failed',
      because: { fault: 'interrupted', reason: refused, retryAt: null },
    });
    expect(await kept()).toBe(0);
    world.clock.advance(HOUR);
    expect(await world.ask('ilnd', NUMBER)).toMatchObject({ look: 'partial' });
    expect(await kept()).toBeGreaterThan(0);
    world.clock.advance(25 * HOUR);
    expect(await looks.removeExpired(async (code, number) => code === 'ilnd' && number === NUMBER)).toBeGreaterThan(0);
    expect(await kept()).toBe(0);
    expect((await looks.of(court('ilnd'), NUMBER)).look).toBeNull();
  });

  it('leaves nothing behind once an order to forget the case is carried out, even if a node continues the look', async () => {
    world = await openAsking({ budget: [{ requests: 3, micros: 60_000_000 }] });
    docketOf(world, 90);
    world.clock.advance(HOUR);
    const look = await world.ask('ilnd', NUMBER);
    const { looks } = world.node();
    const before = await looks.of(court('ilnd'), NUMBER);
    const { storage } = world.world;
    const ports = { ...storage, clock: world.clock, untilQueriesEnded: async () => undefined };
    const subject = { kind: 'docket', docket: 'stream' in look ? look.stream : '' } as const;
    const order = { forgetId: randomUUID(), subject, by: 'J. Muster', reason: 'order of 2 March' };
    await giveOrder(ports, order);
    await carryOut(ports, order);
    const kept = [];
    for await (const { name } of storage.payloads.list('look', '2100-01-01T00:00:00.000000Z')) kept.push(name);
    expect(kept).toEqual([]);
    expect((await looks.of(court('ilnd'), NUMBER)).look).toBeNull();
    expect(await looks.write(before, before.look, null)).toBeNull();
  });

  it('spends its requests by the priority of each look', async () => {
    world = await openAsking();
    docketOf(world, 1);
    await world.ask('ilnd', NUMBER, { priority: 'backfill' });
    expect(world.priorities).toEqual(['backfill', 'backfill', 'backfill', 'backfill']);
  });
});
