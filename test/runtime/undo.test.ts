/** A stop ends every part, newest first; a part that hangs does not keep the others from ending. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Undo } from '../../src/runtime/undo.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function parts(steps: Readonly<Record<string, () => unknown>>) {
  const undo = new Undo();
  const begun: string[] = [];
  for (const [part, step] of Object.entries(steps)) {
    undo.add(part, () => {
      begun.push(part);
      return step();
    });
  }
  return { undo, begun };
}

const hang = () => new Promise<never>(() => undefined);
const fail = () => Promise.reject(new Error('closed twice'));

it('ends the parts one after the other, newest first', async () => {
  const { undo, begun } = parts({ storage: () => undefined, http: () => undefined });
  expect(await undo.run(1_000)).toEqual([]);
  expect(begun).toEqual(['http', 'storage']);
  expect(vi.getTimerCount()).toBe(0);
});

it('starts the others at once if one used up the time, and names those that have not ended', async () => {
  const { undo, begun } = parts({ storage: hang, chain: () => undefined, projections: hang, http: () => undefined });
  const run = undo.run(12_000);
  await vi.advanceTimersByTimeAsync(11_999);
  expect(begun).toEqual(['http', 'projections']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['http', 'projections', 'chain', 'storage']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await run).toEqual(['projections', 'storage']);
});

it('ends the other parts if one fails, and then fails', async () => {
  const { undo, begun } = parts({ storage: () => undefined, http: fail });
  await expect(undo.run(1_000)).rejects.toThrow('closed twice');
  expect(begun).toEqual(['http', 'storage']);
});
