import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallbackQueue, type DueDelivery, type QueueLimits } from '../../../src/processes/callbacks/queue.ts';
import { StartPacer } from '../../../src/processes/callbacks/start-pacer.ts';

const due = (deliveryId: string, over: Partial<DueDelivery> = {}): DueDelivery => ({
  deliveryId,
  wallet: 'w',
  origin: 'o',
  partition: 0,
  dueAt: 0,
  position: '1',
  ...over,
});
const LIMITS = { total: 6, perOrigin: 3, perWallet: 4, waiting: 100 };
/** Deliveries that start one after the other may start every ten microseconds of the steady clock. */
const EVERY = 10;
let steady = 0;
const queueWith = (limits?: QueueLimits) => new CallbackQueue(new StartPacer({ now: () => steady }, EVERY), limits);
const takeAll = (queue: CallbackQueue, now: number) => {
  const taken: string[] = [];
  for (let next = queue.take(now); next; next = queue.take(now)) taken.push(next.deliveryId);
  return taken;
};

describe('the queue of due deliveries', () => {
  it('returns none before its time, and the earliest first', () => {
    const queue = queueWith();
    for (const at of [30, 10, 20]) queue.add(due(`at ${at}`, { dueAt: at }));
    expect(takeAll(queue, 9)).toEqual([]);
    expect(queue.nextAt(9)).toBe(10);
    expect(takeAll(queue, 25)).toEqual(['at 10', 'at 20']);
    expect(queue.nextAt(25)).toBe(30);
  });
  it('lets an earlier time overtake a later one, and returns each delivery once', () => {
    const queue = queueWith();
    queue.add(due('a', { dueAt: 100 }));
    queue.add(due('a', { dueAt: 5 }));
    queue.add(due('a', { dueAt: 50 }));
    expect(queue.size).toBe(1);
    expect(takeAll(queue, 5)).toEqual(['a']);
    queue.add(due('a', { dueAt: 7 }));
    queue.done('a');
    expect(takeAll(queue, 200)).toEqual([]);
  });
  it('alternates between wallets and origins', () => {
    const queue = queueWith({ ...LIMITS, total: 4 });
    for (let i = 0; i < 9; i++) queue.add(due(`busy ${i}`, { wallet: 'busy' }));
    queue.add(due('lone', { wallet: 'lone', origin: 'elsewhere' }));
    expect(takeAll(queue, 1)).toContain('lone');
  });
  it('keeps an origin from using all of the room', () => {
    const queue = queueWith(LIMITS);
    const taken = Array.from({ length: 200 }, (_, i) => queue.add(due(`${i}`)));
    expect(taken.filter(Boolean).length).toBeLessThan(30);
    expect(queue.add(due('x', { origin: 'another' }))).toBe(true);
  });
  it('starts long overdue deliveries one after the other, and the rest alongside', () => {
    const queue = queueWith();
    const now = 3_600_000_000;
    for (let i = 0; i < 3; i++) queue.add(due(`overdue ${i}`, { dueAt: i }));
    queue.add(due('just due', { dueAt: now - 1_000_000 }));
    queue.add(due('later', { dueAt: now + 1 }));
    expect(takeAll(queue, now).sort()).toEqual(['just due', 'overdue 0']);
    expect(queue.nextAt(now)).toBe(now + 1);
    expect(takeAll(queue, now + 1)).toEqual(['later']);
    expect(queue.nextAt(now + 1)).toBe(now + 1 + EVERY);
    steady += EVERY - 1;
    expect(takeAll(queue, now + 2)).toEqual([]);
    expect(queue.nextAt(now + 2)).toBe(now + 3);
    steady += 1;
    expect(takeAll(queue, now + 3)).toEqual(['overdue 1']);
    steady += 100 * EVERY;
    expect(takeAll(queue, now + 3)).toEqual(['overdue 2']);
    expect([queue.size, queue.nextAt(now + 3)]).toEqual([0, null]);
  });
  it('keeps the turns of waiting deliveries, wherever the wall clock is set', () => {
    const queue = queueWith();
    const hour = 3_600_000_000;
    for (let i = 0; i < 4; i++) queue.add(due(`${i}`, { dueAt: i }));
    for (let jump = 0; jump < 4; jump++) {
      steady += EVERY;
      expect(takeAll(queue, (jump % 2 === 0 ? 1 : 7) * hour)).toEqual([`${jump}`]);
      expect(takeAll(queue, 9 * hour)).toEqual([]);
      // What has had its turn comes after those that wait for theirs.
      queue.done(`${jump}`);
      queue.add(due(`${jump}`, { dueAt: 10 }));
    }
    expect(queue.size).toBe(4);
    steady += EVERY;
    expect(takeAll(queue, 9 * hour)).toEqual(['0']);
  });
  it('gives a turn to what waits by a clock that was set back, unless it is due by itself', () => {
    const queue = queueWith();
    steady += EVERY;
    queue.add(due('due', { dueAt: 5 }));
    queue.add(due('far', { dueAt: 1_000 }));
    for (const id of ['due', 'far', 'unknown', 'far', 'unknown']) {
      expect(queue.addInTurn(due(id, { dueAt: 2_000 }), 5)).toBe(true);
    }
    expect(queue.size).toBe(3);
    expect(takeAll(queue, 5).sort()).toEqual(['due', 'far']);
    expect(queue.addInTurn(due('far', { dueAt: 2_000 }), 5)).toBe(true);
    steady += EVERY;
    expect(takeAll(queue, 5)).toEqual(['unknown']);
    expect(queue.size).toBe(0);
    steady += EVERY;
    expect(takeAll(queue, 3_000)).toEqual([]);
  });
  it('lets an immediate request overtake those that wait for their turns', () => {
    const queue = queueWith();
    const now = 3_600_000_000;
    steady += EVERY;
    for (let i = 0; i < 3; i++) queue.add(due(`${i}`, { dueAt: i }));
    expect(takeAll(queue, now)).toEqual(['0']);
    queue.add(due('2', { dueAt: now }));
    expect(takeAll(queue, now)).toEqual(['2']);
    steady += EVERY;
    expect(takeAll(queue, now)).toEqual(['1']);
  });
  it('forgets deliveries that another node handles now', () => {
    const queue = queueWith();
    for (let partition = 0; partition < 4; partition++) queue.add(due(`p${partition}`, { partition }));
    queue.retain(({ partition }) => partition % 2 === 0);
    expect(takeAll(queue, 1).sort()).toEqual(['p0', 'p2']);
  });
  it('drops queued deliveries too, and keeps the order of the others', () => {
    const queue = queueWith();
    const now = 3_600_000_000;
    steady += EVERY;
    for (let i = 0; i < 5; i++) queue.add(due(`p${i}`, { dueAt: i, partition: i }));
    expect(takeAll(queue, now)).toEqual(['p0']);
    queue.retain(({ partition }) => partition % 2 === 0);
    expect(queue.size).toBe(2);
    steady += EVERY;
    expect(takeAll(queue, now)).toEqual(['p2']);
    queue.retain(() => false);
    steady += EVERY;
    expect(takeAll(queue, now)).toEqual([]);
    expect(queue.size).toBe(0);
  });

  it('never exceeds its limits, and starts everything in the end', () => {
    const step = fc.oneof(
      fc.record({ add: fc.nat(5), origin: fc.nat(3), dueAt: fc.nat(20) }),
      fc.record({ done: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const queue = queueWith(LIMITS);
        const running = new Map<string, DueDelivery>();
        const waiting = new Set<string>();
        let number = 0;
        const start = () => {
          for (let next = queue.take(100); next; next = queue.take(100)) {
            expect(running.has(next.deliveryId)).toBe(false);
            running.set(next.deliveryId, next);
            waiting.delete(next.deliveryId);
          }
          const of = (key: 'wallet' | 'origin', value: string) =>
            [...running.values()].filter((one) => one[key] === value).length;
          expect(running.size).toBeLessThanOrEqual(LIMITS.total);
          for (const { wallet, origin } of running.values()) {
            expect(of('wallet', wallet)).toBeLessThanOrEqual(LIMITS.perWallet);
            expect(of('origin', origin)).toBeLessThanOrEqual(LIMITS.perOrigin);
          }
        };
        const end = (id: string | undefined) => {
          if (id === undefined) return;
          running.delete(id);
          queue.done(id);
        };
        for (const one of steps) {
          if ('add' in one) {
            const added = due(`d${number++}`, { wallet: `w${one.add}`, origin: `o${one.origin}`, dueAt: one.dueAt });
            if (queue.add(added)) waiting.add(added.deliveryId);
          } else end([...running.keys()][one.done]);
          start();
        }
        while (running.size > 0) {
          end([...running.keys()][0]);
          start();
        }
        expect([...waiting]).toEqual([]);
        expect([queue.size, queue.running]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
