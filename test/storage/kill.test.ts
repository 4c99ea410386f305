import { expect, it } from 'vitest';
import { killInALoop } from './kill.ts';

it('loses nothing that was acknowledged when it is killed', { timeout: 60_000 }, async () => {
  const { events, payloads } = await killInALoop(3);
  expect(events).toBeGreaterThan(10);
  expect(payloads).toBeGreaterThan(10);
});
