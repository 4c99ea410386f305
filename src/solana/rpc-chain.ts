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
import { type EndpointLog, type EndpointsOptions, type Question, RpcEndpoints } from './rpc-endpoints.ts';
import { furthest, StatusBatches, statusQuestion, TransactionError } from './rpc-signature-status.ts';

export interface RpcChainOptions {
  /** In order of preference. They may contain credentials; no log and no error repeats them. */
  readonly urls: readonly string[];
  /**
   * For each single call. A question as a whole takes at most twice this, with any number of endpoints and attempts.
   */
  readonly timeoutMs?: number;
  /** Calls to one endpoint per second, at least 2; half of them are for settlement. Null or omitted: no limit. */
  readonly callsPerSecond?: number | null | undefined;
  readonly logger: EndpointLog;
  readonly called?: EndpointsOptions['called'];
}

export interface RpcChain extends Chain {
  /** When a slot's block was made, in seconds since the Unix epoch; null if no endpoint says so. */
  blockTime(slot: number): Promise<number | null>;
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 4_000;
const SIGNATURE_BYTES = 64;

/** Codes of Solana's RPC that are answers to `sendTransaction` and `simulateTransaction`. */
const PREFLIGHT_FAILURE = -32002;
const SIGNATURE_FAILURE = -32003;
const INVALID_PARAMETERS = -32602;
const UNKNOWN_METHOD = -32601;

/**
 * Maximum slots per block over any stretch of history. A slot can stay without a block, but a cluster without blocks in
 * half of its slots is down. Used only to estimate the block height of a slot, on the safe side.
 */
const SLOTS_PER_BLOCK = 2;

const count = z.int().nonnegative();

const LatestBlockhashResult = z.object({
  value: z.object({ blockhash: z.string().refine((text) => addressBytes(text)), lastValidBlockHeight: count }),
});
const GenesisHash = z.string().refine((text) => addressBytes(text));
const EpochInfo = z.object({ absoluteSlot: count, blockHeight: count });
const BooleanResult = z.object({ value: z.boolean() });
const BalanceResult = z.object({ value: count });
const SimulationResult = z.object({
  value: z.object({ err: TransactionError, logs: z.array(z.string()).nullish() }),
});
const TokenAccount = z.object({
  value: z
    .object({ owner: z.string(), data: z.tuple([z.base64(), z.literal('base64')]), space: count.optional() })
    .nullable(),
});

/**
 * Opens the chain behind these endpoints. Sends nothing before the first call.
 *
 * Errors of transactions are always JSON text, as in `SignatureStatus`: `"BlockhashNotFound"`,
 * `{"InstructionError":[2,{"Custom":1}]}`.
 */
export function createRpcChain({
  urls,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  callsPerSecond,
  logger,
  called,
}: RpcChainOptions): RpcChain {
  const endpoints = new RpcEndpoints({ urls, timeoutMs, log: logger, callsPerSecond, called });
  const statuses = new StatusBatches(endpoints);
  /**
   * The newest finalized slot that any endpoint reported. An endpoint behind it cannot say that a signature is unknown.
   */
  let finalizedSlot = 0;

  return {
    async genesisHashes(): Promise<readonly (string | null)[]> {
      return endpoints.askEvery({
        method: 'getGenesisHash',
        params: [],
        read: (result) => GenesisHash.parse(result),
      });
    },

    async latestBlockhash(): Promise<LatestBlockhash> {
      return endpoints.ask({
        method: 'getLatestBlockhash',
        params: [{ commitment: 'confirmed' }],
        // One call a second: without it no payment could be offered.
        reserved: true,
        read: (result) => LatestBlockhashResult.parse(result).value,
      });
    },

    async blockHeight(commitment: Commitment, options = {}): Promise<number> {
      const question = epochQuestion(commitment);
      const epochs = options.unanimous ? await endpoints.askAll(question) : [await endpoints.ask(question)];
      if (commitment === 'finalized') finalizedSlot = Math.max(finalizedSlot, newestSlot(epochs));
      return Math.min(...epochs.map(({ blockHeight }) => blockHeight));
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
        // We resend ourselves, so the endpoint need not. Its preflight saves us the fee of a transaction that would
        // fail.
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
        // A reported slot may have been wrong, and must not block all endpoints forever. No correct endpoint now
        // reports less than this.
        const newest = newestSlot(await endpoints.askAll(epochQuestion('finalized')));
        if (finalizedSlot === believed) finalizedSlot = newest;
        throw new ChainUnavailable('a chain endpoint is behind the finalized slot and cannot know the signature');
      }
      return null;
    },

    async historyFrom(): Promise<number> {
      const firsts = await endpoints.askAll({
        method: 'getFirstAvailableBlock',
        params: [],
        reserved: true,
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
        // The amount and the delegate of a token account, in either token program.
        params: [account, { encoding: 'base64', commitment: 'confirmed', dataSlice: { offset: 64, length: 65 } }],
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

    async blockTime(slot: number): Promise<number | null> {
      return endpoints.ask({
        method: 'getBlockTime',
        params: [slot],
        read: (result) => z.int().nullable().parse(result),
        // An endpoint that no longer keeps the block, or skips it, answers so.
        readRefusal: () => null,
        settles: (time) => time !== null,
      });
    },

    close: () => endpoints.close(),
  };
}

const toBase64 = (wire: Uint8Array): string =>
  Buffer.from(wire.buffer, wire.byteOffset, wire.byteLength).toString('base64');

/**
 * A transaction begins with the number of its signatures, which is below 128; the first signature is the transaction's
 * id.
 */
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
  const slice = Buffer.from(value.data[0], 'base64');
  // Shorter accounts of a token program are mints.
  if (slice.length !== 65) return null;
  return {
    amount: slice.readBigUInt64LE(),
    isDelegated: slice.readUInt32LE(8) !== 0 && slice.readBigUInt64LE(57) > 0n,
  };
}

type Epoch = z.infer<typeof EpochInfo>;

const epochQuestion = (commitment: Commitment): Question<Epoch> => ({
  method: 'getEpochInfo',
  params: [{ commitment }],
  reserved: commitment === 'finalized',
  read: (result) => EpochInfo.parse(result),
});

const newestSlot = (epochs: readonly Epoch[]): number => Math.max(...epochs.map(({ absoluteSlot }) => absoluteSlot));
