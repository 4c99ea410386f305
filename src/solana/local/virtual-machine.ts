/** LiteSVM, driven by wire bytes: executes transactions with the real runtime and programs, and holds the accounts. */
import internal, { type TransactionMetadata } from 'litesvm/dist/internal.js';
import { addressBytes, LIGHTHOUSE_PROGRAM } from '../addresses.ts';
import { succeedingProgram } from './succeeding-program.ts';
import { errorJson, type TransactionErrorJson } from './transaction-error.ts';

const { Account, Clock, FailedTransactionMetadata, LiteSvm } = internal;

export interface AccountState {
  readonly lamports: number;
  readonly owner: Buffer;
  readonly executable: boolean;
  readonly data: Buffer;
}

export interface InnerInstruction {
  readonly programIndex: number;
  readonly accounts: Buffer;
  readonly data: Buffer;
  readonly stackHeight: number;
}

/** The result of executing a transaction. */
export interface Execution {
  readonly error: TransactionErrorJson | null;
  readonly logs: readonly string[];
  readonly computeUnits: number;
  /** One list for each instruction of the message. */
  readonly innerInstructions: readonly (readonly InnerInstruction[])[];
  /** The return data of the last program; null for none. */
  readonly returned: { readonly program: Buffer; readonly data: Buffer } | null;
}

export interface SimulatedExecution extends Execution {
  /**
   * Reads the accounts that the transaction would have written, by key in hexadecimal. Lazy, since few callers need
   * them.
   */
  accounts(): ReadonlyMap<string, AccountState>;
}

export interface SlotTime {
  readonly slot: number;
  readonly epoch: number;
  /** Seconds since the Unix epoch. */
  readonly unixTime: number;
  /** Newest first. */
  readonly recentHashes: readonly { readonly slot: number; readonly hash: string }[];
}

type LiteAccount = InstanceType<typeof Account>;

/** All balances together stay below 2^53 lamports, since the chain begins with less: a balance is an exact number. */
const stateOf = (account: LiteAccount): AccountState => ({
  lamports: Number(account.lamports()),
  owner: Buffer.from(account.owner()),
  executable: account.executable(),
  data: Buffer.from(account.data()),
});

const NO_LONGER_COLLECTED = 2n ** 64n - 1n;

export class VirtualMachine {
  readonly #svm = new LiteSvm();

  constructor(options: { readonly lighthouseStandIn: boolean }) {
    // LiteSVM knows only the latest blockhash; the ledger keeps a cluster's 150 and the messages used with them.
    this.#svm.setBlockhashCheck(false);
    this.#svm.setTransactionHistory(0n);
    if (options.lighthouseStandIn) {
      const address = addressBytes(LIGHTHOUSE_PROGRAM);
      if (address) this.#svm.addProgram(address, succeedingProgram());
    }
  }

  account(key: Uint8Array): AccountState | null {
    const account = this.#svm.getAccount(key);
    return account && stateOf(account);
  }

  lamports(key: Uint8Array): number {
    return Number(this.#svm.getBalance(key) ?? 0n);
  }

  /** Puts an account in place, and overwrites an existing one. */
  place(key: Uint8Array, { lamports, owner, executable, data }: AccountState): void {
    this.#svm.setAccount(key, new Account(BigInt(lamports), data, owner, executable, NO_LONGER_COLLECTED));
  }

  rentExemption(dataBytes: number): number {
    return Number(this.#svm.minimumBalanceForRentExemption(BigInt(dataBytes)));
  }

  beginSlot({ slot, epoch, unixTime, recentHashes }: SlotTime): void {
    this.#svm.setClock(new Clock(BigInt(slot), 0n, BigInt(epoch), BigInt(epoch + 1), BigInt(unixTime)));
    this.#svm.setSlotHashes(recentHashes.map(({ slot: of, hash }) => ({ slot: BigInt(of), hash })));
    this.#svm.expireBlockhash();
  }

  /**
   * Executes and keeps the effects; for a failed transaction that is the fee. `bytes` must already be parsed as a
   * transaction.
   */
  execute(bytes: Uint8Array, checkSignatures: boolean): Execution {
    const outcome = this.#checking(checkSignatures, () => this.#svm.sendVersionedTransaction(bytes));
    if (outcome instanceof FailedTransactionMetadata) return executionOf(outcome.meta(), errorJson(outcome));
    return executionOf(outcome, null);
  }

  /** Executes without effect. `bytes` must already be parsed as a transaction. */
  simulate(bytes: Uint8Array, checkSignatures: boolean): SimulatedExecution {
    const outcome = this.#checking(checkSignatures, () => this.#svm.simulateVersionedTransaction(bytes));
    if (outcome instanceof FailedTransactionMetadata) {
      return { ...executionOf(outcome.meta(), errorJson(outcome)), accounts: () => new Map() };
    }
    const accounts = () =>
      new Map(
        outcome
          .postAccounts()
          .map((post) => [Buffer.from(post.address).toString('hex'), stateOf(post.account())] as const),
      );
    return { ...executionOf(outcome.meta(), null), accounts };
  }

  #checking<Outcome>(signatures: boolean, run: () => Outcome): Outcome {
    if (signatures) return run();
    this.#svm.setSigverify(false);
    try {
      return run();
    } finally {
      this.#svm.setSigverify(true);
    }
  }
}

function executionOf(meta: TransactionMetadata, error: TransactionErrorJson | null): Execution {
  const returned = meta.returnData();
  const data = Buffer.from(returned.data());
  return {
    error,
    logs: meta.logs(),
    computeUnits: Number(meta.computeUnitsConsumed()),
    innerInstructions: meta.innerInstructions().map((list) =>
      list.map((inner) => {
        const instruction = inner.instruction();
        return {
          programIndex: instruction.programIdIndex(),
          accounts: Buffer.from(instruction.accounts()),
          data: Buffer.from(instruction.data()),
          stackHeight: inner.stackHeight(),
        };
      }),
    ),
    returned: data.length ? { program: Buffer.from(returned.programId()), data } : null,
  };
}
