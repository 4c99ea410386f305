/** Under any load, the log has what an operator needs about each request, and none of the caller's secrets. */
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { problem } from '../../src/errors.ts';
import { countPurchases } from '../../src/http/admin/metrics/count-purchases.ts';
import { createMetrics } from '../../src/http/admin/metrics/metrics.ts';
import { notePurchase } from '../../src/http/request-log.ts';
import { sendProblem } from '../../src/http/send-problem.ts';
import { makeServer } from '../../src/http/server.ts';
import { LINES_PER_WINDOW } from '../../src/runtime/sampled-lines.ts';
import { listen, service } from './serving.ts';

function logged() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const of = (message: string) => lines.filter(({ msg }) => msg === message);
  return { logger, of, text: () => JSON.stringify(lines) };
}

const FREE = LINES_PER_WINDOW + 20;

it('one line for each request that buys; for others the first, and a count', async () => {
  const { logger, of, text } = logged();
  const app = makeServer(service, logger);
  app.get('/v2/thing/:secret', async () => ({}));
  app.get('/v2/bought', async (_request, reply) => {
    notePurchase(reply.raw);
    return {};
  });
  app.get('/v2/refused', async (_request, reply) => sendProblem(reply, problem('result_gone')));
  const port = await listen(app);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers }).then((answer) => answer.text());
  // A payment header alone buys nothing: a sandbox call may carry any.
  for (let n = 0; n < FREE; n++) await get('/v2/thing/geheim?case_id=geheim', { 'payment-signature': 'geheim' });
  for (let n = 0; n < FREE; n++) await get('/v2/bought', { 'payment-signature': 'geheim' });
  await get('/v2/refused?x=geheim');
  await get('/geheim');
  await app.close();

  const route = '/v2/thing/:secret';
  const requests = of('request');
  expect(requests.filter((line) => line.route === route)).toHaveLength(LINES_PER_WINDOW);
  expect(requests.filter((line) => line.route === '/v2/bought')).toHaveLength(FREE);
  expect(requests[0]).toMatchObject({ level: 30, method: 'GET', route, status: 200, ms: expect.any(Number) });
  expect(requests[0]?.requestId).toMatch(/^[\da-f-]{36}$/);
  expect(requests.find((line) => line.status === 410)).toMatchObject({ route: '/v2/refused', code: 'result_gone' });
  expect(requests.find((line) => line.status === 404)).toMatchObject({ route: '(none)', code: 'endpoint_not_found' });
  expect(of('requests')).toEqual([expect.objectContaining({ route, status: 200, count: FREE, unlisted: 20 })]);
  expect(text()).not.toContain('geheim');
});

const timings = { verify: 1, query: null, settle: null };
const request = {
  requestId: 'r',
  endpoint: 'GET /v2/case',
  dialect: 'v2',
  amount: 990_000n,
  transaction: { wallet: 'W', wire: Buffer.from('geheim'), message: Buffer.from('geheim') },
  startedAt: 0,
  tag: 'geheim',
  requestHash: 'geheim',
};
const settled = { outcome: 'settled', transaction: 'T', body: Buffer.from('geheim'), promised: {}, timings };
const unpaid = [
  { outcome: 'refused', problem: problem('case_not_found'), timings },
  { outcome: 'failed', transaction: 'T', reason: 'expired', timings },
  { ...settled, boughtBy: 'an earlier request' },
];

it('one line for each payment; for those that cost nothing the first, and a count', async () => {
  const { logger, of, text } = logged();
  const buy = async (outcome: object, requestId: string) => {
    await countPurchases({ underway: new Set(), buy: async () => outcome as never }, createMetrics(), logger).buy({
      ...request,
      requestId,
    } as never);
  };
  for (let n = 0; n < FREE; n++) await buy({ ...settled, boughtBy: `r${n}` }, `r${n}`);
  const paid = of('payment');
  expect(paid).toHaveLength(FREE);
  expect(paid[0]).toMatchObject({
    requestId: 'r0',
    endpoint: 'GET /v2/case',
    wallet: 'W',
    amount: '0.99',
    transaction: 'T',
  });
  await buy(unpaid[0] as object, 'r');
  expect(of('payment').at(-1)).toMatchObject({ requestId: 'r', outcome: 'refused', code: 'case_not_found' });
  expect(text()).not.toContain('geheim');
});

it.each(unpaid)('no flood of lines for payments that are $outcome', async (outcome) => {
  const { logger, of } = logged();
  const purchasing = countPurchases(
    { underway: new Set(), buy: async () => outcome as never },
    createMetrics(),
    logger,
  );
  vi.useFakeTimers();
  try {
    for (let n = 0; n < FREE; n++) await purchasing.buy(request as never);
    expect(of('payment')).toHaveLength(LINES_PER_WINDOW);
    vi.advanceTimersByTime(10_000);
  } finally {
    vi.useRealTimers();
  }
  expect(of('payments')).toEqual([expect.objectContaining({ outcome: outcome.outcome, count: FREE, unlisted: 20 })]);
});
