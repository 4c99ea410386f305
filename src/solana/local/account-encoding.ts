/** Encodes accounts as the RPC does. */
import bs58 from 'bs58';
import { addressBytes, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../addresses.ts';
import { formatAmount } from '../decimal-amount.ts';
import { invalidParameters, RPC_CODES, RpcError } from './rpc-error.ts';
import type { BalanceReader, TokenAmount } from './transaction-outcome.ts';
import { isTokenAccount } from './transaction-outcome.ts';
import type { AccountState } from './virtual-machine.ts';

const MINT_BYTES = 82;
const MOST_BASE58_BYTES = 128;
const programs = new Map(
  [
    [TOKEN_PROGRAM, 'spl-token'],
    [TOKEN_2022_PROGRAM, 'spl-token-2022'],
  ].map(([address = '', name = '']) => [Buffer.from(addressBytes(address) ?? []).toString('hex'), name]),
);

export interface AccountSettings {
  readonly encoding?: unknown;
  readonly dataSlice?: unknown;
}

/** One account, or null if it does not exist. */
export function encodeAccount(state: AccountState | null, settings: AccountSettings, balances: BalanceReader): unknown {
  if (!state) return null;
  return {
    data: encodeData(state, settings, balances),
    executable: state.executable,
    lamports: state.lamports,
    owner: bs58.encode(state.owner),
    // Rent is no longer collected; the largest u64 means that. As a JSON number it must be rounded, and down: clients
    // that read exact integers reject more than a u64.
    rentEpoch: 2 ** 64 - 2 ** 11,
    space: state.data.length,
  };
}

function encodeData(state: AccountState, { encoding, dataSlice }: AccountSettings, balances: BalanceReader): unknown {
  if (encoding === 'jsonParsed') {
    const parsed = parseTokenData(state, balances);
    if (parsed) return parsed;
  }
  const data = slice(state.data, dataSlice);
  switch (encoding) {
    case 'base64':
    case 'jsonParsed':
      return [data.toString('base64'), 'base64'];
    case 'base58':
      return [base58(data), 'base58'];
    case undefined:
    case null:
    case 'binary':
      return base58(data);
    default:
      throw invalidParameters(`unsupported encoding: ${String(encoding)}. Supported: base58, base64, jsonParsed`);
  }
}

function base58(data: Buffer): string {
  if (data.length > MOST_BASE58_BYTES) {
    throw new RpcError(
      RPC_CODES.invalidRequest,
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    );
  }
  return bs58.encode(data);
}

function slice(data: Buffer, dataSlice: unknown): Buffer {
  if (dataSlice === undefined || dataSlice === null) return data;
  const { offset, length } = dataSlice as { offset?: unknown; length?: unknown };
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length)) {
    throw invalidParameters('Invalid params: dataSlice needs a whole offset and length.');
  }
  const from = Math.min(Math.max(0, Number(offset)), data.length);
  return data.subarray(from, from + Math.max(0, Number(length)));
}

/** Mints and token accounts in the form of `jsonParsed`; null for anything else. */
function parseTokenData(state: AccountState, balances: BalanceReader): unknown {
  const program = programs.get(state.owner.toString('hex'));
  if (!program) return null;
  const info = isTokenAccount(state) ? tokenAccountInfo(state.data, balances) : mintInfo(state.data);
  if (!info) return null;
  return { program, space: state.data.length, parsed: { type: isTokenAccount(state) ? 'account' : 'mint', info } };
}

const optionalKey = (data: Buffer, at: number): string | null =>
  data.readUInt32LE(at) === 1 ? bs58.encode(data.subarray(at + 4, at + 36)) : null;

function mintInfo(data: Buffer): unknown {
  // A mint with extensions is padded to the length of a token account; the byte after that holds the account type.
  if (data.length !== MINT_BYTES && !(data.length > 165 && data[165] === 1)) return null;
  if (data[45] !== 1) return null;
  return {
    decimals: data[44],
    freezeAuthority: optionalKey(data, 46),
    isInitialized: true,
    mintAuthority: optionalKey(data, 0),
    supply: data.readBigUInt64LE(36).toString(),
  };
}

function tokenAccountInfo(data: Buffer, balances: BalanceReader): unknown {
  const state = data[108];
  const decimals = balances.decimals(data.subarray(0, 32));
  if ((state !== 1 && state !== 2) || decimals === null) return null;
  const delegate = optionalKey(data, 72);
  const native = data.readUInt32LE(109) === 1;
  const closeAuthority = optionalKey(data, 129);
  return {
    isNative: native,
    mint: bs58.encode(data.subarray(0, 32)),
    owner: bs58.encode(data.subarray(32, 64)),
    state: state === 2 ? 'frozen' : 'initialized',
    tokenAmount: uiAmount(data.readBigUInt64LE(64), decimals),
    ...(delegate ? { delegate, delegatedAmount: uiAmount(data.readBigUInt64LE(121), decimals) } : {}),
    ...(native ? { rentExemptReserve: uiAmount(data.readBigUInt64LE(113), decimals) } : {}),
    ...(closeAuthority ? { closeAuthority } : {}),
  };
}

/** An amount in every form that the RPC returns. Only `uiAmount` is a float, for display only. */
export function uiAmount(amount: bigint, decimals: number): unknown {
  const uiAmountString = formatAmount(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** The balance in a transaction's `preTokenBalances` and `postTokenBalances`. */
export const encodeTokenAmount = ({ index, mint, owner, program, amount, decimals }: TokenAmount): unknown => ({
  accountIndex: index,
  mint: base64ToBase58(mint),
  owner: base64ToBase58(owner),
  programId: base64ToBase58(program),
  uiTokenAmount: uiAmount(BigInt(amount), decimals),
});

export const base64ToBase58 = (text: string): string => bs58.encode(Buffer.from(text, 'base64'));
