/**
 * Given callbacks of two paused hosts, when one host is resumed while a scan passes over both, then the next scan offers
 * its callbacks.
 */
import { expect, it } from 'vitest';
import { CallbackScan } from '../../../src/processes/callbacks/scan.ts';
import { MICROS_PER_SECOND, type Micros, toInstant } from '../../../src/runtime/instant.ts';
import type { Find, ReadStore } from '../../../src/storage/read-store.ts';

const NOW: Micros = 1_800_000_000 * MICROS_PER_SECOND;
const RESUMED = 'https://resumed.example';
const PAUSED = 'https://paused.example';

it('a host that is resumed during a scan is offered by the next one', async () => {
  const rows = Array.from({ length: 600 }, (_, index) => {
    const dueAt = toInstant(NOW - 3_600 * MICROS_PER_SECOND + index);
    const origin = index < 250 ? RESUMED : PAUSED;
    const id = `delivery ${String(index).padStart(3, '0')}`;
    return { id, position: String(index), document: { wallet: 'w', origin, partition: 0, dueAt, since: dueAt } };
  });
  const paused = new Set([RESUMED, PAUSED]);
  let beforePage = (_page: number): void => undefined;
  let pages = 0;
  const find = async ({ after, limit }: Find) => {
    beforePage(++pages);
    return rows.filter(({ id }) => after === undefined || id > after.id).slice(0, limit);
  };
  const scan = new CallbackScan({ find } as unknown as ReadStore, (origin) => paused.has(origin), { now: () => NOW });
  const offered: string[] = [];
  const look = () =>
    scan.look([0], NOW, ({ origin }) => {
      offered.push(origin);
      return true;
    });

  beforePage = (page) => {
    if (page !== 2) return;
    paused.delete(RESUMED);
    scan.forget(0);
  };
  await look();
  offered.length = 0;
  await look();
  expect(offered).toEqual(Array(250).fill(RESUMED));
});
