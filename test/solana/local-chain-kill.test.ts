import { expect, it } from 'vitest';
import { killChain } from './chain-kill.ts';

it('the local chain keeps what it acknowledged over a few kills under load', async () => {
  const { acknowledged, landed } = await killChain(3);
  expect(acknowledged).toBeGreaterThan(0);
  expect(landed).toBeGreaterThanOrEqual(acknowledged);
}, 60_000);
