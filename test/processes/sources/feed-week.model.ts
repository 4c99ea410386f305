/**
 * A stretch of time in which courts enter what they enter, their feeds break, and the service is down, killed and started
 * again. At its end each entry of a watched case is one filing, announced once; or it was entered in a time of which the
 * case's own stream says that a feed said nothing.
 */
import { expect } from 'vitest';
import { randomOf } from '../../dockets/memory-ports.ts';
import { overriding } from '../../dockets/world.ts';
import type { FeedEntry } from '../../sources/feeds/dialects.ts';
import type { FeedTrouble } from '../../sources/feeds/feeds.ts';
import { openFeedWorld } from './feed-world.ts';

interface CourtOfModel {
  readonly code: string;
  /** Hours and items that its feed reaches back. */
  readonly window: readonly [hours: number, most: number];
  /** As it writes a number. */
  write(index: number): string;
  /** The stream of that case. */
  stream(index: number): string;
}

const five = (index: number): string => String(100 + index).padStart(5, '0');

const COURTS: readonly CourtOfModel[] = [
  {
    code: 'ilnd',
    window: [2, 500],
    write: (index) => `1:26-cv-${five(index)}`,
    stream: (index) => `docket-ilnd-1:26-cv-${five(index)}`,
  },
  {
    code: 'ilcb',
    window: [3, 25],
    write: (index) => `26-7${five(index).slice(1)}-mpg`,
    stream: (index) => `docket-ilcb-26-7${five(index).slice(1)}`,
  },
  {
    code: 'nyed',
    window: [24, 500],
    write: (index) => `1:26-cv-${five(index)}-WFK-SMG`,
    stream: (index) => `docket-nyed-1:26-cv-${five(index)}`,
  },
  {
    code: 'ca2',
    window: [1.5, 500],
    write: (index) => `26-${1_000 + index}`,
    stream: (index) => `docket-ca2-26-${1_000 + index}`,
  },
];

const TROUBLES: readonly FeedTrouble[] = ['cut', 'html', 'empty', 'gone', 'unavailable', 'broken', 'unconfigured'];
const EVENTS = ['Motion to Dismiss', 'Order on Motion', 'Set Hearings', 'Notice of Appearance', 'Reply'];
/** Of each court; the last one is not watched. */
const CASES = 4;
const MINUTE = 60_000_000;

interface Made {
  readonly stream: string;
  /** Seconds. */
  readonly at: number;
  /** As the docket shows them. */
  readonly text: string;
}

export async function holdsOver(seed: number, days: number): Promise<void> {
  const random = randomOf(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const world = await openFeedWorld({ courts: COURTS.map(({ code }) => code), totalMs: 5_000 });
  try {
    for (const { code, window } of COURTS) world.server.window(code, ...window);
    for (const { code, write } of COURTS) {
      for (let index = 0; index < CASES - 1; index++) {
        await world.asked(await world.shown(code, write(index), { entries: [] }));
      }
    }
    const made: Made[] = [];
    const troubledUntil = new Map<string, number>();
    let downUntil = 0;
    let poller = world.start();
    const end = world.clock.now() + days * 24 * 60 * MINUTE;
    while (world.clock.now() < end) {
      const now = world.clock.now();
      for (const court of COURTS) {
        // A burst fills a feed that keeps few items.
        const count = random() < 0.3 ? (random() < 0.02 ? 40 : 1) : 0;
        for (let index = 0; index < count; index++) made.push(...enter(court, now, made.length + 1));
        if (random() < 0.01) {
          world.server.trouble(court.code, TROUBLES[below(TROUBLES.length)] ?? null);
          troubledUntil.set(court.code, now + below(240) * MINUTE);
        }
        if ((troubledUntil.get(court.code) ?? 0) <= now) world.server.trouble(court.code, null);
      }
      if (random() < 0.006) downUntil = now + below(360) * MINUTE;
      if (downUntil > now) poller = world.start();
      else {
        await poller.step(world.clock.now());
        if (random() < 0.05) poller = random() < 0.5 ? world.start() : killed(below(6));
      }
      world.move((3 + below(16)) * MINUTE + below(MINUTE));
    }
    // Nothing breaks any more, and the longest back-off ends.
    for (const { code } of COURTS) world.server.trouble(code, null);
    poller = world.start();
    for (let minutes = 0; minutes < 150; minutes += 6) {
      await poller.step(world.clock.now());
      world.move(6 * MINUTE);
    }
    await world.projected();
    await check(made);

    function enter({ code, write, stream }: CourtOfModel, now: number, number: number): Made[] {
      const index = below(CASES);
      // Entries of one moment would be one entry where a court gives no ids.
      const at = Math.floor(now / 1_000_000) * 1_000 - (number % 50) * 1_000;
      const isMinute = random() < 0.3;
      const event = `${EVENTS[below(EVENTS.length)]} ${number}`;
      const entry: FeedEntry = {
        caseNumber: write(index),
        caseName: 'Brackwater Tile & Stone, LLC v. Pell',
        event,
        at,
        pacerCaseId: String(480_000 + index),
        number: isMinute ? null : number,
        document: isMinute ? null : `0671${String(number).padStart(8, '0')}`,
        sequence: number,
        partId: 3_900_000 + number,
        office: '3',
        chapter: '7',
      };
      world.server.addItem(code, entry);
      let text = event;
      if (random() < 0.1) {
        const other = `A second event ${number}`;
        world.server.addItem(code, { ...entry, event: other });
        text = [event, other].sort().join(' AND ');
      }
      return index === CASES - 1 ? [] : [{ stream: stream(index), at: at / 1_000, text }];
    }

    /** A process that dies before it remembers what it recorded. */
    function killed(after: number) {
      let left = after;
      return world.start({
        readStore: overriding(world.readStore, {
          compareAndSet: async (id, version, value) => {
            if (id.startsWith('rss-feed-') && left-- <= 0) throw new Error('killed');
            return world.readStore.compareAndSet(id, version, value);
          },
        }),
      });
    }

    async function check(entries: readonly Made[]): Promise<void> {
      let lost = 0;
      for (const stream of new Set(entries.map((one) => one.stream))) {
        const own = entries.filter((one) => one.stream === stream);
        const texts = (await world.filings(stream)).map(({ description }) => description);
        // Every event of an entry ends with its number.
        const numbers = texts.map((text) => text.split(' ').at(-1));
        expect(new Set(numbers).size, `${stream} announces one entry twice`).toBe(texts.length);
        const known = new Set(own.flatMap(({ text }) => [text, ...text.split(' AND ')]));
        expect(texts.filter((text) => !known.has(text))).toEqual([]);
        const gaps = (await world.eventsOf(stream)).flatMap(({ data }) => {
          const gap = data.gap as { readonly from: string; readonly to: string } | undefined;
          return gap === undefined ? [] : [[Date.parse(gap.from) / 1_000, Date.parse(gap.to) / 1_000] as const];
        });
        const shown = new Set(texts);
        for (const { at, text } of own) {
          // One of two events may have left the feed as well.
          if (shown.has(text)) continue;
          lost++;
          // The feed is made in the second in which the entry is.
          const isTold = gaps.some(([from, to]) => at >= from - 60 && at <= to + 60);
          expect(isTold, `${stream} lacks ${text}, entered ${new Date(at * 1_000).toISOString()}`).toBe(true);
        }
        expect(await world.eventsOf(stream.replace(/\d$/, String(CASES - 1)))).toEqual([]);
      }
      // The service was down for longer than feeds reach back, so the test has something to tell.
      if (days >= 5) expect(lost).toBeGreaterThan(0);
    }
  } finally {
    await world.close();
  }
}
