/** The chain port over Solana's JSON-RPC, with failover between endpoints. */
import bs58 from 'bs58';
import { z } from 'zod';
import { addressBytes, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';
import {
  type Chain,
  ChainUnavailable,
  type Commitment,
  type LatestBlockhash,
  type SendOutcome,
  type SignatureStatus,
  type Simulation,
  type TokenBalance,
} from './chain.ts';
import type { RpcRefusal } from './rpc-endpoint.ts';
import { type EndpointLog, type Question, RpcEndpoints } from './rpc-endpoints.ts';

export interface RpcChainOptions {
  /** In order of preference. They may hold credentials; no log and no error repeats them. */
  readonly urls: readonly string[];
  /** For each single call; a question as a whole takes at most twice this, however many endpoints and attempts. */
  readonly timeoutMs?: number;
  readonly logger: EndpointLog;
}

const DEFAULT_TIMEOUT_MS = 4_000;
/** What `getSignatureStatuses` takes at once. */
const MOST_STATUSES = 256;
const SIGNATURE_BYTES = 64;

/** Codes of Solana's RPC that are answers to `sendTransaction` and `simulateTransaction`. */
const PREFLIGHT_FAILURE = -32002;
const SIGNATURE_FAILURE = -32003;
const INVALID_PARAMETERS = -32602;
const UNKNOWN_METHOD = -32601;

/**
 * Slots for each block, at most, over any stretch of history: a slot can stay without a block, but a cluster that makes
 * none in half of them is down. Only an estimate of where in heights a slot lies, on the safe side.
 */
const SLOTS_PER_BLOCK = 2;

/** Longest error of a transaction that is believed, as JSON: it is recorded, and the runtime's own are far shorter. */
const MOST_ERROR_CHARACTERS = 2_000;

const count = z.int().nonnegative();
const context = z.object({ slot: count });
const TransactionError = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .nullable()
  .refine(isShort);

const LatestBlockhashResult = z.object({
  value: z.object({ blockhash: z.string().refine((text) => addressBytes(text)), lastValidBlockHeight: count }),
});
const EpochInfo = z.object({ absoluteSlot: count, blockHeight: count });
const BooleanResult = z.object({ value: z.boolean() });
const BalanceResult = z.object({ value: count });
const SimulationResult = z.object({
  value: z.object({ err: TransactionError, logs: z.array(z.string()).nullish() }),
});
const Statuses = z.object({
  context,
  value: z.array(
    z
      .object({
        slot: count,
        err: TransactionError,
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
        confirmations: count.nullish(),
      })
      .nullable(),
  ),
});
const TokenAccount = z.object({
  value: z
    .object({ owner: z.string(), data: z.tuple([z.base64(), z.literal('base64')]), space: count.optional() })
    .nullable(),
});

interface StatusAnswer {
  readonly contextSlot: number;
  readonly statuses: readonly (SignatureStatus | null)[];
}

/**
 * Opens the chain behind these endpoints. Nothing is asked before the first call.
 *
 * Errors of transactions are JSON text throughout, as in `SignatureStatus`: `"BlockhashNotFound"`,
 * `{"InstructionError":[2,{"Custom":1}]}`.
 */
export function createRpcChain({
  urls,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  logger,
}: RpcChainOptions): Chain & { close(): void } {
  const endpoints = new RpcEndpoints({ urls, timeoutMs, log: logger });
  const statuses = new StatusBatches(endpoints);
  /** The newest finalized slot that any endpoint told of: whoever is behind it cannot say that a signature is unknown. */
  let finalizedSlot = 0;

  return {
    async latestBlockhash(): Promise<LatestBlockhash> {
      return endpoints.ask({
        method: 'getLatestBlockhash',
        params: [{ commitment: 'confirmed' }],
        read: (result) => LatestBlockhashResult.parse(result).value,
      });
    },

    async blockHeight(commitment: Commitment, options = {}): Promise<number> {
      const question = epochQuestion(commitment);
      const told = options.unanimous ? await endpoints.askAll(question) : [await endpoints.ask(question)];
      if (commitment === 'finalized') finalizedSlot = Math.max(finalizedSlot, newestSlot(told));
      return Math.min(...told.map(({ blockHeight }) => blockHeight));
    },

    async isBlockhashValid(blockhash: string): Promise<boolean> {
      return endpoints.ask({
        method: 'isBlockhashValid',
        params: [blockhash, { commitment: 'processed' }],
        read: (result) => BooleanResult.parse(result).value,
        settles: (valid) => valid,
      });
    },

    async simulate(wire: Uint8Array): Promise<Simulation> {
      return endpoints.ask({
        method: 'simulateTransaction',
        params: [toBase64(wire), { encoding: 'base64', commitment: 'processed', sigVerify: true }],
        read: (result): Simulation => {
          const { err, logs } = SimulationResult.parse(result).value;
          return err === null ? { ok: true } : { ok: false, error: JSON.stringify(err), logs: logs ?? [] };
        },
        readRefusal: ({ code, message }): Simulation | null => {
          if (code === SIGNATURE_FAILURE) return { ok: false, error: '"SignatureFailure"', logs: [] };
          return code === INVALID_PARAMETERS
            ? { ok: false, error: '"SanitizeFailure"', logs: [message.slice(0, 200)] }
            : null;
        },
        settles: (simulation) => simulation.ok || simulation.error !== '"BlockhashNotFound"',
      });
    },

    async send(wire: Uint8Array, { everywhere = false, signature = firstSignature(wire) } = {}): Promise<SendOutcome> {
      const question: Question<SendOutcome> = {
        method: 'sendTransaction',
        // We send again ourselves, so the endpoint need not; its preflight spares us the fee of what would fail.
        params: [toBase64(wire), { encoding: 'base64', preflightCommitment: 'processed', maxRetries: 0 }],
        read: (result): SendOutcome => {
          if (result !== signature) throw new Error('another transaction was sent');
          return { sent: true };
        },
        readRefusal: outcomeOfRefusal,
        settles: (outcome) => outcome.sent || outcome.code !== 'BlockhashNotFound',
        hasEffect: true,
        lane: 'settlement',
      };
      return everywhere ? endpoints.askEach(question) : endpoints.ask(question);
    },

    async signatureStatus(signature: string, options = {}): Promise<SignatureStatus | null> {
      if (!options.unanimous) return statuses.status(signature);
      const answers = await endpoints.askAll(statusQuestion([signature]));
      const known = answers.map((answer) => answer.statuses[0] ?? null).filter((status) => status !== null);
      if (known.length) return known.reduce(furthest);
      const believed = finalizedSlot;
      if (answers.some(({ contextSlot }) => contextSlot < believed)) {
        // What was told may have been wrong, and must not be held against everybody for ever: no endpoint that told the
        // truth says less now.
        const newest = newestSlot(await endpoints.askAll(epochQuestion('finalized')));
        if (finalizedSlot === believed) finalizedSlot = newest;
        throw new ChainUnavailable('a chain endpoint is behind what is finalized and cannot know the signature');
      }
      return null;
    },

    async historyFrom(): Promise<number> {
      const firsts = await endpoints.askAll({
        method: 'getFirstAvailableBlock',
        params: [],
        read: (result) => count.parse(result),
        readRefusal: ({ code }) => (code === UNKNOWN_METHOD ? Number.POSITIVE_INFINITY : null),
      });
      const first = Math.max(...firsts);
      if (first === 0 || first === Number.POSITIVE_INFINITY) return first;
      const { absoluteSlot, blockHeight } = await endpoints.ask(epochQuestion('finalized'));
      return blockHeight - Math.floor(Math.max(0, absoluteSlot - first) / SLOTS_PER_BLOCK);
    },

    async tokenBalance(account: string): Promise<TokenBalance | null> {
      return endpoints.ask({
        method: 'getAccountInfo',
        // The amount of a token account of either token program.
        params: [account, { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 64, length: 8 } }],
        read: readTokenBalance,
      });
    },

    async balance(address: string): Promise<bigint> {
      return endpoints.ask({
        method: 'getBalance',
        params: [address, { commitment: 'confirmed' }],
        read: (result) => BigInt(BalanceResult.parse(result).value),
      });
    },

    close: () => endpoints.close(),
  };
}

/** Also where it is nested so deeply that it cannot be written. */
function isShort(error: unknown): boolean {
  try {
    return JSON.stringify(error).length <= MOST_ERROR_CHARACTERS;
  } catch {
    return false;
  }
}

const toBase64 = (wire: Uint8Array): string =>
  Buffer.from(wire.buffer, wire.byteOffset, wire.byteLength).toString('base64');

/** A transaction begins with the number of its signatures, which is below 128, and the first is the transaction's name. */
const firstSignature = (wire: Uint8Array): string => bs58.encode(wire.subarray(1, 1 + SIGNATURE_BYTES));

function outcomeOfRefusal({ code, message, data }: RpcRefusal): SendOutcome | null {
  if (code === SIGNATURE_FAILURE) return { sent: false, code: 'SignatureFailure', message };
  if (code === INVALID_PARAMETERS) return { sent: false, code: 'SanitizeFailure', message };
  if (code !== PREFLIGHT_FAILURE) return null;
  const error = TransactionError.safeParse((data as { err?: unknown } | null | undefined)?.err);
  if (!error.success || error.data === null) return null;
  const name = typeof error.data === 'string' ? error.data : (Object.keys(error.data)[0] ?? 'unknown');
  return name === 'AlreadyProcessed' ? { sent: true } : { sent: false, code: name, message };
}

function readTokenBalance(result: unknown): TokenBalance | null {
  const { value } = TokenAccount.parse(result);
  if (!value || (value.owner !== TOKEN_PROGRAM && value.owner !== TOKEN_2022_PROGRAM)) return null;
  const amount = Buffer.from(value.data[0], 'base64');
  // Shorter accounts of a token program are mints.
  return amount.length === 8 ? { amount: amount.readBigUInt64LE() } : null;
}

const ORDER: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
const isConfirmed = (status: SignatureStatus | undefined): boolean =>
  status !== undefined && status.commitment !== 'processed';
const furthest = (a: SignatureStatus, b: SignatureStatus): SignatureStatus =>
  ORDER.indexOf(b.commitment) > ORDER.indexOf(a.commitment) ? b : a;

type Epoch = z.infer<typeof EpochInfo>;

const epochQuestion = (commitment: Commitment): Question<Epoch> => ({
  method: 'getEpochInfo',
  params: [{ commitment }],
  read: (result) => EpochInfo.parse(result),
});

const newestSlot = (told: readonly Epoch[]): number => Math.max(...told.map(({ absoluteSlot }) => absoluteSlot));

function statusQuestion(signatures: readonly string[]): Question<StatusAnswer> {
  return {
    method: 'getSignatureStatuses',
    params: [signatures, { searchTransactionHistory: true }],
    // Whoever is still before its claim must not wait for those who look for theirs.
    lane: 'settlement',
    read: (result) => {
      const { context: at, value } = Statuses.parse(result);
      if (value.length !== signatures.length) throw new Error('not one status for each signature');
      return {
        contextSlot: at.slot,
        statuses: value.map((status) => {
          if (!status) return null;
          const { slot, err, confirmationStatus, confirmations } = status;
          // Old endpoints say only how many blocks have confirmed it; null has always meant all that are needed.
          const commitment = confirmationStatus ?? (confirmations === null ? 'finalized' : 'processed');
          return { slot, commitment, error: err === null ? null : JSON.stringify(err) };
        }),
      };
    },
  };
}

interface Waiting {
  readonly signature: string;
  resolve(status: SignatureStatus | null): void;
  reject(error: unknown): void;
}

/** Asks for all signatures that are asked for in one turn of the event loop by one call: many payments wait at once. */
class StatusBatches {
  readonly #endpoints: RpcEndpoints;
  #waiting: Waiting[] = [];

  constructor(endpoints: RpcEndpoints) {
    this.#endpoints = endpoints;
  }

  status(signature: string): Promise<SignatureStatus | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ signature, resolve, reject }) === 1) setImmediate(() => this.#askAll());
    });
  }

  #askAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; from += MOST_STATUSES)
      this.#ask(waiting.slice(from, from + MOST_STATUSES));
  }

  async #ask(waiting: readonly Waiting[]): Promise<void> {
    try {
      const found = new Map<string, SignatureStatus>();
      await this.#endpoints.ask({
        ...statusQuestion(waiting.map(({ signature }) => signature)),
        // An endpoint may not know what another does: all are asked until each signature is confirmed by one.
        settles: ({ statuses }) => {
          statuses.forEach((status, index) => {
            const { signature } = waiting[index] as Waiting;
            const before = found.get(signature);
            if (status) found.set(signature, before ? furthest(before, status) : status);
          });
          return waiting.every(({ signature }) => isConfirmed(found.get(signature)));
        },
      });
      for (const { signature, resolve } of waiting) resolve(found.get(signature) ?? null);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
