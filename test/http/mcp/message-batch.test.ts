/** Batches of JSON-RPC messages, which revision 2025-03-26 requires a server to accept, and no other revision has. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, paymentFor, post } from './client.ts';
import { CASE, openWorld, PRICE, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const message = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params });
const toolCall = (id: unknown, name: string, args: object) => message(id, 'tools/call', { name, arguments: args });
const send = (messages: unknown, revision?: string) =>
  post(world.mcp, messages, revision === undefined ? {} : { 'mcp-protocol-version': revision });

describe('a batch', () => {
  it('is answered message by message, except for notifications', async () => {
    for (const revision of [undefined, '2025-03-26']) {
      const { status, json, headers } = await send(
        [
          message(1, 'ping'),
          { jsonrpc: '2.0', method: 'notifications/progress' },
          toolCall('two', 'service_status', {}),
          message(3, 'nope'),
          { jsonrpc: '2.0', id: 4 },
          'nothing',
          message(6, 'initialize', {}),
        ],
        revision,
      );
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      // biome-ignore lint/suspicious/noExplicitAny: answers as they come
      const told = json.map(({ id, result, error }: any) => [id, error?.code ?? Object.keys(result).length > 0]);
      expect(told).toEqual([
        [1, false],
        ['two', true],
        [3, -32601],
        [4, -32600],
        [null, -32600],
        [6, -32600],
      ]);
    }
  });
  it('of notifications alone has no answer', async () => {
    const { status, text } = await send([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
    expect([status, text]).toEqual([202, '']);
  });
  it.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
    'is rejected in revision %s, which has no batches',
    async (revision) => {
      const { status, json } = await send([message(1, 'ping')], revision);
      expect([status, json.error.code]).toEqual([400, -32600]);
    },
  );
  it('gives each call its own id', async () => {
    const { json } = await send([1, 2, 3].map((id) => toolCall(id, 'service_pricing', {})));
    // biome-ignore lint/suspicious/noExplicitAny: answers as they come
    const ids = json.map(({ result }: any) => result.structuredContent.meta.request_id);
    expect(new Set(ids).size).toBe(3);
  });
  it('charges each paid call separately, and one payment buys once', async () => {
    const wallet = await world.wallet();
    const asked = await callTool(world.mcp, 'service_case_query', CASE);
    const other = await callTool(world.mcp, 'service_case_query', CASE);
    const [first, second] = [paymentFor(asked.data, wallet), paymentFor(other.data, wallet)];
    const before = await world.balance(wallet);
    const { json } = await send(
      [first, first, second].map((payment_tx, id) => toolCall(id, 'service_case_query', { ...CASE, payment_tx })),
    );
    // biome-ignore lint/suspicious/noExplicitAny: answers as they come
    const told = json.map(({ result }: any) => result.structuredContent.error?.code ?? 'answered');
    expect(told).toEqual(['answered', 'payment_already_used', 'answered']);
    expect(before - (await world.balance(wallet))).toBe(2n * PRICE);
  });
});
