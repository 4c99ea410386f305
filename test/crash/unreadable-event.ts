/**
 * One event of the log cannot be read, while the service runs and at its start: the service names it, and keeps
 * running.
 */
import { expect } from 'vitest';
import { type RunningProcess, spawnDocket, until } from '../support/processes.ts';
import { expectAlive, expectNoRuntimeWarning } from './faulty-peers.ts';
import { type Attempt, pay, type Stage } from './paid-load.ts';

/** On a machine that others share. */
const WITHIN_MS = 60_000;

interface Part {
  readonly status: string;
  readonly reason: string | null;
  readonly code?: string;
  readonly hint?: string;
}

/** One caller pays until it is answered once. */
export async function sellOnce(stage: Stage, path: string): Promise<void> {
  const [wallet] = stage.wallets;
  if (!wallet) throw new Error('a wallet is needed');
  const attempts: Attempt[] = [];
  const answered = () => attempts.some(({ status }) => status === 200);
  await pay(stage, wallet, path, attempts, answered);
}

/**
 * Waits until readiness, and the log, name the event. @param place such as `stream payment-1, revision 0, position 7`
 */
export async function expectReported(stage: Stage, service: RunningProcess, place: string): Promise<void> {
  let projections: Part | undefined;
  const isReported = async () => {
    const readiness = await fetch(`${stage.adminUrl}/readyz`);
    projections = ((await readiness.json()) as { parts: Record<string, Part> }).parts.projections;
    return readiness.status === 503 && projections?.code === 'event_unreadable';
  };
  await until('readiness names the event', isReported, { process: service, within: WITHIN_MS, every: 250 });
  expect(projections).toMatchObject({
    status: 'down',
    reason: expect.stringContaining(place),
    hint: expect.stringContaining('backup'),
  });
  // Once for each part that meets it, however often it retries.
  const lines = service.output().split('\n').filter(Boolean);
  const naming = lines.filter((line) => line.includes(place) && line.includes('event_unreadable'));
  expect(naming.length).toBeGreaterThan(0);
  expect(naming.length, naming.join('\n')).toBeLessThan(15);
  expectNoRuntimeWarning(service.output());
  expectAlive(service);
}

/** Stops and starts the service, and expects that it reports the same and can be stopped. */
export async function expectReportedAtStart(stage: Stage, service: RunningProcess, place: string): Promise<void> {
  expect(await service.stop(), service.output().slice(-3_000)).toBe(0);
  const again = spawnDocket(['serve'], stage.environment);
  try {
    await expectReported(stage, again, place);
    expect(await again.stop(), again.output().slice(-3_000)).toBe(0);
  } finally {
    await again.kill();
  }
}
