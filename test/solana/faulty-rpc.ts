/** A proxy between the service and a chain that does as it is told: waits, drops, refuses, or lies. For tests alone. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What becomes of one call. */
export type Fault =
  | { readonly type: 'pass'; readonly delayMs?: number }
  /** The chain gets another call in its place. */
  | { readonly type: 'replace'; readonly params: readonly unknown[] }
  /** The chain gets the call, and the caller gets something else than its result. */
  | { readonly type: 'alter'; readonly change: (result: unknown) => unknown }
  /** The chain gets the call; the caller gets no answer. */
  | { readonly type: 'lose-answer' }
  /** Nobody answers, and the connection stays open. */
  | { readonly type: 'hang' }
  /** The connection is cut before the chain hears of the call. */
  | { readonly type: 'drop' }
  | { readonly type: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The answer is this, whatever the chain says. */
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'error'; readonly code: number; readonly data?: unknown }
  | { readonly type: 'body'; readonly body: string };

export const pass: Fault = { type: 'pass' };

export interface FaultyRpc {
  readonly url: string;
  /** Every call that arrived, in order. */
  readonly calls: RpcCall[];
  /** Decides about each call from now on. */
  fault: (call: RpcCall) => Fault;
  close(): Promise<void>;
}

/** @param upstream the chain behind it; without one, `pass` is answered with HTTP status 502 */
export async function openFaultyRpc(
  upstream: string | null,
  fault: FaultyRpc['fault'] = () => pass,
): Promise<FaultyRpc> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const call = JSON.parse(body) as RpcCall;
      proxy.calls.push(call);
      carryOut(proxy.fault(call), call, body, response).catch(() => response.destroy());
    });
  });
  const carryOut = async (what: Fault, call: RpcCall, body: string, response: ServerResponse): Promise<void> => {
    const answer = (text: string, status = 200, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    const ask = async (asked = body) =>
      upstream === null
        ? null
        : (
            await fetch(upstream, { method: 'POST', headers: { 'content-type': 'application/json' }, body: asked })
          ).text();
    switch (what.type) {
      case 'pass': {
        await new Promise((resolve) => setTimeout(resolve, what.delayMs ?? 0));
        const text = await ask();
        answer(text ?? '', text === null ? 502 : 200);
        return;
      }
      case 'replace':
        answer((await ask(JSON.stringify({ jsonrpc: '2.0', ...call, params: what.params }))) ?? '');
        return;
      case 'alter': {
        const given = JSON.parse((await ask()) ?? '{}') as { readonly result?: unknown };
        answer(JSON.stringify('result' in given ? { ...given, result: what.change(given.result) } : given));
        return;
      }
      case 'lose-answer':
        await ask();
        response.destroy();
        return;
      case 'hang':
        return;
      case 'drop':
        response.destroy();
        return;
      case 'status':
        answer('', what.status, what.headers);
        return;
      case 'result':
        answer(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: what.result }));
        return;
      case 'error': {
        const error = { code: what.code, message: 'as told', ...(what.data === undefined ? {} : { data: what.data }) };
        answer(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
        return;
      }
      case 'body':
        answer(what.body);
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyRpc = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    fault,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
