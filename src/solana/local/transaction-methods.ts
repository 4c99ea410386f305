/** RPC methods that send, simulate and look up transactions, and the faucet. */
import bs58 from 'bs58';
import { base64ToBase58, encodeAccount } from './account-encoding.ts';
import { contextSlot, inContext, type RpcMethod, slotAt } from './cluster-methods.ts';
import { giveSol, giveUsdc } from './faucet.ts';
import type { Ledger, Status } from './ledger.ts';
import { commitmentOf, type Parameters, type Settings, signatureOf } from './parameters.ts';
import { invalidParameters } from './rpc-error.ts';
import { BLOCKHASH_LIFETIME } from './slot-clock.ts';
import { encodeInner, encodeLanded, memoOf } from './transaction-encoding.ts';
import { innerOutcomes, usedAccounts } from './transaction-outcome.ts';
import type { SimulatedExecution } from './virtual-machine.ts';
import { readTransaction, type Transaction } from './wire.ts';

const MOST_STATUSES = 256;
const MOST_SIGNATURES = 1_000;
const MOST_SIMULATED_ACCOUNTS = 64;
/** For this many slots, a cluster knows statuses without a search of its history. */
const RECENT_SLOTS = 300;

const parsedError = ({ error }: Status): unknown => (error === null ? null : JSON.parse(error));

const confirmationStatus = (ledger: Ledger, { slot }: Status): string =>
  slot <= ledger.clock.finalizedSlot ? 'finalized' : 'confirmed';

export const transactionMethods: Readonly<Record<string, RpcMethod>> = {
  sendTransaction(ledger, parameters) {
    const settings = parameters.settings(1);
    const transaction = parameters.transaction(0, settings.encoding);
    const skipPreflight = settings.skipPreflight === true;
    contextSlot(ledger, { minContextSlot: settings.minContextSlot, commitment: 'processed' });
    return ledger.submit(transaction, { skipPreflight });
  },

  simulateTransaction(ledger, parameters) {
    const settings = parameters.settings(1);
    const transaction = parameters.transaction(0, settings.encoding);
    const slot = contextSlot(ledger, settings);
    const checkSignatures = settings.sigVerify === true;
    const replaceBlockhash = settings.replaceRecentBlockhash === true;
    if (checkSignatures && replaceBlockhash) {
      throw invalidParameters('sigVerify may not be used with replaceRecentBlockhash');
    }
    const execution = ledger.simulate(transaction, { checkSignatures, replaceBlockhash });
    return inContext(slot, {
      accounts: simulatedAccounts(ledger, settings.accounts, execution),
      err: execution.error,
      innerInstructions: settings.innerInstructions === true ? simulatedInner(ledger, transaction, execution) : null,
      logs: execution.logs,
      replacementBlockhash: replaceBlockhash
        ? {
            blockhash: ledger.clock.blockhash(ledger.clock.slot),
            lastValidBlockHeight: ledger.clock.slot + BLOCKHASH_LIFETIME,
          }
        : null,
      returnData: execution.returned && {
        data: [execution.returned.data.toString('base64'), 'base64'],
        programId: bs58.encode(execution.returned.program),
      },
      unitsConsumed: execution.computeUnits,
    });
  },

  getSignatureStatuses(ledger, parameters) {
    const signatures = parameters.texts(0, MOST_STATUSES);
    const history = parameters.settings(1).searchTransactionHistory === true;
    const { slot } = ledger.clock;
    return inContext(
      slot,
      signatures.map((signature) => {
        const stored = ledger.recentStatus(signature) ?? ledger.transaction(signatureOf(signature));
        if (!stored || (!history && stored.slot < slot - RECENT_SLOTS)) return null;
        const err = parsedError(stored);
        const status = confirmationStatus(ledger, stored);
        return {
          confirmationStatus: status,
          confirmations: status === 'finalized' ? null : slot - stored.slot,
          err,
          slot: stored.slot,
          status: err === null ? { Ok: null } : { Err: err },
        };
      }),
    );
  },

  getTransaction(ledger, parameters) {
    const signature = parameters.signature(0);
    const settings = settingsOrEncoding(parameters, 1);
    const stored = ledger.transaction(signature);
    if (!stored || stored.slot > slotAt(ledger, commitmentOf(settings))) return null;
    return encodeLanded(stored, settings);
  },

  getSignaturesForAddress(ledger, parameters) {
    const address = parameters.address(0);
    const settings = parameters.settings(1);
    const latestSlot = contextSlot(ledger, settings);
    const limit = settings.limit ?? MOST_SIGNATURES;
    if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > MOST_SIGNATURES) {
      throw invalidParameters(`Invalid limit; max ${MOST_SIGNATURES}`);
    }
    const before = sequenceOf(ledger, settings.before);
    const until = sequenceOf(ledger, settings.until);
    return ledger.store.signatures({ address, before, until, latestSlot, limit: Number(limit) }).map((stored) => ({
      blockTime: stored.blockTime,
      confirmationStatus: confirmationStatus(ledger, stored),
      err: parsedError(stored),
      memo: memoOf(readTransaction(stored.wire)),
      signature: bs58.encode(stored.signature),
      slot: stored.slot,
    }));
  },

  requestAirdrop(ledger, parameters) {
    const recipient = bs58.encode(parameters.address(0));
    return giveSol(ledger, recipient, parameters.amount(1, 'lamports'));
  },

  /**
   * Not part of Solana's RPC: `[owner, base units]` creates the owner's USDC account if it is missing and mints into
   * it.
   */
  requestTokenAirdrop(ledger, parameters) {
    const owner = bs58.encode(parameters.address(0));
    return giveUsdc(ledger, owner, parameters.amount(1, 'base units'));
  },
};

/** `getTransaction` also accepts an encoding in place of the settings. */
function settingsOrEncoding(parameters: Parameters, index: number): Settings {
  try {
    return { encoding: parameters.text(index, 'encoding') };
  } catch {
    return parameters.settings(index);
  }
}

function sequenceOf(ledger: Ledger, signature: unknown): number | null {
  if (signature === undefined || signature === null) return null;
  if (typeof signature !== 'string') throw invalidParameters('Invalid param: Invalid');
  return ledger.transaction(signatureOf(signature))?.sequence ?? null;
}

function simulatedAccounts(ledger: Ledger, wanted: unknown, execution: SimulatedExecution): unknown {
  if (wanted === undefined || wanted === null) return null;
  const { addresses, encoding } = wanted as { addresses?: unknown; encoding?: unknown };
  if (!Array.isArray(addresses) || addresses.length > MOST_SIMULATED_ACCOUNTS) {
    throw invalidParameters('Invalid params: accounts.addresses: expected a short array of addresses.');
  }
  if (encoding === 'base58' || encoding === 'binary') {
    throw invalidParameters('base58 encoding not supported');
  }
  if (execution.error !== null) return addresses.map(() => null);
  const written = execution.accounts();
  return addresses.map((address: unknown) => {
    const key = typeof address === 'string' ? bs58.decodeUnsafe(address) : undefined;
    if (key?.length !== 32) throw invalidParameters('Invalid param: Invalid');
    const after = written.get(Buffer.from(key).toString('hex'));
    return encodeAccount(after ?? ledger.machine.account(key), { encoding: encoding ?? 'base64' }, ledger.balances);
  });
}

function simulatedInner(ledger: Ledger, { message }: Transaction, execution: SimulatedExecution): unknown {
  const keys = usedAccounts(message, ledger.machine).map(({ key }) => base64ToBase58(key.toString('base64')));
  return innerOutcomes(execution).map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((inner) => encodeInner(inner, keys)),
  }));
}
