import { expect, it } from 'vitest';
import { killChain } from './chain-kill.ts';

const KILLS = Number(process.env.KILLS ?? 20);

it(`the local chain keeps exactly what it acknowledged over ${KILLS} kills under load`, async () => {
  const report = await killChain(KILLS);
  expect(report.acknowledged).toBeGreaterThan(KILLS);
  expect(report.landed).toBeGreaterThanOrEqual(report.acknowledged);
});
