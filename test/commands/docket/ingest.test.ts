import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IngestPorts } from '../../../src/commands/docket/clock.ts';
import { ingestDocket } from '../../../src/commands/docket/ingest.ts';
import { caseClockId, readClock } from '../../../src/dockets/case-clock.ts';
import { MICROS_PER_MS, toInstant } from '../../../src/runtime/instant.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';
import { type Append, MAX_APPEND_BYTES, RevisionConflict } from '../../../src/storage/event-log.ts';
import { rawDocket, rawEntry } from '../../dockets/raw-docket.ts';
import { bodyOf, contextOf, openWorld, overriding, type World } from '../../dockets/world.ts';
import { SMALL_ONLY } from '../../support/storage.ts';

const STREAM = 'docket-cand-3:24-cv-01234';
const texts = ['COMPLAINT', 'SUMMONS issued', 'MOTION to Dismiss', 'RESPONSE', 'ORDER granting 3 MOTION'];
const entries = texts.map((text, index) => rawEntry(index + 1, `2024-02-0${index + 1}`, text));

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.close());

const snapshotOf = (raw: unknown, complete = true) => {
  const read = readJuriscraperDocket(raw, { askedAt: toInstant(world.clock.now()), complete, source: 'file' });
  if ('refused' in read) throw new Error(read.refused);
  return read.snapshot;
};
const types = async (stream = STREAM) => (await world.storage.log.read(stream)).map(({ type }) => type);
const clockOf = async () => readClock((await world.storage.readStore.cell(caseClockId(STREAM))).value);
const numbers = (filings: readonly { entry_number: number | null }[]) => filings.map((filing) => filing.entry_number);

describe('recording a snapshot', () => {
  it('opens the docket under its first number and shows it when it returns', async () => {
    const report = await world.ingest(rawDocket(entries));
    expect(report).toMatchObject({ stream: STREAM, opened: true, baselineFilings: 5, newFilings: 0 });
    expect(await types()).toEqual([
      'DocketOpened',
      'DocketDetailsChanged',
      'FilingsRecorded',
      'BaselineCompleted',
      'DocketChecked',
    ]);
    expect(bodyOf(await world.ask('cand', '3:24-cv-01234')).case.filing_count).toBe(5);
  });

  it('keeps no text, name or document id in an event', async () => {
    await world.ingest(rawDocket(entries));
    const log = JSON.stringify(await world.storage.log.read(STREAM));
    for (const secret of ['COMPLAINT', 'Sample Person', 'Robin Judge', '03500010001', 'Alex'])
      expect(log).not.toContain(secret);
  });

  it('announces what is new, once, through queried_at and last_checked', async () => {
    await world.ingest(rawDocket(entries.slice(0, 3)));
    const first = await world.ask('cand', '3:24-cv-01234');
    await world.ingest(rawDocket(entries));
    const second = await world.ask('cand', '3:24-cv-01234', { lastChecked: first.queriedAt });
    expect(numbers(bodyOf(second).delta.new_filings)).toEqual([4, 5]);
    const third = await world.ask('cand', '3:24-cv-01234', { lastChecked: second.queriedAt });
    expect(bodyOf(third).delta).toMatchObject({
      changed: false,
      change_count: 0,
      new_filings: [],
      updated_filings: [],
    });
    expect((await clockOf())?.pending).toBeNull();
  });

  it.skipIf(SMALL_ONLY)('splits a large docket into appends that the log accepts', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => rawEntry(index + 1, '2024-02-05', `NOTICE ${index}`));
    const appends: Append[] = [];
    const log = overriding(world.ports.log, {
      append: (append) => {
        appends.push(append);
        return world.ports.log.append(append);
      },
    });
    const watched = { ...world.ports, log };
    await ingestDocket(watched, snapshotOf(rawDocket(many)), contextOf());
    const sizes = appends.map(({ events }) => events.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0));
    expect(appends.filter(({ stream }) => stream === STREAM).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_APPEND_BYTES);
    const eventSizes = appends.flatMap(({ events }) => events.map(({ data }) => JSON.stringify(data).length));
    expect(Math.max(...eventSizes)).toBeLessThan(256 * 1024);
  });

  it('lets two concurrent writers of one docket both succeed, each entry once', async () => {
    const both = [entries.slice(0, 4), entries].map((some) =>
      ingestDocket(world.ports, snapshotOf(rawDocket(some)), contextOf()),
    );
    await Promise.all(both);
    const { case: served } = bodyOf(await world.ask('cand', '3:24-cv-01234', { context: 'full' }));
    expect(numbers(served.docket_history)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('case numbers', () => {
  const under = (number: string, office: string | null = null) =>
    rawDocket(entries.slice(0, 2), { docket_number: number, federal_dn_office_code: office });

  it('a number without its office, seen first, later becomes the alias of the complete one', async () => {
    await world.ingest(under('24-cv-01234'));
    const report = await world.ingest(under('3:24-cv-01234'));
    expect(report).toMatchObject({ stream: 'docket-cand-24-cv-01234', opened: false, unchanged: 2 });
    expect(bodyOf(await world.ask('cand', '24-cv-01234')).case.case_number).toBe('3:24-cv-01234');
    expect(bodyOf(await world.ask('cand', '3:24-cv-01234')).case.filing_count).toBe(2);
  });

  it('a number without its office, seen later, means the only case that it fits', async () => {
    await world.ingest(under('3:24-cv-01234'));
    expect(await world.ingest(under('24-cv-01234'))).toMatchObject({ stream: STREAM, opened: false });
  });

  it('two nodes that see one case at once under two forms of its number agree', async () => {
    for (let round = 0; round < 5; round++) {
      const forms = [`24-cv-0200${round}`, `3:24-cv-0200${round}`];
      const reports = await Promise.all(
        forms.map((form) => ingestDocket(world.ports, snapshotOf(under(form)), contextOf())),
      );
      const streams = reports.map((report) => ('refused' in report ? report.refused : report.stream));
      expect(new Set(streams).size, streams.join(' ')).toBe(1);
    }
  });

  it('a complete number never means two cases, and one without its office never a case with another complete number', async () => {
    await world.ingest(under('24-cv-01234'));
    await world.ingest(under('3:24-cv-01234'));
    const other = await world.ingest(under('5:24-cv-01234'));
    expect(other).toMatchObject({ stream: 'docket-cand-5:24-cv-01234', opened: true });
    const refused = await ingestDocket(world.ports, snapshotOf(under('24-cv-01234')), contextOf());
    expect(refused).toMatchObject({ refused: expect.stringContaining('5:24-cv-01234') });
    const ambiguous = await world.queries.answerCase({
      court: snapshotOf(under('3:24-cv-01234')).court,
      courtCode: 'cand',
      caseId: '24-cv-01234',
      lastChecked: null,
      since: null,
      context: 'basic',
      language: null,
      filingTypes: null,
    });
    expect(ambiguous).toMatchObject({
      problem: 'ambiguous_case_id',
      details: { candidates: ['3:24-cv-01234', '5:24-cv-01234'] },
    });
  });
});

describe('a writer that dies', () => {
  class Died extends Error {}

  /** Ports of a process that dies at its n-th step; what it had already sent may still arrive. */
  function dying(at: number): { ports: IngestPorts; died: () => boolean } {
    let steps = 0;
    let dead = false;
    const step = (): void => {
      if (dead || ++steps > at) {
        dead = true;
        throw new Died(`step ${at}`);
      }
    };
    const wrap = <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get(target, name) {
          const member = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          return async (...values: unknown[]) => {
            step();
            const result = await member.apply(target, values);
            step();
            return result;
          };
        },
      });
    const { log, payloads, readStore } = world.ports;
    return {
      ports: {
        ...world.ports,
        log: wrap(log),
        payloads: wrap(payloads),
        readStore: wrap(readStore),
        sleep: async () => step(),
      },
      died: () => dead,
    };
  }

  it.skipIf(SMALL_ONLY)(
    'at any step leaves a docket that the next ingest completes: nothing lost, nothing announced twice',
    async () => {
      const many = Array.from({ length: 450 }, (_, index) => rawEntry(index + 1, '2024-02-05', `NOTICE ${index}`));
      for (let at = 1; ; at++) {
        const number = `3:24-cv-${String(30_000 + at)}`;
        const raw = (some: readonly unknown[]) => rawDocket(some, { docket_number: number });
        await world.ingest(raw(many.slice(0, 440)), { complete: at % 2 === 0 });
        const first = await world.ask('cand', number);
        const { ports, died } = dying(at);
        await ingestDocket(ports, snapshotOf(raw(many)), contextOf()).catch((error: unknown) => {
          if (!died()) throw error;
        });
        await world.ingest(raw(many));
        const second = await world.ask('cand', number, { lastChecked: first.queriedAt });
        const told = numbers(bodyOf(second).delta.new_filings);
        if (at % 2 === 0)
          expect(told, `dead at step ${at}`).toEqual([441, 442, 443, 444, 445, 446, 447, 448, 449, 450]);
        expect(bodyOf(second).case.filing_count).toBe(450);
        const third = await world.ask('cand', number, { lastChecked: second.queriedAt });
        expect(bodyOf(third).delta.change_count).toBe(0);
        if (!died()) break;
        expect(at).toBeLessThan(60);
      }
    },
  );

  it.skipIf(SMALL_ONLY)(
    'in the middle of a baseline does not make the rest new, and no query is answered until it is complete',
    async () => {
      const many = Array.from({ length: 4_000 }, (_, index) => rawEntry(index + 1, '2024-02-05', `NOTICE ${index}`));
      let appends = 0;
      const log = overriding(world.ports.log, {
        append: async (append) => {
          if (append.stream === STREAM && ++appends > 1) throw new Died('killed');
          return world.ports.log.append(append);
        },
      });
      const sleep = async (): Promise<void> => {
        throw new Died('killed');
      };
      await expect(
        ingestDocket({ ...world.ports, log, sleep }, snapshotOf(rawDocket(many)), contextOf()),
      ).rejects.toThrow(Died);
      await world.runner.catchUp();
      await expect(world.ask('cand', '3:24-cv-01234')).rejects.toThrow('court_unavailable');
      const report = await world.ingest(rawDocket(many));
      expect(report.newFilings).toBe(0);
      expect(report.baselineFilings + report.unchanged).toBe(4_000);
      expect(report.unchanged).toBeGreaterThan(0);
      const answer = await world.ask('cand', '3:24-cv-01234', { lastChecked: '2026-01-01T00:00:00.000000Z' });
      expect(bodyOf(answer).delta.change_count).toBe(0);
      expect(bodyOf(answer).case.filing_count).toBe(4_000);
    },
  );

  it('with a running append is superseded by an event that makes the append conflict permanently', async () => {
    await world.ingest(rawDocket(entries.slice(0, 3)));
    // The first writer claims the clock; its append is on the wire when it dies.
    let onTheWire: Append | null = null;
    const log = overriding(world.ports.log, {
      append: (append) => {
        if (append.stream !== STREAM) return world.ports.log.append(append);
        onTheWire = append;
        return new Promise(() => {});
      },
    });
    void ingestDocket({ ...world.ports, log }, snapshotOf(rawDocket(entries)), contextOf());
    await expect.poll(() => onTheWire).not.toBeNull();
    const pending = (await clockOf())?.pending;
    expect(pending).not.toBeNull();

    // No query is answered at or after the time that it carries, regardless of the clock.
    world.clock.advance(60_000);
    const before = await world.ask('cand', '3:24-cv-01234');
    expect(before.queriedAt < pending!.time).toBe(true);

    // A second ingest that needs no time itself waits, gives the append up, and ends its claim.
    expect(await world.ingest(rawDocket(entries.slice(0, 3)))).toMatchObject({ newFilings: 0, unchanged: 3 });
    expect(await types()).toEqual([
      'DocketOpened',
      'DocketDetailsChanged',
      'FilingsRecorded',
      'BaselineCompleted',
      'DocketChecked',
      'DocketChecked',
      'DocketChecked',
    ]);
    expect((await clockOf())?.pending).toBeNull();
    const between = await world.ask('cand', '3:24-cv-01234', { lastChecked: before.queriedAt });
    expect(between.queriedAt > pending!.time).toBe(true);
    await expect(world.storage.log.append(onTheWire!)).rejects.toThrow(RevisionConflict);

    await world.ingest(rawDocket(entries));
    const after = await world.ask('cand', '3:24-cv-01234', { lastChecked: between.queriedAt });
    expect(numbers(bodyOf(after).delta.new_filings)).toEqual([4, 5]);
  });

  it('after its append, before it cleared its claim, costs the next ingest nothing', async () => {
    await world.ingest(rawDocket(entries.slice(0, 3)));
    const first = await world.ask('cand', '3:24-cv-01234');
    const forever = { ...world.ports, waitUntilProjected: () => new Promise<void>(() => {}) };
    void ingestDocket(forever, snapshotOf(rawDocket(entries)), contextOf());
    await expect.poll(async () => (await types()).length).toBe(7);
    const report = await world.ingest(rawDocket(entries));
    expect(report).toMatchObject({ newFilings: 0, unchanged: 5 });
    expect(await types()).not.toContain('abandoned');
    const second = await world.ask('cand', '3:24-cv-01234', { lastChecked: first.queriedAt });
    expect(numbers(bodyOf(second).delta.new_filings)).toEqual([4, 5]);
  });
});

describe('a lost case clock', () => {
  it('is assumed to have served every query up to now, with a margin', async () => {
    await world.ingest(rawDocket(entries.slice(0, 3)));
    const first = await world.ask('cand', '3:24-cv-01234');
    const cell = await world.storage.readStore.cell(caseClockId(STREAM));
    let isLost = true;
    const lost = overriding(world.ports.readStore, {
      cell: async (id) => {
        if (!isLost || id !== caseClockId(STREAM)) return world.storage.readStore.cell(id);
        return { version: cell.version, value: null };
      },
      compareAndSet: (id, version, value) => {
        isLost = false;
        return world.storage.readStore.compareAndSet(id, version, value);
      },
    });
    const asked = world.clock.now();
    await ingestDocket({ ...world.ports, readStore: lost }, snapshotOf(rawDocket(entries)), contextOf());
    const second = await world.ask('cand', '3:24-cv-01234', { lastChecked: first.queriedAt });
    const [oldest] = bodyOf(second).delta.new_filings;
    expect(oldest.available_at >= toInstant(asked + 5_000 * MICROS_PER_MS)).toBe(true);
    expect(second.queriedAt >= oldest.available_at).toBe(true);
  });
});
