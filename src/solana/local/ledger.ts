/**
 * The local chain itself: accepts transactions, executes them immediately, and acknowledges them once they and their
 * effects are on disk. An acknowledged transaction is *confirmed*, since nothing can undo it any more. It is
 * *finalized* 32 slots later, as on a cluster.
 */
import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { addressBytes, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../addresses.ts';
import { SolanaKey, verifySignature } from '../keys.ts';
import type { ChainStore, StoredTransaction, TransactionRecord } from './chain-store.ts';
import { RPC_CODES, RpcError } from './rpc-error.ts';
import { BLOCKHASH_LIFETIME, type SlotClock } from './slot-clock.ts';
import { SlotMemory } from './slot-memory.ts';
import { errorInWords, type TransactionErrorJson } from './transaction-error.ts';
import { BalanceReader, type Balances, outcomeJson, usedAccounts } from './transaction-outcome.ts';
import type { AccountState, Execution, SimulatedExecution, VirtualMachine } from './virtual-machine.ts';
import { readTransaction, type Transaction } from './wire.ts';

export const SLOTS_PER_EPOCH = 432_000;
/** Slots whose hashes programs can see: enough to create a lookup table. */
const VISIBLE_SLOT_HASHES = 32;

/** Transactions that executed in one turn of the event loop and become durable together. */
interface Batch {
  readonly transactions: TransactionRecord[];
  readonly accounts: Map<string, AccountState | null>;
  readonly done: Promise<void>;
}

/** The outcome of a transaction. */
export interface Status {
  readonly slot: number;
  /** JSON; null for success. */
  readonly error: string | null;
}

export interface SimulationOptions {
  readonly checkSignatures: boolean;
  readonly replaceBlockhash: boolean;
}

const NOTHING: Execution = { error: null, logs: [], computeUnits: 0, innerInstructions: [], returned: null };

const tokenPrograms = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((text) => Buffer.from(addressBytes(text) ?? []));

export class Ledger {
  readonly store: ChainStore;
  readonly clock: SlotClock;
  readonly machine: VirtualMachine;
  readonly balances: BalanceReader;
  /** Owns the faucet's SOL and mints its USDC. */
  readonly faucetKey: SolanaKey;
  readonly #onFailure: (error: unknown) => void;
  readonly #onSlotsUnsaved: (error: unknown) => void;
  /** Messages that were executed; none is executed twice. */
  readonly #used = new SlotMemory<true>();
  /** Transactions whose signatures were verified in a simulation: a client usually sends the same bytes next. */
  readonly #verified = new SlotMemory<true>();
  /** Recently landed transactions, by signature: the ones that clients ask about. */
  readonly #recent = new SlotMemory<Status>();
  #batch: Batch | null = null;
  #failed = false;
  #slotsUnsaved = false;

  constructor(options: {
    readonly store: ChainStore;
    readonly clock: SlotClock;
    readonly machine: VirtualMachine;
    /** The disk rejected a commit. Memory is ahead of it, so no more calls may be answered. */
    readonly onFailure: (error: unknown) => void;
    /** The current slot could not be saved; reported once, until saving works again. */
    readonly onSlotsUnsaved?: (error: unknown) => void;
  }) {
    this.store = options.store;
    this.clock = options.clock;
    this.machine = options.machine;
    this.#onFailure = options.onFailure;
    this.#onSlotsUnsaved = options.onSlotsUnsaved ?? (() => undefined);
    this.balances = new BalanceReader(this.machine, tokenPrograms);
    this.faucetKey = SolanaKey.fromSeed(this.store.identity.faucetSeed);
    for (const [address, state] of this.store.accounts()) this.machine.place(address, state);
    for (const { wire, slot } of this.store.since(this.clock.slot - BLOCKHASH_LIFETIME)) {
      this.#used.note(messageKey(readTransaction(wire)), slot, true);
    }
    this.#beginSlot();
  }

  /** Creates accounts without a transaction: the initial accounts of a chain. */
  endow(accounts: ReadonlyMap<string, AccountState>): void {
    this.store.commit({ slot: this.clock.slot, unixTime: this.clock.unixTime, transactions: [], accounts });
    for (const [key, state] of accounts) this.machine.place(Buffer.from(key, 'hex'), state);
  }

  /** Advances to the current slot. */
  tick(): void {
    if (!this.clock.advance()) return;
    this.#beginSlot();
    const oldest = this.clock.slot - BLOCKHASH_LIFETIME;
    for (const memory of [this.#used, this.#verified, this.#recent]) memory.forgetBefore(oldest);
    try {
      this.store.saveSlot(this.clock.slot, this.clock.unixTime);
      this.#slotsUnsaved = false;
    } catch (error) {
      if (error instanceof StorageFailure) {
        this.#fail(error);
        return;
      }
      // This loses no transaction: each is written with its own slot. A later save covers all slots.
      if (!this.#slotsUnsaved) this.#onSlotsUnsaved(error);
      this.#slotsUnsaved = true;
    }
  }

  #beginSlot(): void {
    const { slot } = this.clock;
    const newest = Math.min(slot, VISIBLE_SLOT_HASHES);
    this.machine.beginSlot({
      slot,
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      unixTime: this.clock.unixTime,
      recentHashes: Array.from({ length: newest }, (_, back) => {
        const of = slot - 1 - back;
        return { slot: of, hash: this.clock.blockhash(of) };
      }),
    });
  }

  /**
   * Resolves once everything executed so far is on disk; null if it already is.
   *
   * @throws RpcError once the disk has failed: the state in memory is then no longer valid
   */
  durable(): Promise<void> | null {
    this.#assertSound();
    return this.#batch?.done ?? null;
  }

  /**
   * Executes a transaction and resolves with its signature once it is on disk. As on a cluster, without preflight a
   * transaction that no block can include returns no error: its signature just never lands.
   *
   * @throws RpcError with preflight, in the shapes of the real RPC
   */
  async submit(transaction: Transaction, options: { readonly skipPreflight: boolean }): Promise<string> {
    this.#assertSound();
    const { message, signatures, bytes } = transaction;
    const [first = Buffer.alloc(0)] = signatures;
    const signature = bs58.encode(first);
    const refusal = this.#refusal(transaction);
    if (refusal) {
      if (options.skipPreflight) return signature;
      throw preflightFailure({ ...NOTHING, error: signaturesHold(transaction) ? refusal : 'SignatureFailure' });
    }
    const accounts = usedAccounts(message, this.machine);
    const before = this.balances.read(accounts);
    const execution = this.machine.execute(bytes, !this.#verified.forget(digest(bytes)));
    if (execution.error !== null && !options.skipPreflight) {
      // Preflight found the error that execution would have found: nothing happened, not even the fee.
      this.#putBack(accounts[0]?.key, before);
      throw preflightFailure(execution);
    }
    const after = this.balances.read(accounts, before);
    const landed = execution.error === null || (after.lamports[0] ?? 0) < (before.lamports[0] ?? 0);
    if (!landed) return signature;
    const record: TransactionRecord = {
      signature: first,
      slot: this.clock.slot,
      blockTime: this.clock.unixTime,
      wire: bytes,
      error: execution.error === null ? null : JSON.stringify(execution.error),
      outcome: outcomeJson(accounts, before, after, execution),
    };
    this.#used.note(messageKey(transaction), record.slot, true);
    this.#recent.note(signature, record.slot, { slot: record.slot, error: record.error });
    await this.#persist(record, before, after);
    return signature;
  }

  #putBack(payer: Buffer | undefined, before: Balances): void {
    const state = payer && before.writable.get(payer.toString('hex'));
    if (state) this.machine.place(payer, state);
  }

  #persist(record: TransactionRecord, before: Balances, after: Balances): Promise<void> {
    this.#batch ??= this.#newBatch();
    this.#batch.transactions.push(record);
    for (const [key, state] of after.writable) {
      // A writable account may be unchanged, or not worth storing, such as the clock and programs.
      if (!sameState(before.writable.get(key) ?? null, state)) this.#batch.accounts.set(key, state);
    }
    return this.#batch.done;
  }

  /** Written once this turn of the event loop has read every request that had arrived, so they share one sync. */
  #newBatch(): Batch {
    const done = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        try {
          this.flush();
          // A stop may have tried to write before and failed; then this batch is not on disk either.
          this.#assertSound();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    done.catch(() => {});
    return { transactions: [], accounts: new Map(), done };
  }

  /** Writes everything that is still unwritten. */
  flush(): void {
    const batch = this.#batch;
    if (!batch) return;
    this.#batch = null;
    try {
      this.#assertSound();
      this.store.commit({ slot: this.clock.slot, unixTime: this.clock.unixTime, ...batch });
    } catch (error) {
      this.#fail(error);
      throw internalError();
    }
  }

  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#onFailure(error);
  }

  #assertSound(): void {
    if (this.#failed) throw internalError();
  }

  /** Executes without effect. */
  simulate(transaction: Transaction, options: SimulationOptions): SimulatedExecution {
    this.#assertSound();
    const execution = this.machine.simulate(transaction.bytes, options.checkSignatures);
    if (execution.error === 'SignatureFailure') throw signatureFailure();
    const refusal = this.#refusal(transaction);
    if (options.checkSignatures && execution.error === null && !refusal) {
      this.#verified.note(digest(transaction.bytes), this.clock.slot, true);
    }
    if (!refusal || (refusal === 'BlockhashNotFound' && options.replaceBlockhash)) return execution;
    return { ...NOTHING, error: refusal, accounts: () => new Map() };
  }

  /** Why no block can include the transaction, whatever it does. */
  #refusal(transaction: Transaction): 'BlockhashNotFound' | 'AlreadyProcessed' | null {
    if (this.clock.slotOf(transaction.message.blockhash) === null) return 'BlockhashNotFound';
    return this.#used.has(messageKey(transaction)) ? 'AlreadyProcessed' : null;
  }

  /**
   * The outcome of a transaction that landed recently; null if only the store can tell. Like every other answer, it may
   * be sent only once `durable` has resolved.
   */
  recentStatus(signature: string): Status | null {
    return this.#recent.get(signature) ?? null;
  }

  transaction(signature: Buffer): StoredTransaction | null {
    return this.store.transaction(signature);
  }
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64');
const messageKey = ({ message }: Transaction): string => digest(message.bytes);

const sameState = (a: AccountState | null, b: AccountState | null): boolean =>
  a === b ||
  (a !== null && b !== null && a.lamports === b.lamports && a.owner.equals(b.owner) && a.data.equals(b.data));

const signaturesHold = ({ signatures, message }: Transaction): boolean =>
  signatures.every((signature, index) =>
    verifySignature(message.accounts[index] ?? Buffer.alloc(0), message.bytes, signature),
  );

const internalError = () => new RpcError(RPC_CODES.internal, 'Internal error: the chain could not be written to disk');

const signatureFailure = () => new RpcError(RPC_CODES.signatureFailure, 'Transaction signature verification failure');

function preflightFailure({ error, logs, computeUnits }: Execution): RpcError {
  if (error === 'SignatureFailure') return signatureFailure();
  const words = errorInWords(error as TransactionErrorJson);
  return new RpcError(RPC_CODES.preflightFailure, `Transaction simulation failed: ${words}`, {
    accounts: null,
    err: error,
    innerInstructions: null,
    loadedAccountsDataSize: 0,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: computeUnits,
  });
}
