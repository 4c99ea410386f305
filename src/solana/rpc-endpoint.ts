/**
 * One JSON-RPC endpoint. What is asked in one turn of the event loop goes out together, as a batch of JSON-RPC 2.0: a
 * busy service asks much at once, and each request of its own costs both sides more than most calls do.
 */
import { EndpointFailure, HttpRefusal, RpcConnections } from './rpc-connections.ts';

/** The endpoint answered with an error of JSON-RPC. */
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
  /** Shares its request with no other call. */
  readonly alone?: boolean;
  /**
   * Shares its request with calls of the same lane alone: a batch is answered when the slowest of its calls is, and what
   * an endpoint looks up in its history can take a hundred times as long as what it knows.
   */
  readonly lane?: Lane | undefined;
}

export type Lane = 'settlement';

/** Solana's validators take bodies of 50 KiB, and the strictest of the known providers 20 calls at once. */
const MOST_BATCH_BYTES = 40_000;
const MOST_BATCHED_CALLS = 20;
/**
 * How long each call goes alone after a batch has failed, doubling up to the second: whatever makes requests fail, an
 * endpoint that knows no batches or a call that somebody made to that end, spoils one batch in a while and not all.
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
  /** Calls of this turn of the event loop, by what they may share a request with. */
  readonly #gathering = new Map<string, { readonly timeoutMs: number; readonly calls: Call[] }>();
  #lastId = 0;
  #spoiltBatches = 0;
  #singlesUntilMs = Number.NEGATIVE_INFINITY;

  constructor(url: string) {
    this.#connections = new RpcConnections(url);
    this.label = this.#connections.label;
  }

  /**
   * Calls a method and gives its result as it came.
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

  /** What was asked and has not gone out yet never will. */
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
    // It may be the batch that was refused. No call that is gathered is harmed by being made twice.
    const leftMs = Math.max(1, timeoutMs - (performance.now() - began));
    for (const call of unanswered) this.#single(call, leftMs);
  }

  #spoilt(): void {
    const now = performance.now();
    // No batch begins meanwhile: this one was under way with the one that was spoilt first, and fails with it.
    if (now < this.#singlesUntilMs) return;
    const singlesMs = Math.min(LONGEST_SINGLES_MS, FIRST_SINGLES_MS * 2 ** Math.min(this.#spoiltBatches, 10));
    this.#spoiltBatches++;
    this.#singlesUntilMs = now + singlesMs;
  }
}

/** Cuts calls into batches that every endpoint takes, in their order. */
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
      // Of brackets there are two, and of commas one less than calls.
      bytes = more + 1;
    }
  }
  return batches;
}

/** Whether the endpoint will not have this request, whatever the calls in it: asked for less at once, it may answer. */
const isRefusedBatch = (error: unknown): boolean =>
  error instanceof HttpRefusal && error.status < 500 && error.status !== 429;

/**
 * The answers of a batch by the calls that they are to. None for an endpoint that does not answer batches, and of two
 * to one call neither: nobody knows which is meant.
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
