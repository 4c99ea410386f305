/** How a test waits, and how it makes a process die at a chosen step. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PurchasePorts } from '../../src/commands/purchase/contract.ts';
import type { Chain } from '../../src/solana/chain.ts';
import { withPayloadsFirst } from '../../src/storage/payloads-first.ts';
import { altered, type World } from './world.ts';

/** Polls until the result is as expected, or time is up. */
export async function until<T>(look: () => Promise<T>, isGood: (value: T) => boolean, patienceMs = 30_000): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const value = await look();
    if (isGood(value) || performance.now() > deadline) return value;
    await sleep(25);
  }
}

/** Where a process can die: it does nothing after this point. */
export const dead = (): Promise<never> => new Promise(() => undefined);

/** Ports of a process that dies at this point of its next purchase, and says so. */
export function dyingAt(world: World, point: string, died = () => {}): Partial<PurchasePorts> {
  const { log, payloads } = world.storage;
  const die = (): Promise<never> => {
    died();
    return dead();
  };
  const appending = (which: number, after: boolean): Partial<PurchasePorts> => {
    let appends = 0;
    return {
      log: altered(log, {
        async append(appended) {
          if (++appends !== which) return log.append(appended);
          if (after) await log.append(appended);
          return die();
        },
      }),
    };
  };
  switch (point) {
    case 'before the answer is sealed':
      return { payloads: altered(payloads, { seal: die }) };
    case 'between the answer and the claim, where they are stored apart':
      return { log: withPayloadsFirst(altered(log, { append: die }), payloads) };
    case 'before the claim':
      return appending(1, false);
    case 'after the claim':
      return appending(1, true);
    case 'before the broadcast':
      return { chain: altered<Chain>(world.chain, { send: die }) };
    case 'after the broadcast':
      return { chain: altered<Chain>(world.chain, { send: async (wire) => (await world.chain.send(wire)) && die() }) };
    case 'before the settlement is recorded':
      return appending(2, false);
    case 'after the settlement is recorded':
      return appending(2, true);
    default:
      throw new Error(point);
  }
}
