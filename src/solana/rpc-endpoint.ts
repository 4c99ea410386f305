/**
 * One JSON-RPC endpoint. Calls of one turn of the event loop go out together as a JSON-RPC 2.0 batch: a busy service
 * makes many calls at once, and a separate request costs both sides more than most calls do.
 */
import { EndpointFailure, HttpRefusal, RpcConnections } from './rpc-connections.ts';

/** The endpoint answered with a JSON-RPC error. */
export class RpcRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
    this.name = 'RpcRefusal';
  }
}

export interface CallOptions {
  readonly timeoutMs: number;
  /** Does not share its request with other calls. */
  readonly alone?: boolean;
  /**
   * Shares its request only with calls of the same lane. A batch is answered when its slowest call is, and a search of
   * an endpoint's history can take a hundred times as long as an answer from memory.
   */
  readonly lane?: Lane | undefined;
}

export type Lane = 'settlement';

/** Solana's validators accept bodies of 50 KiB, and the strictest of the known providers 20 calls at once. */
const MOST_BATCH_BYTES = 40_000;
const MOST_BATCHED_CALLS = 20;
/**
 * How long each call goes alone after a failed batch, doubling up to the second constant. Requests may fail because the
 * endpoint does not support batches, or because of a call that a caller made to that end. Either way, only an
 * occasional batch is spoilt, not all of them.
 */
const FIRST_SINGLES_MS = 30_000;
const LONGEST_SINGLES_MS = 3_600_000;

interface Call {
  readonly id: number;
  readonly text: string;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export class RpcEndpoint {
  readonly label: string;
  readonly #connections: RpcConnections;
  /** Calls of this turn of the event loop, grouped by what may share a request. */
  readonly #gathering = new Map<string, { readonly timeoutMs: number; readonly calls: Call[] }>();
  #lastId = 0;
  #spoiltBatches = 0;
  #singlesUntilMs = Number.NEGATIVE_INFINITY;

  constructor(url: string) {
    this.#connections = new RpcConnections(url);
    this.label = this.#connections.label;
  }

  /**
   * Calls a method and returns its raw result.
   *
   * @throws EndpointFailure without an answer within `timeoutMs`; RpcRefusal if the answer is an error
   */
  call(method: string, params: readonly unknown[], { timeoutMs, alone = false, lane }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const call = { id, text: JSON.stringify({ jsonrpc: '2.0', id, method, params }), resolve, reject };
      if (alone || performance.now() < this.#singlesUntilMs) this.#single(call, timeoutMs);
      else this.#gather(call, timeoutMs, lane);
    });
  }

  /** Calls that have not been sent yet are never sent. */
  close(): void {
    this.#connections.close();
  }

  #gather(call: Call, timeoutMs: number, lane: Lane | undefined): void {
    if (this.#gathering.size === 0) setImmediate(() => this.#sendGathered());
    const key = `${lane} ${timeoutMs}`;
    const gathered = this.#gathering.get(key);
    if (gathered) gathered.calls.push(call);
    else this.#gathering.set(key, { timeoutMs, calls: [call] });
  }

  #sendGathered(): void {
    const gathered = [...this.#gathering.values()];
    this.#gathering.clear();
    for (const { timeoutMs, calls } of gathered) {
      for (const batch of batchesOf(calls)) {
        const [only] = batch;
        if (only && batch.length === 1) this.#single(only, timeoutMs);
        else this.#batch(batch, timeoutMs);
      }
    }
  }

  async #single(call: Call, timeoutMs: number): Promise<void> {
    try {
      call.resolve(resultIn(parse(await this.#connections.post(call.text, timeoutMs)), call.id));
    } catch (error) {
      call.reject(error);
    }
  }

  async #batch(calls: readonly Call[], timeoutMs: number): Promise<void> {
    const began = performance.now();
    let answers: ReadonlyMap<unknown, unknown> = new Map();
    try {
      answers = answersIn(
        parse(await this.#connections.post(`[${calls.map(({ text }) => text).join(',')}]`, timeoutMs)),
      );
    } catch (error) {
      if (!isRefusedBatch(error)) {
        this.#spoilt();
        for (const { reject } of calls) reject(error);
        return;
      }
    }
    const unanswered = calls.filter(({ id }) => !answers.has(id));
    if (unanswered.length === 0) this.#spoiltBatches = 0;
    else this.#spoilt();
    for (const { id, resolve, reject } of calls) {
      if (!answers.has(id)) continue;
      try {
        resolve(resultIn(answers.get(id), id));
      } catch (error) {
        reject(error);
      }
    }
    // The batch itself may have been rejected. Every call that is batched may safely be made twice.
    const leftMs = Math.max(1, timeoutMs - (performance.now() - began));
    for (const call of unanswered) this.#single(call, leftMs);
  }

  #spoilt(): void {
    const now = performance.now();
    // No batch starts during that time. This one was already running when the first batch failed, and fails with it.
    if (now < this.#singlesUntilMs) return;
    const singlesMs = Math.min(LONGEST_SINGLES_MS, FIRST_SINGLES_MS * 2 ** Math.min(this.#spoiltBatches, 10));
    this.#spoiltBatches++;
    this.#singlesUntilMs = now + singlesMs;
  }
}

/** Splits calls into batches that every endpoint accepts, in order. */
function batchesOf(calls: readonly Call[]): readonly (readonly Call[])[] {
  const batches: Call[][] = [];
  let bytes = 0;
  for (const call of calls) {
    const last = batches.at(-1);
    const more = Buffer.byteLength(call.text) + 1;
    bytes += more;
    if (last && last.length < MOST_BATCHED_CALLS && bytes <= MOST_BATCH_BYTES) last.push(call);
    else {
      batches.push([call]);
      // There are two brackets, and one comma fewer than calls.
      bytes = more + 1;
    }
  }
  return batches;
}

/** Whether the endpoint rejects this request regardless of its calls: it may answer a smaller one. */
const isRefusedBatch = (error: unknown): boolean =>
  error instanceof HttpRefusal && error.status < 500 && error.status !== 429;

/**
 * The answers of a batch, by the calls that they belong to. None for an endpoint that does not answer batches. If one
 * call has two answers, both are dropped, since it is unknown which one is right.
 */
function answersIn(answer: unknown): ReadonlyMap<unknown, unknown> {
  const answers = new Map<unknown, unknown>();
  const twice = new Set<unknown>();
  for (const one of Array.isArray(answer) ? (answer as readonly unknown[]) : []) {
    const id = (one as { id?: unknown } | null)?.id;
    if (answers.has(id)) twice.add(id);
    answers.set(id, one);
  }
  for (const id of twice) answers.delete(id);
  return answers;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EndpointFailure('the answer is not JSON', true);
  }
}

function resultIn(answer: unknown, id: number): unknown {
  if (typeof answer !== 'object' || answer === null) throw new EndpointFailure('the answer is not JSON-RPC', true);
  const { id: answered, result, error } = answer as { id?: unknown; result?: unknown; error?: unknown };
  if (typeof error === 'object' && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    throw new RpcRefusal(Number(code), String(message), data);
  }
  if (answered !== id || result === undefined) throw new EndpointFailure('the answer is not to this call', true);
  return result;
}
