import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EndpointFailure } from '../../src/solana/rpc-connections.ts';
import { type CallOptions, RpcEndpoint, RpcRefusal } from '../../src/solana/rpc-endpoint.ts';
import { type Fault, type FaultyRpc, openFaultyRpc, type RpcCall } from './faulty-rpc.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const each of open.splice(0).reverse()) await each.close();
});

const keep = <T extends { close(): unknown }>(closable: T): T => {
  open.push(closable);
  return closable;
};

/** Returns the first parameter; rejects negative numbers, each with itself as the code. */
const echo = ({ params: [value] }: RpcCall): Fault =>
  typeof value === 'number' && value < 0 ? { type: 'error', code: value } : { type: 'result', result: value };

/** An endpoint that answers, and a client of it. */
async function facing(fault: FaultyRpc['fault'] = echo) {
  const server = keep(await openFaultyRpc(null, fault));
  const endpoint = keep(new RpcEndpoint(server.url));
  const ask = (value: unknown, options: Partial<CallOptions> = {}) =>
    endpoint.call('echo', [value], { timeoutMs: 5_000, ...options });
  /** All in one turn of the event loop. */
  const askAll = (values: readonly unknown[], options: Partial<CallOptions> = {}) =>
    Promise.all(values.map((value) => ask(value, options)));
  return { server, endpoint, ask, askAll };
}

/** How many calls each request carried, as a batch or alone. */
const shapes = ({ requests }: FaultyRpc) => requests.map(({ isBatch, calls }) => (isBatch ? calls.length : 'alone'));
const alone = (count: number) => Array(count).fill('alone');
const values = (count: number) => Array.from({ length: count }, (_, index) => index);

/** For what lasts long by the endpoint's clock. */
const stopClock = () => vi.useFakeTimers({ toFake: ['performance'] });
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000);

describe('calls of one turn of the event loop', () => {
  it('share a request, and each has its own answer or its own error', async () => {
    const { server, ask } = await facing();
    const [one, refused, two] = await Promise.allSettled([ask('one'), ask(-7), ask({ two: 2 })]);
    expect([one, two]).toMatchObject([{ value: 'one' }, { value: { two: 2 } }]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { name: 'RpcRefusal', code: -7, message: 'as told' } });
    expect(shapes(server)).toEqual([3]);
  });

  it('have them for any answers, in any order', async () => {
    const { server, ask } = await facing();
    const ranks = new Map<unknown, number>();
    server.fault = ({ id, params: [asked] }) => {
      const { answer, refused, rank } = asked as { answer: unknown; refused: boolean; rank: number };
      ranks.set(id, rank);
      return refused ? { type: 'error', code: -32002, data: answer } : { type: 'result', result: answer };
    };
    const rankOf = (answer: unknown) => ranks.get((answer as RpcCall).id) ?? 0;
    server.arrange = (answers) => [...answers].sort((a, b) => rankOf(a) - rankOf(b));
    const call = fc.record({ answer: fc.jsonValue(), refused: fc.boolean(), rank: fc.nat(50) });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 50 }), async (calls) => {
        const outcomes = await Promise.all(
          calls.map((each) =>
            ask(each).then(
              (answer) => ({ answer, refused: false }),
              (refusal: RpcRefusal) => ({ answer: refusal.data, refused: true }),
            ),
          ),
        );
        const given = calls.map(({ answer, refused }) => ({ answer, refused }));
        expect(JSON.stringify(outcomes)).toBe(JSON.stringify(given));
      }),
    );
    expect(server.calls).toHaveLength(ranks.size);
  });

  it('are not an array if there is only one', async () => {
    const { server, ask } = await facing();
    expect(await ask('only')).toBe('only');
    expect(shapes(server)).toEqual(['alone']);
  });

  it('share nothing with those of another lane, whose answers may take longer', async () => {
    const { server, ask } = await facing();
    const lane = (each: number) => (each % 2 ? { lane: 'settlement' as const } : {});
    expect(await Promise.all(values(10).map((each) => ask(each, lane(each))))).toEqual(values(10));
    expect(server.requests.map(({ calls }) => calls.map(({ params: [value] }) => value))).toEqual(
      expect.arrayContaining([
        [0, 2, 4, 6, 8],
        [1, 3, 5, 7, 9],
      ]),
    );
    expect(shapes(server)).toEqual([5, 5]);
  });

  it('share nothing with the next turn, nor with one that must go alone', async () => {
    const { server, ask } = await facing();
    const first = [ask(1), ask(2), ask('secluded', { alone: true })];
    await new Promise(setImmediate);
    expect(await Promise.all([...first, ask(3), ask(4)])).toEqual([1, 2, 'secluded', 3, 4]);
    expect(shapes(server).sort()).toEqual([2, 2, 'alone']);
  });

  it('wait together only with the same timeout', async () => {
    const { server, ask } = await facing();
    const asked = [1, 2, 3, 4, 5].map((value) => ask(value, { timeoutMs: value % 2 ? 4_000 : 5_000 }));
    expect(await Promise.all(asked)).toEqual([1, 2, 3, 4, 5]);
    const together = server.requests.map(({ calls }) => calls.map(({ params: [value] }) => value));
    expect(together.sort()).toEqual([
      [1, 3, 5],
      [2, 4],
    ]);
  });

  it('are at most 20 in a request', async () => {
    const { server, askAll } = await facing();
    expect(await askAll(values(20))).toEqual(values(20));
    expect(await askAll(values(41))).toEqual(values(41));
    expect(shapes(server)[0]).toBe(20);
    expect(shapes(server).slice(1).sort()).toEqual([20, 20, 'alone']);
  });

  it('are at most 40,000 bytes in a request, counted as bytes', async () => {
    const bare = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'echo', params: [''] }).length;
    // Brackets and a comma. The letter has two bytes.
    const room = 40_000 - 2 * bare - '[,]'.length;
    for (const [more, together] of [
      ['', [2]],
      ['x', ['alone', 'alone']],
    ] as const) {
      const { server, askAll } = await facing();
      const texts = ['é'.repeat(10_000), `${'x'.repeat(room - 20_000)}${more}`];
      expect(await askAll(texts)).toEqual(texts);
      expect(shapes(server)).toEqual(together);
      if (!more) expect(server.requests[0]?.bytes).toBe(40_000);
    }
  });

  it('stay within both bounds for any calls, and a call that is too large for them goes alone', async () => {
    const { server, askAll } = await facing();
    const text = fc.tuple(fc.constantFrom('x', 'é', '"', '\u{1f4b8}'), fc.nat({ max: 12_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 45 }), async (sizes) => {
        const texts = sizes.map(([letter, length]) => letter.repeat(length));
        expect(await askAll(texts)).toEqual(texts);
      }),
      { numRuns: 30 },
    );
    const batches = server.requests.filter(({ isBatch }) => isBatch);
    expect(batches.length).toBeGreaterThan(0);
    for (const { calls, bytes } of batches) {
      expect(calls.length).toBeLessThanOrEqual(20);
      expect(bytes).toBeLessThanOrEqual(40_000);
    }
    const large = 'x'.repeat(60_000);
    expect(await askAll([1, large, 2])).toEqual([1, large, 2]);
    expect(shapes(server).slice(-3)).toEqual(alone(3));
  });
});

describe('an endpoint that does not support batches', () => {
  const error = { code: -32600, message: 'no batches' };
  const says = (body: unknown): Fault => ({ type: 'body', body: JSON.stringify(body) });
  const waysToSay: Readonly<Record<string, (call: RpcCall) => Fault>> = {
    'HTTP 400': () => ({ type: 'status', status: 400 }),
    'HTTP 403': () => ({ type: 'status', status: 403 }),
    'HTTP 404': () => ({ type: 'status', status: 404 }),
    'HTTP 413': () => ({ type: 'status', status: 413 }),
    'an error': () => says({ jsonrpc: '2.0', id: null, error }),
    'an error without an id': () => says({ jsonrpc: '2.0', error }),
    'an error to the first call': ({ id }) => says({ jsonrpc: '2.0', id, error }),
    'an error in an array': () => says([{ jsonrpc: '2.0', id: null, error }]),
    'the result of the first call': ({ id, params: [result] }) => says({ jsonrpc: '2.0', id, result }),
    'a result without an id': () => says({ jsonrpc: '2.0', id: null, result: 0 }),
    'an empty array': () => says([]),
    null: () => says(null),
    'a text': () => says('no'),
  };

  it.each(Object.entries(waysToSay))('still answers, and is then called one by one: %s', async (_, way) => {
    const { server, askAll } = await facing((call, { isBatch }) => (isBatch ? way(call) : echo(call)));
    expect(await askAll([1, 2, 3])).toEqual([1, 2, 3]);
    expect(shapes(server)).toEqual([3, ...alone(3)]);
    expect(await askAll([4, 5])).toEqual([4, 5]);
    expect(shapes(server)).toEqual([3, ...alone(5)]);
  });

  const refusing: FaultyRpc['fault'] = (call, { isBatch }) => (isBatch ? { type: 'status', status: 400 } : echo(call));

  it('can reject a single call', async () => {
    const { ask } = await facing(refusing);
    const outcomes = await Promise.allSettled([ask(1), ask(-5)]);
    expect(outcomes).toMatchObject([{ value: 1 }, { status: 'rejected', reason: { code: -5 } }]);
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(RpcRefusal);
  });

  it('gets the remaining time for it', async () => {
    stopClock();
    const { askAll } = await facing((_call, { isBatch }) => {
      if (!isBatch) return { type: 'hang' };
      // For each of the two calls.
      pass(0.35);
      return { type: 'status', status: 400 };
    });
    await expect(askAll([1, 2], { timeoutMs: 800 })).rejects.toThrow(/no answer within 10[01] ms/);
  });

  it('gets a batch again after half a minute, and after twice as long each time, up to an hour', async () => {
    stopClock();
    const { server, askAll } = await facing(refusing);
    for (const seconds of [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]) {
      await askAll([1, 2]);
      pass(seconds - 0.001);
      await askAll([3, 4]);
      expect(shapes(server), String(seconds)).toEqual([2, ...alone(4)]);
      server.requests.length = 0;
      pass(0.001);
    }
    server.fault = echo;
    await askAll([1, 2]);
    server.fault = refusing;
    await askAll([1, 2]);
    pass(30);
    await askAll([1, 2]);
    expect(shapes(server), 'starts over once one was answered').toEqual([2, 2, ...alone(2), 2, ...alone(2)]);
  });

  it('is logged once for all batches that were running together', async () => {
    stopClock();
    const { server, askAll } = await facing(refusing);
    expect(await askAll(values(100))).toEqual(values(100));
    server.requests.length = 0;
    pass(30);
    await askAll([1, 2]);
    expect(shapes(server)[0]).toBe(2);
  });
});

describe('a batch whose answers do not match its calls', () => {
  const idOf = (answer: unknown) => (answer as RpcCall).id;

  it.each<[string, (answers: readonly unknown[]) => unknown]>([
    ['is missing', ([, ...rest]) => rest],
    ['comes twice', (answers) => [...answers, { ...(answers[0] as object), result: 'another' }]],
    ['has a text for its id', ([first, ...rest]) => [{ ...(first as object), id: String(idOf(first)) }, ...rest]],
    ['has no id', ([first, ...rest]) => [{ ...(first as object), id: undefined }, ...rest]],
    ['is not an object', ([, ...rest]) => ['first', ...rest]],
  ])('if one %s, the others succeed and that one is retried alone', async (_, arrange) => {
    const { server, askAll } = await facing();
    server.arrange = arrange;
    expect(await askAll(['first', 2, 3])).toEqual(['first', 2, 3]);
    expect(shapes(server)).toEqual([3, 'alone']);
    expect(server.requests[1]?.calls[0]?.params).toEqual(['first']);
    await askAll([4, 5]);
    expect(shapes(server), 'and the next are, too').toEqual([3, ...alone(3)]);
  });

  it('ignores answers without a call', async () => {
    const { server, askAll } = await facing();
    const foreign = { jsonrpc: '2.0', id: 10 ** 6, result: 'foreign' };
    server.arrange = (answers) => [foreign, null, 7, [], ...answers, foreign, { error: { code: 1 } }];
    for (let i = 0; i < 2; i++) expect(await askAll([1, 2])).toEqual([1, 2]);
    expect(shapes(server)).toEqual([2, 2]);
  });

  it('fails for the one that has no answer', async () => {
    const { server, ask } = await facing();
    server.arrange = ([first, second]) => [{ jsonrpc: '2.0', id: idOf(first) }, second];
    const outcomes = await Promise.allSettled([ask(1), ask(2)]);
    expect(outcomes).toMatchObject([{ status: 'rejected' }, { value: 2 }]);
    expect((outcomes[0] as PromiseRejectedResult).reason).toBeInstanceOf(EndpointFailure);
  });
});

describe('a batch without answers', () => {
  it.each<[Fault, string]>([
    [{ type: 'status', status: 500 }, 'HTTP status 500'],
    [{ type: 'status', status: 429 }, 'HTTP status 429'],
    [{ type: 'drop' }, 'ECONNRESET'],
    [{ type: 'hang' }, 'no answer within 100 ms'],
    [{ type: 'body', body: '<html>' }, 'the answer is not JSON'],
    [{ type: 'body', body: '[{"jsonrpc":"2.0","id":1,"result":' }, 'the answer is not JSON'],
  ])('fails for all with one error, and the next go alone: %j', async (fault, message) => {
    const { server, ask, askAll } = await facing(() => fault);
    const outcomes = await Promise.allSettled([1, 2, 3].map((value) => ask(value, { timeoutMs: 100 })));
    const [reason, ...others] = outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason as unknown);
    expect(reason).toBeInstanceOf(EndpointFailure);
    expect((reason as EndpointFailure).message).toBe(message);
    for (const other of others) expect(other).toBe(reason);
    expect(shapes(server)).toEqual([3]);
    server.fault = echo;
    expect(await askAll([4, 5])).toEqual([4, 5]);
    expect(shapes(server)).toEqual([3, ...alone(2)]);
  });
});

describe('closing', () => {
  const outcomeOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

  it('ends what is still collected: it is never sent', async () => {
    const { server, endpoint, ask } = await facing();
    const asked = [ask(1), ask(2), ask(3, { timeoutMs: 1_000 })].map(outcomeOf);
    endpoint.close();
    for (const error of await Promise.all(asked)) expect(error).toMatchObject({ mayHaveHappened: false });
    expect(await outcomeOf(ask(4))).toMatchObject({ mayHaveHappened: false });
    expect(await outcomeOf(ask(5, { alone: true }))).toMatchObject({ mayHaveHappened: false });
    expect(server.requests).toEqual([]);
  });

  it('ends what is running at once, and never sends it again', async () => {
    const { server, endpoint, ask } = await facing();
    // Over a reused connection, which may look as if the other side had just closed it.
    await ask('first');
    const arrived = new Promise<void>((resolve) => {
      server.fault = () => {
        resolve();
        return { type: 'hang' };
      };
    });
    const asked = [ask(1), ask(2)].map(outcomeOf);
    await arrived;
    endpoint.close();
    for (const error of await Promise.all(asked)) {
      expect(error).toBeInstanceOf(EndpointFailure);
      expect(error).toMatchObject({ mayHaveHappened: true, message: 'the connection to the chain is closed' });
    }
    server.fault = echo;
    const later = keep(new RpcEndpoint(server.url));
    await later.call('echo', ['later'], { timeoutMs: 5_000 });
    expect(shapes(server)).toEqual(['alone', 2, 'alone']);
  });
});
