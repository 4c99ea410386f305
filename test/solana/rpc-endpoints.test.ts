import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChainUnavailable } from '../../src/solana/chain.ts';
import { type Question, RpcEndpoints } from '../../src/solana/rpc-endpoints.ts';
import { type Fault, type FaultyRpc, openFaultyRpc, type RpcCall } from './faulty-rpc.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const each of open.splice(0).reverse()) await each.close();
});

const keep = <T extends { close(): unknown }>(closable: T): T => {
  open.push(closable);
  return closable;
};

const echo = ({ params: [value] }: RpcCall): Fault => ({ type: 'result', result: value });

const asking = (value: unknown, more: Partial<Question<unknown>> = {}): Question<unknown> => ({
  method: 'echo',
  params: [value],
  read: (result) => result,
  ...more,
});

async function facing(faults: readonly FaultyRpc['fault'][], { timeoutMs = 2_000 } = {}) {
  const servers: FaultyRpc[] = [];
  for (const fault of faults) servers.push(keep(await openFaultyRpc(null, fault)));
  const said: string[] = [];
  const note = (_details: object, message: string) => {
    said.push(message);
  };
  const urls = servers.map(({ url }) => url);
  const endpoints = keep(new RpcEndpoints({ urls, timeoutMs, log: { info: note, warn: note } }));
  const askAll = (values: readonly unknown[]) => Promise.all(values.map((value) => endpoints.ask(asking(value))));
  return { servers: servers as [FaultyRpc, ...FaultyRpc[]], endpoints, askAll, said };
}

const shapes = ({ requests }: FaultyRpc) => requests.map(({ isBatch, calls }) => (isBatch ? calls.length : 'alone'));
const timesAsked = ({ calls }: FaultyRpc, value: unknown) => calls.filter(({ params }) => params[0] === value).length;
const alone = (count: number) => Array(count).fill('alone');

const WAYS_TO_FAIL: readonly Fault[] = [
  { type: 'status', status: 500 },
  { type: 'status', status: 400 },
  { type: 'drop' },
  { type: 'body', body: '<html>' },
  { type: 'body', body: '[]' },
];
const HANG: Fault = { type: 'hang' };
/**
 * Short if the test waits for it; otherwise long enough that a busy machine does not look like an endpoint that hangs.
 */
const timeOf = (fault: Fault) => ({ timeoutMs: fault.type === 'hang' ? 1_000 : 10_000 });

/** Every request with the poison in it fails this way. */
const poisoned =
  (fault: Fault): FaultyRpc['fault'] =>
  (call) =>
    call.params[0] === 'poison' ? fault : echo(call);

describe('a call that makes its request fail', () => {
  it.each([...WAYS_TO_FAIL, HANG])('affects its neighbours once, and is then sent without them: %j', async (fault) => {
    const { servers, endpoints, askAll } = await facing([poisoned(fault)], timeOf(fault));
    const [server] = servers;
    const attack = () => endpoints.ask(asking('poison')).catch((error: unknown) => error);
    const attacks = [attack()];
    expect(await askAll([1, 2, 3])).toEqual([1, 2, 3]);
    for (const value of [1, 2, 3]) expect(timesAsked(server, value)).toBe(2);
    // Within half a minute no call has a neighbour.
    attacks.push(attack());
    expect(await askAll([4, 5])).toEqual([4, 5]);
    for (const value of [4, 5]) expect(timesAsked(server, value)).toBe(1);
    for (const error of await Promise.all(attacks)) expect(error).toBeInstanceOf(ChainUnavailable);
    expect(shapes(server).filter((shape) => shape !== 'alone')).toEqual([4]);
  });

  it.each([...WAYS_TO_FAIL, HANG])('does not meet them again at the next endpoint: %j', async (fault) => {
    const { servers, endpoints, askAll } = await facing([poisoned(fault), poisoned(fault)], timeOf(fault));
    const attack = endpoints.ask(asking('poison')).catch((error: unknown) => error);
    expect(await askAll([1, 2, 3])).toEqual([1, 2, 3]);
    for (const value of [1, 2, 3]) {
      const times = servers.map((server) => timesAsked(server, value));
      expect(times.reduce((sum, count) => sum + count)).toBe(2);
    }
    expect(await attack).toBeInstanceOf(ChainUnavailable);
    expect(servers.map((server) => shapes(server).filter((shape) => shape !== 'alone'))).toEqual([[4], []]);
  });

  it('affects no call permanently, for any position and number of such calls', async () => {
    const attackers = fc.array(fc.boolean(), { minLength: 2, maxLength: 45 });
    await fc.assert(
      fc.asyncProperty(attackers, fc.constantFrom(...WAYS_TO_FAIL), async (poisons, fault) => {
        const { servers, endpoints } = await facing([poisoned(fault)]);
        const asked = poisons.map((poison, value) => ({
          value: poison ? 'poison' : value,
          answer: endpoints.ask(asking(poison ? 'poison' : value)).catch(() => 'poison'),
        }));
        const honest = asked.filter(({ value }) => value !== 'poison');
        expect(await Promise.all(honest.map(({ answer }) => answer))).toEqual(honest.map(({ value }) => value));
        for (const { value } of honest) expect(timesAsked(servers[0], value)).toBeLessThanOrEqual(2);
      }),
      { numRuns: 15 },
    );
  });
});

describe('a batch that fails', () => {
  const failing: FaultyRpc['fault'] = (call, { isBatch }) => (isBatch ? { type: 'status', status: 500 } : echo(call));

  it('counts once against its endpoint, which pauses for it once', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { servers, askAll, said } = await facing([failing, echo]);
    const [first, second = first] = servers;
    const values = Array.from({ length: 20 }, (_, value) => value);
    expect(await askAll(values)).toEqual(values);
    expect([shapes(first), shapes(second)]).toEqual([[20], alone(20)]);
    expect(said).toEqual(['a chain endpoint is failing']);
    vi.advanceTimersByTime(499);
    await askAll(['at rest']);
    expect(shapes(first)).toEqual([20]);
    vi.advanceTimersByTime(2);
    await askAll(['rested']);
    expect(shapes(first)).toEqual([20, 'alone']);
    expect(said).toEqual(['a chain endpoint is failing', 'a chain endpoint has recovered']);
  });

  it('counts each time that one fails', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const broken: FaultyRpc['fault'] = () => ({ type: 'status', status: 500 });
    const { servers, askAll } = await facing([broken, echo]);
    const [first] = servers;
    await askAll([1, 2]);
    vi.advanceTimersByTime(501);
    await askAll([3]);
    vi.advanceTimersByTime(999);
    await askAll([4]);
    expect(shapes(first)).toEqual([2, 'alone']);
    vi.advanceTimersByTime(2);
    await askAll([5]);
    expect(shapes(first)).toEqual([2, 'alone', 'alone']);
  });

  it('is not a failure of an endpoint that answers its calls one by one', async () => {
    const refusing: FaultyRpc['fault'] = (call, { isBatch }) =>
      isBatch ? { type: 'status', status: 400 } : echo(call);
    const { servers, askAll, said } = await facing([refusing, echo]);
    expect(await askAll([1, 2, 3])).toEqual([1, 2, 3]);
    expect(await askAll([4])).toEqual([4]);
    expect(servers.map(shapes)).toEqual([[3, ...alone(4)], []]);
    expect(said).toEqual([]);
  });

  it('is also retried at the same endpoint if all answers are needed', async () => {
    const { servers, endpoints } = await facing([failing, echo]);
    const answers = await Promise.all([1, 2].map((value) => endpoints.askAll(asking(value))));
    expect(answers).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(servers.map(shapes)).toEqual([[2, ...alone(2)], [2]]);
  });
});

describe('calls that are rejected for being in a batch', () => {
  it('are answered on retry, since they then go alone', async () => {
    // They come back at the same moment.
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const particular: FaultyRpc['fault'] = (call, { isBatch }) =>
      isBatch ? { type: 'error', code: -32600 } : echo(call);
    const { servers, endpoints, askAll } = await facing([particular]);
    expect(await askAll([1, 2])).toEqual([1, 2]);
    expect(await Promise.all([3, 4].map((value) => endpoints.askAll(asking(value))))).toEqual([[3], [4]]);
    expect(shapes(servers[0])).toEqual([2, ...alone(2), 2, ...alone(2)]);
  });
});

describe('a call that is sent to every endpoint at once', () => {
  it('shares its requests with no other call', async () => {
    const { servers, endpoints } = await facing([poisoned({ type: 'drop' }), echo]);
    const [first, second = first] = servers;
    const asked = [1, 'poison', 2].map((value) => endpoints.askEach(asking(value)));
    expect(await Promise.all(asked)).toEqual([1, 'poison', 2]);
    expect([...shapes(first), ...shapes(second)]).toEqual(alone(6));
  });
});

describe('closing', () => {
  it('ends every call, collected or running, and tries no other endpoint or round', async () => {
    const { servers, endpoints, askAll, said } = await facing([() => HANG, echo]);
    const [first, second = first] = servers;
    const under = askAll([1, 2]).catch((error: unknown) => error);
    await vi.waitFor(() => expect(shapes(first)).toEqual([2]), { timeout: 10_000 });
    const gathered = askAll([3, 4]).catch((error: unknown) => error);
    endpoints.close();
    for (const error of await Promise.all([under, gathered])) expect(error).toBeInstanceOf(ChainUnavailable);
    expect(shapes(first)).toEqual([2]);
    expect(shapes(second)).toEqual([]);
    expect(said).toEqual([]);
  });
});

describe('an observer of calls', () => {
  it('hears of each call with its endpoint, by host and port only, and with what became of it', async () => {
    const failing = keep(await openFaultyRpc(null, () => ({ type: 'status', status: 500 })));
    const answering = keep(await openFaultyRpc(null, echo));
    const heard: string[] = [];
    const [first, second] = [new URL(failing.url), new URL(answering.url)];
    const endpoints = keep(
      new RpcEndpoints({
        urls: [`${first.origin}/?api-key=secret`, second.href],
        timeoutMs: 10_000,
        log: { info: () => undefined, warn: () => undefined },
        called: (endpoint, method, outcome, seconds) => {
          heard.push(`${endpoint} ${method} ${outcome}`);
          expect(seconds).toBeGreaterThan(0);
        },
      }),
    );
    expect(await endpoints.ask(asking(1))).toBe(1);
    expect(heard).toEqual([`${first.host} echo failed`, `${second.host} echo ok`]);
  });

  it('distinguishes URLs of one host by their place in the list', async () => {
    const server = keep(await openFaultyRpc(null, echo));
    const heard: string[] = [];
    const urls = [`${server.url}?key=one`, `${server.url}?key=two`];
    const endpoints = keep(
      new RpcEndpoints({
        urls,
        timeoutMs: 10_000,
        log: { info: () => undefined, warn: () => undefined },
        called: (endpoint) => heard.push(endpoint),
      }),
    );
    await endpoints.askAll(asking(1));
    const { host } = new URL(server.url);
    expect(heard.sort()).toEqual([`${host}#1`, `${host}#2`]);
  });
});
