/** Encodes landed transactions as `getTransaction` returns them. */
import bs58 from 'bs58';
import { addressBytes, MEMO_PROGRAM, MEMO_V1_PROGRAM } from '../addresses.ts';
import { base64ToBase58, encodeTokenAmount } from './account-encoding.ts';
import type { StoredTransaction } from './chain-store.ts';
import { invalidParameters, RPC_CODES, RpcError } from './rpc-error.ts';
import type { InnerOutcome, Outcome } from './transaction-outcome.ts';
import { isWritable, type Message, readTransaction, type Transaction } from './wire.ts';

const memoPrograms = [MEMO_PROGRAM, MEMO_V1_PROGRAM].map((text) => Buffer.from(addressBytes(text) ?? []));

/** @throws RpcError for an encoding or a version that the caller does not support */
export function encodeLanded(stored: StoredTransaction, settings: Readonly<Record<string, unknown>>): unknown {
  const { encoding = 'json', maxSupportedTransactionVersion } = settings;
  const transaction = readTransaction(stored.wire);
  const { version } = transaction.message;
  if (version !== 'legacy' && maxSupportedTransactionVersion !== 0) {
    throw new RpcError(
      RPC_CODES.unsupportedTransactionVersion,
      'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    );
  }
  const outcome = JSON.parse(stored.outcome) as Outcome;
  return {
    blockTime: stored.blockTime,
    meta: encodeMeta(stored, outcome, transaction, encoding === 'jsonParsed'),
    slot: stored.slot,
    transaction: encodeTransaction(transaction, encoding, outcome),
    ...(maxSupportedTransactionVersion === undefined ? {} : { version }),
  };
}

function encodeMeta(stored: StoredTransaction, outcome: Outcome, transaction: Transaction, parsed: boolean): unknown {
  const err: unknown = stored.error === null ? null : JSON.parse(stored.error);
  const keys = allKeys(transaction.message, outcome);
  return {
    computeUnitsConsumed: outcome.units,
    err,
    fee: outcome.fee,
    innerInstructions: outcome.inner.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((inner) => encodeInner(inner, parsed ? keys : null)),
    })),
    ...(parsed
      ? {}
      : {
          loadedAddresses: {
            readonly: outcome.loaded.readonly.map(base64ToBase58),
            writable: outcome.loaded.writable.map(base64ToBase58),
          },
        }),
    logMessages: outcome.logs,
    postBalances: outcome.after,
    postTokenBalances: outcome.tokensAfter.map(encodeTokenAmount),
    preBalances: outcome.before,
    preTokenBalances: outcome.tokensBefore.map(encodeTokenAmount),
    ...(outcome.returned
      ? { returnData: { programId: base64ToBase58(outcome.returned.program), data: [outcome.returned.data, 'base64'] } }
      : {}),
    rewards: [],
    status: err === null ? { Ok: null } : { Err: err },
  };
}

const allKeys = (message: Message, { loaded }: Outcome): readonly string[] => [
  ...message.accounts.map((key) => bs58.encode(key)),
  ...[...loaded.writable, ...loaded.readonly].map(base64ToBase58),
];

/**
 * An inner instruction. With `keys`, in the form that `jsonParsed` uses for programs that it cannot parse; the local
 * chain parses none.
 */
export function encodeInner(
  { program, accounts, data, height }: InnerOutcome,
  keys: readonly string[] | null,
): unknown {
  const base58 = base64ToBase58(data);
  if (!keys) return { accounts, data: base58, programIdIndex: program, stackHeight: height };
  return {
    accounts: accounts.map((index) => keys[index] ?? ''),
    data: base58,
    programId: keys[program] ?? '',
    stackHeight: height,
  };
}

function encodeTransaction(transaction: Transaction, encoding: unknown, outcome: Outcome): unknown {
  switch (encoding) {
    case 'base64':
    case 'base58': {
      return [encoding === 'base64' ? transaction.bytes.toString('base64') : bs58.encode(transaction.bytes), encoding];
    }
    case 'json':
    case 'jsonParsed':
      return {
        message: encodeMessage(transaction.message, encoding === 'jsonParsed', outcome),
        signatures: transaction.signatures.map((signature) => bs58.encode(signature)),
      };
    default:
      throw invalidParameters(`unsupported encoding: ${String(encoding)}. Supported: json, jsonParsed, base58, base64`);
  }
}

function encodeMessage(message: Message, parsed: boolean, outcome: Outcome): unknown {
  const keys = allKeys(message, outcome);
  const lookups = message.lookups.map(({ table, writable, readonly }) => ({
    accountKey: bs58.encode(table),
    readonlyIndexes: [...readonly],
    writableIndexes: [...writable],
  }));
  const common = {
    recentBlockhash: bs58.encode(message.blockhash),
    ...(message.version === 0 ? { addressTableLookups: lookups } : {}),
  };
  if (parsed) {
    const own = message.accounts.length;
    return {
      ...common,
      accountKeys: keys.map((pubkey, index) => ({
        pubkey,
        signer: index < message.requiredSignatures,
        source: index < own ? 'transaction' : 'lookupTable',
        writable: index < own ? isWritable(message, index) : index < own + outcome.loaded.writable.length,
      })),
      instructions: message.instructions.map(({ programIndex, accounts, data }) => ({
        accounts: [...accounts].map((index) => keys[index] ?? ''),
        data: bs58.encode(data),
        programId: keys[programIndex] ?? '',
        stackHeight: 1,
      })),
    };
  }
  return {
    ...common,
    accountKeys: keys.slice(0, message.accounts.length),
    header: {
      numReadonlySignedAccounts: message.readonlySigned,
      numReadonlyUnsignedAccounts: message.readonlyUnsigned,
      numRequiredSignatures: message.requiredSignatures,
    },
    instructions: message.instructions.map(({ programIndex, accounts, data }) => ({
      accounts: [...accounts],
      data: bs58.encode(data),
      programIdIndex: programIndex,
      stackHeight: 1,
    })),
  };
}

/** The memos of a transaction as `getSignaturesForAddress` returns them: `[length] text`, several joined by `; `. */
export function memoOf({ message }: Transaction): string | null {
  const memos = message.instructions
    .filter(({ programIndex }) => memoPrograms.some((program) => message.accounts[programIndex]?.equals(program)))
    .map(({ data }) => `[${data.length}] ${data.toString('utf8')}`);
  return memos.length ? memos.join('; ') : null;
}
