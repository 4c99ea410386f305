/**
 * Everything that an endpoint of a cluster can do to its callers (docs/design/payments.md#outcomes-that-must-hold):
 * each mood decides about every call, and a fault of a connection affects every call of a batch. No mood changes what
 * the chain itself did, only who learns of it and when.
 */
import { randomInt } from 'node:crypto';
import bs58 from 'bs58';
import { type Fault, pass, type RpcCall } from './faulty-rpc.ts';

export type Mood = (call: RpcCall) => Fault;

/** How far a lagging endpoint is behind, in slots. */
const LAG_SLOTS = 40;

type Result = Record<string, never> & { readonly [name: string]: unknown };
type Status = { readonly slot: number; readonly confirmationStatus: string } | null;
interface Statuses {
  readonly context: { readonly slot: number };
  readonly value: readonly Status[];
}

const only =
  (mood: Partial<Record<string, Fault | ((call: RpcCall) => Fault)>>): Mood =>
  (call) => {
    const fault = mood[call.method] ?? pass;
    return typeof fault === 'function' ? fault(call) : fault;
  };

const refused = (err: string): Fault => ({ type: 'error', code: -32002, data: { err } });

const simulated = (err: unknown): Fault => ({
  type: 'alter',
  change: (result) => ({ ...(result as Result), value: { err, logs: [], accounts: null, unitsConsumed: 0 } }),
});

const statusesAs = (change: (status: Status, slot: number) => Status, slots = 0): Fault => ({
  type: 'alter',
  change: (result) => {
    const { context, value } = result as Statuses;
    const slot = context.slot - slots;
    return { context: { ...context, slot }, value: value.map((status) => change(status, slot)) };
  },
});

/** The transaction's first signature, which is its id. */
const signatureIn = ({ params }: RpcCall): string =>
  bs58.encode(Buffer.from(params[0] as string, 'base64').subarray(1, 65));

export const honest: Mood = () => pass;

export const MOODS = {
  /** Accepts every call and never answers. */
  silent: () => ({ type: 'hang' }),
  /** Cuts every connection. */
  down: () => ({ type: 'drop' }),
  broken: () => ({ type: 'status', status: 503 }),
  busy: () => ({ type: 'status', status: 429, headers: { 'retry-after': '1' } }),
  slow: () => ({ type: 'pass', delayMs: 100 + randomInt(500) }),
  /** Executes the call, and loses the answer. */
  mute: () => ({ type: 'lose-answer' }),
  garbled: () => ({ type: 'body', body: '{"jsonrpc":"2.0","id":' }),
  /** Claims to have sent a transaction, and has not. */
  dropping: only({ sendTransaction: (call) => ({ type: 'result', result: signatureIn(call) }) }),
  /** Confirms nothing: what has landed stays processed. */
  unconfirming: only({
    getSignatureStatuses: statusesAs((status) => status && { ...status, confirmationStatus: 'processed' }),
  }),
  /** Is behind the cluster, as its slots show. */
  lagging: only({
    getSignatureStatuses: statusesAs((status, slot) => (status && status.slot <= slot ? status : null), LAG_SLOTS),
    getEpochInfo: {
      type: 'alter',
      change: (result) => {
        const { absoluteSlot, blockHeight, ...rest } = result as { absoluteSlot: number; blockHeight: number };
        return {
          ...rest,
          absoluteSlot: Math.max(0, absoluteSlot - LAG_SLOTS),
          blockHeight: Math.max(0, blockHeight - LAG_SLOTS),
        };
      },
    },
    isBlockhashValid: { type: 'alter', change: (result) => ({ ...(result as Result), value: false }) },
    simulateTransaction: simulated('BlockhashNotFound'),
    sendTransaction: refused('BlockhashNotFound'),
  }),
  /** Denies what has landed, though it knows the newest slot. */
  denying: only({ getSignatureStatuses: statusesAs(() => null) }),
  /** Knows no blockhash. */
  forgetful: only({
    simulateTransaction: simulated('BlockhashNotFound'),
    sendTransaction: refused('BlockhashNotFound'),
  }),
  /** Accepts every transaction and sends it without a check, so that unpayable ones fail on the chain. */
  careless: only({
    simulateTransaction: simulated(null),
    sendTransaction: ({ params: [wire] }) => ({
      type: 'replace',
      params: [wire, { encoding: 'base64', skipPreflight: true }],
    }),
  }),
} satisfies Record<string, Mood>;

export type MoodName = keyof typeof MOODS;

/** Moods in which an endpoint gives false answers about what has landed: at most one of several endpoints has them. */
export const LYING: ReadonlySet<MoodName> = new Set(['lagging', 'denying', 'unconfirming']);
