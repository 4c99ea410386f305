import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallbackQueue, type DueDelivery } from '../../src/processes/callback-queue.ts';

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
const takeAll = (queue: CallbackQueue, now: number) => {
  const taken: string[] = [];
  for (let next = queue.take(now); next; next = queue.take(now)) taken.push(next.deliveryId);
  return taken;
};

describe('the queue of due deliveries', () => {
  it('gives none before its time, and the earliest first', () => {
    const queue = new CallbackQueue();
    for (const at of [30, 10, 20]) queue.add(due(`at ${at}`, { dueAt: at }));
    expect(takeAll(queue, 9)).toEqual([]);
    expect(queue.nextDueAt()).toBe(10);
    expect(takeAll(queue, 25)).toEqual(['at 10', 'at 20']);
    expect(queue.nextDueAt()).toBe(30);
  });
  it('lets an earlier time overtake a later one, and gives each delivery once', () => {
    const queue = new CallbackQueue();
    queue.add(due('a', { dueAt: 100 }));
    queue.add(due('a', { dueAt: 5 }));
    queue.add(due('a', { dueAt: 50 }));
    expect(queue.size).toBe(1);
    expect(takeAll(queue, 5)).toEqual(['a']);
    queue.add(due('a', { dueAt: 7 }));
    queue.done('a');
    expect(takeAll(queue, 200)).toEqual([]);
  });
  it('takes turns among wallets and origins', () => {
    const queue = new CallbackQueue({ ...LIMITS, total: 4 });
    for (let i = 0; i < 9; i++) queue.add(due(`busy ${i}`, { wallet: 'busy' }));
    queue.add(due('lone', { wallet: 'lone', origin: 'elsewhere' }));
    expect(takeAll(queue, 1)).toContain('lone');
  });
  it('keeps an origin from taking all of the room', () => {
    const queue = new CallbackQueue(LIMITS);
    const taken = Array.from({ length: 200 }, (_, i) => queue.add(due(`${i}`)));
    expect(taken.filter(Boolean).length).toBeLessThan(30);
    expect(queue.add(due('x', { origin: 'another' }))).toBe(true);
  });
  it('gives another time to what has become long overdue in it, and leaves the rest', () => {
    const queue = new CallbackQueue();
    const now = 3_600_000_000;
    for (let i = 0; i < 3; i++) queue.add(due(`overdue ${i}`, { dueAt: i }));
    queue.add(due('just due', { dueAt: now - 1_000_000 }));
    queue.add(due('later', { dueAt: now + 1 }));
    queue.add(due('earlier now', { dueAt: 5 }));
    queue.add(due('earlier now', { dueAt: 4 }));
    let next = now;
    queue.respread(now, () => next++);
    expect(queue.size).toBe(6);
    expect(takeAll(queue, now)).toEqual(['just due', 'overdue 0']);
    expect(takeAll(queue, now + 1).sort()).toEqual(['later', 'overdue 1']);
    expect(takeAll(queue, now + 100).sort()).toEqual(['earlier now', 'overdue 2']);
  });
  it('forgets what others tend now', () => {
    const queue = new CallbackQueue();
    for (let partition = 0; partition < 4; partition++) queue.add(due(`p${partition}`, { partition }));
    queue.retain(({ partition }) => partition % 2 === 0);
    expect(takeAll(queue, 1).sort()).toEqual(['p0', 'p2']);
  });

  it('never runs more than its limits, and starts everything in the end', () => {
    const step = fc.oneof(
      fc.record({ add: fc.nat(5), origin: fc.nat(3), dueAt: fc.nat(20) }),
      fc.record({ done: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const queue = new CallbackQueue(LIMITS);
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
