/**
 * Given a running service that sells, when the read model of cases is rebuilt, the service is killed in the middle, and
 * readers are moved to the new generation and back, then every paid query is answered, before, during and after each move.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFailed } from 'vitest';
import { type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { demoCasePath, importDemoCase } from './demo-case.ts';
import { paymentFor, type Stage, setStage, startService } from './paid-load.ts';

let directory: string;
let stage: Stage;
let service: RunningProcess;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-rebuild-service-'));
  stage = await setStage(directory, 4);
  await importDemoCase(stage);
  service = await startService(stage);
}, 120_000);

afterEach(async () => {
  await service?.kill();
  await stage?.chain.kill();
  await rm(directory, { recursive: true, force: true });
});

async function projections(...words: string[]): Promise<{ readonly code: number | null; readonly out: string }> {
  const running = spawnDocket(['projections', ...words], stage.environment);
  const code = await new Promise<number | null>((resolve) => running.child.once('close', resolve));
  return { code, out: running.output() };
}
const status = async () => {
  const { out } = await projections('status', 'cases', '--json');
  return JSON.parse(out.split('\n').find((line) => line.startsWith('{')) ?? '{}');
};

/** One sale after the other, until it is stopped. @returns what stops it, with the status of each answer */
function sell(): () => Promise<readonly number[]> {
  let stopped = false;
  const answers: number[] = [];
  const selling = Promise.all(
    stage.wallets.map(async (wallet) => {
      const path = await demoCasePath();
      while (!stopped) {
        const response = await fetch(stage.url + path, { headers: await paymentFor(stage, wallet, path) });
        await response.arrayBuffer();
        // A wallet may ask ten times a minute; it was not charged.
        if (response.status === 429) return;
        answers.push(response.status);
      }
    }),
  );
  return async () => {
    stopped = true;
    await selling;
    return answers;
  };
}

it('removes no answer', async () => {
  onTestFailed(() => console.error(service.output()));
  expect((await projections('rebuild', 'cases', '--reason', 'a test', '--max-rate', '1', '--detach')).code).toBe(0);
  await until('the service builds', async () => (await status()).building?.position !== null);
  await service.kill();
  service = await startService(stage);
  expect((await projections('pace', 'cases', '--max-rate', 'off')).code).toBe(0);

  const stop = sell();
  await until('the rebuild is complete', async () => {
    const { building } = await status();
    return building.percent === 100 && building.events_behind === 0;
  });
  expect(await projections('verify', 'cases', '--json')).toMatchObject({ code: 0 });
  expect(await projections('swap', 'cases', '--reason', 'a test')).toMatchObject({ code: 0 });
  expect(await status()).toMatchObject({ active: { generation: 2 }, previous: { generation: 1 }, building: null });
  expect(await projections('rollback', 'cases', '--reason', 'a test')).toMatchObject({ code: 0 });
  expect(await status()).toMatchObject({ active: { generation: 1 }, previous: { generation: 2 } });
  const answers = await stop();
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.filter((code) => code !== 200)).toEqual([]);
}, 180_000);
