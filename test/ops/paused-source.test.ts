/**
 * Given a running service with live sources, when an operator pauses one and resumes it, then its courts in `/v2/status`,
 * its part of `/readyz` and the metrics follow, and the service stays ready.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { V1_ENDS } from '../../src/http/v1/sunset.ts';
import { systemClock } from '../../src/runtime/instant.ts';
import { type ObservedService, startObservedService } from './observed-service.ts';

let observed: ObservedService;
beforeAll(async () => {
  observed = await startObservedService();
}, 120_000);
afterAll(() => observed?.close());

interface ShownCourt {
  readonly court_code: string;
  readonly status: string;
  readonly source: string;
  readonly refresh_cadence_seconds: number | null;
}

const status = async (path: string) =>
  (await (await fetch(observed.url + path)).json()) as { operational_status: string; courts: readonly ShownCourt[] };
const courtOf = async (code: string, path = '/v2/status') =>
  (await status(path)).courts.find(({ court_code }) => court_code === code);
const ready = async () => {
  const answer = await fetch(`${observed.service.adminUrl}/readyz`);
  const { parts, components } = (await answer.json()) as Record<
    string,
    Record<string, { status: string; code?: string }>
  >;
  return { status: answer.status, sources: (parts ?? components)?.sources };
};
const act = async (verb: 'pause' | 'resume') => {
  const { code, err } = await observed.docket('sources', verb, 'scotus', '--reason', 'ticket 4711');
  expect(code, err).toBe(0);
};
const WAIT = { timeout: 60_000, interval: 250 };

describe('a live source that is paused', () => {
  it('names the sources of courts before', async () => {
    expect(await courtOf('scotus')).toMatchObject({ status: 'live', source: 'scotus', refresh_cadence_seconds: null });
    expect(await courtOf('ilnd')).toMatchObject({ source: 'courtlistener', refresh_cadence_seconds: 300 });
    expect(await courtOf('ok_tulsa')).toMatchObject({ status: 'live', source: 'imported' });
  });

  it('makes its courts and its part degraded, and the service stays ready', async () => {
    await act('pause');
    await vi.waitUntil(async () => (await courtOf('scotus'))?.status === 'degraded', WAIT);
    expect((await courtOf('ilnd'))?.status).toBe('live');
    // Version 1, as long as there is one, knows only live and planned courts.
    if (systemClock.now() < V1_ENDS) expect((await courtOf('scotus', '/v1/status'))?.status).toBe('live');
    await vi.waitUntil(async () => (await ready()).sources?.status === 'degraded', WAIT);
    expect(await ready()).toMatchObject({ status: 200, sources: { code: 'source_paused' } });
  });

  it('is over once it is resumed', async () => {
    await act('resume');
    await vi.waitUntil(async () => (await courtOf('scotus'))?.status === 'live', WAIT);
    await vi.waitUntil(async () => (await ready()).sources?.status === 'nominal', WAIT);
  });
});
