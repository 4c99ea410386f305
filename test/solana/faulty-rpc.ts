/** A proxy between the service and a chain that follows the test: it waits, drops, refuses, or lies. For tests only. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Calls that arrived together. */
export interface RpcRequest {
  readonly calls: readonly RpcCall[];
  /** An array of calls, even with only one in it. */
  readonly isBatch: boolean;
  readonly bytes: number;
}

/** What happens to one call: the others of its batch are answered as usual. */
type CallFault =
  | { readonly type: 'pass'; readonly delayMs?: number; readonly after?: Promise<unknown> }
  /** The chain gets another call in its place. */
  | { readonly type: 'replace'; readonly params: readonly unknown[] }
  /** The chain gets the call, but the caller gets a changed result. */
  | { readonly type: 'alter'; readonly change: (result: unknown) => unknown }
  /** The answer is this, regardless of the chain. */
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'error'; readonly code: number; readonly data?: unknown };

/** What happens to the whole request that contains the call, and so to every call of its batch. */
type RequestFault =
  /** The chain gets the calls; the caller gets no answer. */
  | { readonly type: 'lose-answer' }
  /** No answer comes, and the connection stays open. */
  | { readonly type: 'hang' }
  /** The connection is cut before the chain gets the call. */
  | { readonly type: 'drop' }
  | { readonly type: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly type: 'body'; readonly body: string };

export type Fault = CallFault | RequestFault;

export const pass: Fault = { type: 'pass' };

export interface FaultyRpc {
  readonly url: string;
  /** Every call that arrived, in order. */
  readonly calls: RpcCall[];
  /** Every request that arrived, in order: batches make fewer of these. */
  readonly requests: RpcRequest[];
  /** Decides about each call from now on. If several faults affect a whole batch, the first one wins. */
  fault: (call: RpcCall, request: RpcRequest) => Fault;
  /** Changes the answer to a batch, with its answers in the order of the calls. */
  arrange: (answers: readonly unknown[]) => unknown;
  close(): Promise<void>;
}

/** @param upstream the chain behind it; without one, calls for the chain get HTTP status 502 */
export async function openFaultyRpc(
  upstream: string | null,
  fault: FaultyRpc['fault'] = () => pass,
): Promise<FaultyRpc> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const arrived = readRequest(Buffer.concat(parts));
      proxy.requests.push(arrived);
      proxy.calls.push(...arrived.calls);
      carryOut(arrived, response).catch(() => response.destroy());
    });
  });

  async function carryOut(arrived: RpcRequest, response: ServerResponse): Promise<void> {
    const faults = arrived.calls.map((call) => proxy.fault(call, arrived));
    const striking = faults.find(isRequestFault);
    if (striking) return strike(striking, arrived, response);
    const planned = arrived.calls.map((call, index) => ({ call, what: faults[index] as CallFault }));
    await pause(Math.max(...planned.map(({ what }) => (what.type === 'pass' ? (what.delayMs ?? 0) : 0))));
    await Promise.all(planned.map(({ what }) => (what.type === 'pass' ? what.after : undefined)));
    const asked = planned.flatMap(({ call, what }) => callFor(call, what) ?? []);
    if (asked.length && upstream === null) return answer(response, '', 502);
    const given = asked.length ? await ask(asked) : [];
    const answers = planned.map(({ call, what }) => answerTo(call, what, given));
    answer(response, JSON.stringify(arrived.isBatch ? proxy.arrange(answers) : answers[0]));
  }

  async function strike(what: RequestFault, { calls }: RpcRequest, response: ServerResponse): Promise<void> {
    switch (what.type) {
      case 'lose-answer':
        await ask(calls);
        response.destroy();
        return;
      case 'hang':
        return;
      case 'drop':
        response.destroy();
        return;
      case 'status':
        return answer(response, '', what.status, what.headers);
      case 'body':
        answer(response, what.body);
    }
  }

  /** Sends all calls to the chain at once, in order. */
  async function ask(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    if (upstream === null) return [];
    const body = JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call })));
    const response = await fetch(upstream, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await response.json()) as readonly RpcAnswer[];
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultyRpc = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    requests: [],
    fault,
    arrange: (answers) => answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

interface RpcAnswer {
  readonly id: unknown;
  readonly result?: unknown;
}

function readRequest(body: Buffer): RpcRequest {
  const parsed = JSON.parse(body.toString()) as RpcCall | readonly RpcCall[];
  const isBatch = Array.isArray(parsed);
  return { calls: isBatch ? parsed : [parsed as RpcCall], isBatch, bytes: body.length };
}

const REQUEST_FAULTS: ReadonlySet<Fault['type']> = new Set<RequestFault['type']>([
  ...(['lose-answer', 'hang', 'drop', 'status', 'body'] as const),
]);
const isRequestFault = (what: Fault): what is RequestFault => REQUEST_FAULTS.has(what.type);

/** The call that the chain gets for this one; null for none. */
function callFor(call: RpcCall, what: CallFault): RpcCall | null {
  if (what.type === 'result' || what.type === 'error') return null;
  return what.type === 'replace' ? { ...call, params: what.params } : call;
}

function answerTo({ id }: RpcCall, what: CallFault, given: readonly RpcAnswer[]): unknown {
  const own = given.find((one) => one.id === id);
  switch (what.type) {
    case 'pass':
    case 'replace':
      return own;
    case 'alter':
      return own && 'result' in own ? { ...own, result: what.change(own.result) } : own;
    case 'result':
      return { jsonrpc: '2.0', id, result: what.result };
    case 'error': {
      const error = { code: what.code, message: 'as told', ...(what.data === undefined ? {} : { data: what.data }) };
      return { jsonrpc: '2.0', id, error };
    }
  }
}

function answer(response: ServerResponse, text: string, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

const pause = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));
