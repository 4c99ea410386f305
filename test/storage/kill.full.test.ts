import { expect, it } from 'vitest';
import { killInALoop } from './kill.ts';

const KILLS = Number(process.env.KILLS ?? 20);

it(`loses nothing that was acknowledged when it is killed ${KILLS} times`, async () => {
  const { events, payloads } = await killInALoop(KILLS);
  expect(events).toBeGreaterThan(KILLS);
  expect(payloads).toBeGreaterThan(KILLS);
});
