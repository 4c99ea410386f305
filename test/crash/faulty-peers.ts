/**
 * Faults of one peer of the service after the other, under paid load with callbacks: one process survives all of them.
 */
import { expect } from 'vitest';
import { FAULTS, type FaultProxy } from '../support/fault-proxy.ts';
import { type RunningProcess, until } from '../support/processes.ts';
import { type Attempt, pay, type Stage } from './paid-load.ts';

export interface FaultyPeer {
  /** Its part in `/readyz`; null if readiness does not include it. */
  readonly part: string | null;
  readonly proxy: FaultProxy;
}

/** A limit for waiting; the time that recovery took is not checked. */
const AGAIN_WITHIN_MS = 240_000;
/** One for the outage of the peer and one for its recovery, the same for each part that waits for it, and a reserve. */
const LINES_OF_AN_OUTAGE = 40;

interface Readiness {
  readonly parts: Readonly<Record<string, { readonly status: string }>>;
}

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

export interface FaultyRun {
  readonly stage: Stage;
  readonly service: RunningProcess;
  readonly path: string;
  readonly attempts: Attempt[];
}

/**
 * Callers pay while `count` faults of the peer come and go, of each kind in turn; after each fault a caller must get a
 * paid answer.
 */
export async function liveThroughFaults(
  run: FaultyRun,
  { proxy }: FaultyPeer,
  count: number,
  random: () => number,
): Promise<void> {
  const { service } = run;
  const kinds = shuffled(FAULTS, random);
  await underLoad(run, async (answered) => {
    for (let index = 0; index < count; index++) {
      await pause(random() * 400);
      proxy.set(kinds[index % kinds.length] ?? 'reset');
      await pause(100 + random() * 900);
      proxy.set(null);
      const before = answered();
      await until('a paid answer', async () => answered() > before, { process: service, within: AGAIN_WITHIN_MS });
    }
  });
  expectNoRuntimeWarning(service.output());
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const keyed = items.map((item) => [random(), item] as const);
  return keyed.sort(([a], [b]) => a - b).map(([, item]) => item);
}

/** An outage that the service has survived, and whose end it may not have reported yet. */
export interface Outage {
  readonly part: string;
  /** How much the service had written when the outage began. */
  readonly before: number;
}

/**
 * The peer is silent until readiness reports it, and then returns: the number of log lines is bounded, regardless of
 * the duration.
 */
export async function liveThroughAnOutage(run: FaultyRun, { part, proxy }: FaultyPeer): Promise<Outage> {
  const { service, stage } = run;
  if (part === null) throw new Error('readiness does not include this peer');
  const isReady = async () => (await fetch(`${stage.adminUrl}/readyz`)).status === 200;
  await until('the service is ready', isReady, { process: service, within: AGAIN_WITHIN_MS });
  const before = service.written();
  await underLoad(run, async (answered) => {
    proxy.set('silent');
    const isDown = async () => {
      const readiness = await fetch(`${stage.adminUrl}/readyz`);
      const { parts: all } = (await readiness.json()) as Readiness;
      return readiness.status === 503 && all[part]?.status === 'down';
    };
    await until(`${part} is down`, isDown, { process: service, within: AGAIN_WITHIN_MS, every: 250 });
    await pause(5_000);
    proxy.set(null);
    const then = answered();
    await until('a paid answer', async () => answered() > then, { process: service, within: AGAIN_WITHIN_MS });
  });
  await until('the service is ready again', isReady, { process: service, within: AGAIN_WITHIN_MS });
  // Each failed request is one line; everything else is logged once.
  const said = service.outputSince(before).split('\n').filter(Boolean);
  const lines = said.filter((line) => !line.includes('"requestId"') && !line.includes('"deliveryId"'));
  expect(lines.length, lines.join('\n')).toBeLessThan(LINES_OF_AN_OUTAGE);
  return { part, before };
}

/**
 * The part is reported as down once, and as up once it has been up for a minute. What follows is another outage: on a
 * slow machine its own check may fail while other peers do.
 */
export async function expectToldOnce({ service }: FaultyRun, { part, before }: Outage): Promise<void> {
  const RECOVERED = 'component recovered';
  const lines = () =>
    service
      .outputSince(before)
      .split('\n')
      .filter((line) => line.includes(`"part":"${part}"`));
  const isUp = async () => lines().some((line) => line.includes(RECOVERED));
  await until(`${part} is reported as up`, isUp, { process: service, within: AGAIN_WITHIN_MS, every: 250 });
  const told = lines();
  const outage = told.slice(
    0,
    told.findIndex((line) => line.includes(RECOVERED)),
  );
  // None if the faults before have already alerted the operators.
  expect(outage.filter((line) => line.includes(`"alarm":"${part}_down"`)).length).toBeLessThanOrEqual(1);
  expect(service.output()).toContain(`"alarm":"${part}_down"`);
}

async function underLoad(run: FaultyRun, work: (answered: () => number) => Promise<void>): Promise<void> {
  let count = 0;
  let stopped = false;
  const told = (status: number) => {
    if (status === 200) count++;
  };
  const { stage, path, attempts } = run;
  const callers = stage.wallets.map((wallet) => pay(stage, wallet, path, attempts, () => stopped, { told }));
  try {
    await work(() => count);
  } finally {
    stopped = true;
    await Promise.all(callers);
  }
}

export function expectAlive({ child, output }: RunningProcess): void {
  expect(child.exitCode ?? child.signalCode, output().slice(-3_000)).toBe(null);
}

/** Every line that the service writes is JSON; the runtime and its libraries write plain text. */
export function expectNoRuntimeWarning(output: string): void {
  // The kept output may start in the middle of a line.
  const plain = output
    .split('\n')
    .slice(1)
    .filter((line) => line !== '' && !line.startsWith('{'));
  expect(plain).toEqual([]);
}
