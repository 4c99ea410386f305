import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { onAbort } from '../../src/runtime/on-abort.ts';
import { pause } from '../../src/runtime/pause.ts';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

describe('waiting for one signal', () => {
  it('wakes all waiting callers once, and none that has left', () => {
    const controller = new AbortController();
    const [first, second, left] = [vi.fn(), vi.fn(), vi.fn()];
    onAbort(controller.signal, first);
    const leave = onAbort(controller.signal, left);
    leave();
    leave();
    onAbort(controller.signal, first);
    onAbort(controller.signal, second);
    controller.abort();
    expect([first, second, left].map(({ mock }) => mock.calls.length)).toEqual([2, 1, 0]);
  });

  it('can be repeated after the last one has left', () => {
    const controller = new AbortController();
    const listener = vi.fn();
    onAbort(controller.signal, vi.fn())();
    onAbort(controller.signal, listener);
    controller.abort();
    expect(listener).toHaveBeenCalledOnce();
  });

  it('is not a leak to the runtime, however many wait, and a pause ends with its signal', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    const controller = new AbortController();
    const pauses = Array.from({ length: 100 }, () => pause(60_000, controller.signal));
    controller.abort();
    await Promise.all(pauses);
    await pause(60_000, controller.signal);
    await new Promise((done) => setImmediate(done));
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });
});

it('no other module listens to a signal that it did not create for one of its calls', () => {
  // Each of these has a signal that was made for one attempt, one query or one object.
  const ofOneCall = [
    'callbacks/outbound/connection.ts',
    'callbacks/outbound/dial.ts',
    'callbacks/outbound/resolve.ts',
    'commands/purchase/query-run.ts',
    'processes/callbacks/deliveries.ts',
    'runtime/on-abort.ts',
  ];
  const listening = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter(
      (path) =>
        readFileSync(`${SOURCE}/${path}`, 'utf8').includes("addEventListener(\n    'abort'") ||
        readFileSync(`${SOURCE}/${path}`, 'utf8').includes("addEventListener('abort'"),
    );
  expect(listening.sort()).toEqual(ofOneCall);
});
