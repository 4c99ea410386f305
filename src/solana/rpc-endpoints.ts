/** Several endpoints as one: the first answer is used, and the other endpoints are the fallback. */
import { inSpan, serverOf } from '../tracing/span.ts';
import { ChainUnavailable } from './chain.ts';
import { EndpointFailure } from './rpc-connections.ts';
import { type CallOptions, type Lane, RpcEndpoint, RpcRefusal } from './rpc-endpoint.ts';
import { type PaceShare, RpcPace } from './rpc-pace.ts';

/** The logger interface that this needs; pino fits. */
export interface EndpointLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** A question to the chain. */
export interface Question<Answer> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Reads a result; throws if it has another shape, which counts as no answer. */
  readonly read: (result: unknown) => Answer;
  /** Reads an error that is an answer; null for any other error. */
  readonly readRefusal?: (refusal: RpcRefusal) => Answer | null;
  /** Whether no other endpoint needs to be asked. An endpoint may lag, and answer *no* where another one knows more. */
  readonly settles?: (answer: Answer) => boolean;
  /** The call has an effect, so an endpoint that stopped answering may have executed it. */
  readonly hasEffect?: boolean;
  /** See `CallOptions`. Calls of a lane use the reserved share of the endpoint's pace. */
  readonly lane?: Lane;
  /** Without a lane, but in the reserved share. */
  readonly reserved?: boolean;
}

/** `error`: the endpoint answered with an error; `failed`: it gave no usable answer. */
export type RpcCallOutcome = 'ok' | 'error' | 'failed';

/** @param endpoint host and port; if several URLs share them, with the URL's place in the list */
export type RpcCalled = (endpoint: string, method: string, outcome: RpcCallOutcome, seconds: number) => void;

export interface EndpointsOptions {
  readonly urls: readonly string[];
  /** For each single call. */
  readonly timeoutMs: number;
  readonly log: EndpointLog;
  /** Calls to one endpoint per second, at least 2; null or omitted: no limit. */
  readonly callsPerSecond?: number | null | undefined;
  /** Called after each call to an endpoint. Never throws. */
  readonly called?: RpcCalled | undefined;
}

interface Member {
  readonly endpoint: RpcEndpoint;
  /** For metrics. */
  readonly label: string;
  /** Null if calls are not limited. */
  readonly pace: RpcPace | null;
  failures: number;
  restsUntilMs: number;
  /** Calls that went out together fail together, with the same error. */
  lastFailure: unknown;
}

/** How often all endpoints are asked before the chain counts as unavailable. */
const ROUNDS = 3;
const FIRST_PAUSE_MS = 100;
/** A failing endpoint is asked last for this long, doubling up to the second constant. */
const FIRST_REST_MS = 500;
/** How long one endpoint may take to answer a question that goes to each of them, milliseconds. */
const ASIDE_TIMEOUT_MS = 2_000;
const LONGEST_REST_MS = 30_000;

export class RpcEndpoints {
  readonly #members: readonly Member[];
  readonly #timeoutMs: number;
  readonly #log: EndpointLog;
  readonly #called: RpcCalled | undefined;
  #closed = false;

  constructor({ urls, timeoutMs, log, callsPerSecond = null, called }: EndpointsOptions) {
    if (urls.length === 0) throw new RangeError('at least one endpoint is needed');
    const endpoints = urls.map((url) => new RpcEndpoint(url));
    const isShared = ({ label }: RpcEndpoint) => endpoints.filter((other) => other.label === label).length > 1;
    this.#members = endpoints.map((endpoint, index) => ({
      endpoint,
      label: isShared(endpoint) ? `${endpoint.label}#${index + 1}` : endpoint.label,
      pace: callsPerSecond === null ? null : new RpcPace(callsPerSecond),
      failures: 0,
      restsUntilMs: 0,
      lastFailure: null,
    }));
    this.#timeoutMs = timeoutMs;
    this.#log = log;
    this.#called = called;
  }

  /** @throws ChainUnavailable if no endpoint answers, or if one may have executed what the others reject */
  async ask<Answer>(question: Question<Answer>): Promise<Answer> {
    const deadlineMs = performance.now() + 2 * this.#timeoutMs;
    let failure: unknown;
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await pause(round);
      const attempt = await this.#askAround(question, deadlineMs, round > 0);
      if ('answer' in attempt) return attempt.answer;
      ({ failure } = attempt);
      if (attempt.final || performance.now() >= deadlineMs) break;
    }
    throw this.#unavailable(question.method, failure);
  }

  /**
   * Asks each endpoint once, until an answer settles the question.
   * @param alone a call that has failed once is sent alone, also after a failure in this round: a neighbour in the
   * batch may have caused it, and calls that failed together would meet again at the next endpoint
   */
  async #askAround<Answer>(
    { settles = () => true, hasEffect = false, ...question }: Question<Answer>,
    deadlineMs: number,
    alone: boolean,
  ): Promise<{ readonly answer: Answer } | { readonly failure: unknown; readonly final: boolean }> {
    let unsettled: { readonly answer: Answer } | null = null;
    let failure: unknown = null;
    let mayHaveHappened = false;
    for (const member of this.#inOrder()) {
      // There is already a usable answer, so a dead endpoint is not worth waiting for.
      if (unsettled && member.restsUntilMs > performance.now()) continue;
      const timeoutMs = Math.min(this.#timeoutMs, deadlineMs - performance.now());
      if (timeoutMs <= 0) break;
      try {
        const answer = await this.#askOne(member, question, { timeoutMs, alone: alone || failure !== null });
        if (settles(answer)) return { answer };
        unsettled ??= { answer };
      } catch (error) {
        failure = error;
        mayHaveHappened ||= mayHaveHappenedDespite(error);
      }
    }
    if (unsettled && !(hasEffect && mayHaveHappened)) return unsettled;
    return { failure, final: unsettled !== null };
  }

  /** The answer of every endpoint, in the order of the URLs. @throws ChainUnavailable unless all of them answer */
  async askAll<Answer>(question: Question<Answer>): Promise<readonly Answer[]> {
    return Promise.all(
      this.#members.map(async (member) => {
        const deadlineMs = performance.now() + 2 * this.#timeoutMs;
        let failure: unknown;
        for (let round = 0; round < ROUNDS; round++) {
          if (round > 0) await pause(round);
          const timeoutMs = Math.min(this.#timeoutMs, deadlineMs - performance.now());
          if (timeoutMs <= 0) break;
          try {
            return await this.#askOne(member, question, { timeoutMs, alone: round > 0 });
          } catch (error) {
            failure = error;
          }
        }
        throw this.#unavailable(question.method, failure);
      }),
    );
  }

  /**
   * The answer of each endpoint, in the order of the URLs; null for one that does not answer, or that rests after a
   * failure. An answer to such a question says nothing about other questions, so it neither ends a rest nor starts one.
   * @throws ChainUnavailable if none of them answers
   */
  async askEvery<Answer>({ method, params, read, lane }: Question<Answer>): Promise<readonly (Answer | null)[]> {
    const options = { timeoutMs: Math.min(this.#timeoutMs, ASIDE_TIMEOUT_MS), alone: true, lane };
    const now = performance.now();
    let failure: unknown = new EndpointFailure('every endpoint rests after a failure', false);
    const answers = await Promise.all(
      this.#members.map(async (member) => {
        const { pace, restsUntilMs } = member;
        if (restsUntilMs > now) return null;
        try {
          if (pace && !(await pace.turn(lane ? 'reserved' : 'intake', options.timeoutMs))) return null;
          return answerOf(await this.#call(member, method, params, options), read);
        } catch (error) {
          failure = error;
          return null;
        }
      }),
    );
    if (answers.some((answer) => answer !== null)) return answers;
    throw this.#unavailable(method, failure);
  }

  /**
   * Asks every endpoint at once, each one time. Returns the first answer that settles the question, or, once all have
   * answered or failed, the first answer in the order of the URLs.
   * @throws ChainUnavailable if none of them answers
   */
  async askEach<Answer>(question: Question<Answer>): Promise<Answer> {
    const { settles = () => true } = question;
    const asked = this.#members.map((member) =>
      this.#askOne(member, question, { timeoutMs: this.#timeoutMs, alone: true }),
    );
    try {
      // A silent endpoint must not delay the result of another one.
      return await Promise.any(
        asked.map(async (one) => {
          const answer = await one;
          return settles(answer) ? answer : Promise.reject(answer);
        }),
      );
    } catch {
      const outcomes = await Promise.allSettled(asked);
      for (const outcome of outcomes) if (outcome.status === 'fulfilled') return outcome.value;
      throw this.#unavailable(question.method, outcomes.find((outcome) => outcome.status === 'rejected')?.reason);
    }
  }

  async #askOne<Answer>(member: Member, question: Question<Answer>, options: CallOptions): Promise<Answer> {
    const { method, params, read, readRefusal, lane } = question;
    if (this.#closed) throw new EndpointFailure('the connection to the chain is closed', false);
    if (member.pace && !(await member.pace.turn(shareOf(question), options.timeoutMs))) {
      // This limit is our own. It says nothing about the endpoint, which must not rest because of it.
      throw new EndpointFailure('no call was free in time within SOLANA_RPC_CALLS_PER_SECOND', false);
    }
    try {
      const answer = answerOf(await this.#call(member, method, params, { ...options, lane }), read);
      this.#recovered(member);
      return answer;
    } catch (error) {
      const refusal = error instanceof RpcRefusal ? readRefusal?.(error) : undefined;
      if (refusal !== undefined && refusal !== null) {
        this.#recovered(member);
        return refusal;
      }
      this.#failed(member, method, error);
      throw error;
    }
  }

  /** @throws EndpointFailure or RpcRefusal */
  async #call(
    { endpoint, label }: Member,
    method: string,
    params: readonly unknown[],
    options: CallOptions,
  ): Promise<unknown> {
    const began = performance.now();
    const ended = (outcome: RpcCallOutcome): void =>
      this.#called?.(label, method, outcome, (performance.now() - began) / 1000);
    try {
      const result = await callInSpan(endpoint, method, params, options);
      ended('ok');
      return result;
    } catch (error) {
      ended(error instanceof RpcRefusal ? 'error' : 'failed');
      throw error;
    }
  }

  #inOrder(): readonly Member[] {
    const now = performance.now();
    const resting = (member: Member) => member.restsUntilMs > now;
    return [...this.#members.filter((member) => !resting(member)), ...this.#members.filter(resting)];
  }

  #recovered(member: Member): void {
    if (member.failures === 0) return;
    member.failures = 0;
    member.restsUntilMs = 0;
    member.lastFailure = null;
    this.#log.info({ endpoint: member.endpoint.label }, 'a chain endpoint has recovered');
  }

  #failed(member: Member, method: string, error: unknown): void {
    if (this.#closed || error === member.lastFailure) return;
    member.lastFailure = error;
    member.failures++;
    const rest = FIRST_REST_MS * 2 ** Math.min(member.failures - 1, 10);
    const asked = error instanceof EndpointFailure ? (error.retryAfterMs ?? 0) : 0;
    member.restsUntilMs = performance.now() + Math.min(LONGEST_REST_MS, Math.max(rest, asked));
    // Once per outage: otherwise every call of a busy service would log the same.
    if (member.failures > 1) return;
    this.#log.warn({ endpoint: member.endpoint.label, method, reason: reasonOf(error) }, 'a chain endpoint is failing');
  }

  #unavailable(method: string, failure: unknown): ChainUnavailable {
    return new ChainUnavailable(`no chain endpoint answers ${method}: ${reasonOf(failure)}`);
  }

  close(): void {
    this.#closed = true;
    for (const { endpoint, pace } of this.#members) {
      pace?.close();
      endpoint.close();
    }
  }
}

/** Of the endpoint only host and port are named: the rest of its URL may contain a key. */
const callInSpan = (endpoint: RpcEndpoint, method: string, params: readonly unknown[], options: CallOptions) =>
  inSpan(
    method,
    () => endpoint.call(method, params, options),
    () => ({
      kind: 'client',
      attributes: { 'rpc.system.name': 'jsonrpc', 'rpc.method': method, ...serverOf(endpoint.label) },
    }),
  );

const shareOf = ({ lane, reserved }: Pick<Question<unknown>, 'lane' | 'reserved'>): PaceShare =>
  lane || reserved ? 'reserved' : 'intake';

function answerOf<Answer>(result: unknown, read: (result: unknown) => Answer): Answer {
  try {
    return read(result);
  } catch {
    throw new EndpointFailure('the answer does not have the expected shape', true);
  }
}

/** Errors that say that the endpoint did not even begin: it is behind, or over its rate limit. */
const NEVER_BEGUN: readonly number[] = [-32005, -32429];

const mayHaveHappenedDespite = (error: unknown): boolean =>
  error instanceof RpcRefusal
    ? !NEVER_BEGUN.includes(error.code)
    : !(error instanceof EndpointFailure) || error.mayHaveHappened;

/** An endpoint's own message may repeat the request, so of an RPC error only the code is shown. */
function reasonOf(error: unknown): string {
  if (error instanceof RpcRefusal) return `RPC error ${error.code}`;
  return error instanceof EndpointFailure ? error.message : 'no endpoint was asked in time';
}

/** Grows with each round; jittered, so that callers that failed together do not retry together. */
const pause = (round: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * round * (0.5 + Math.random())));
