/** The effects of a transaction, stored next to its bytes: enough to answer `getTransaction`, built only on request. */
import type { AccountState, Execution, VirtualMachine } from './virtual-machine.ts';
import { isWritable, type Message, readTransaction } from './wire.ts';

/** An account that a message uses, in the order that instructions index. */
export interface UsedAccount {
  readonly key: Buffer;
  readonly writable: boolean;
  /** From a lookup table. */
  readonly loaded: boolean;
}

/** Balance of a token account; keys in base64. */
export interface TokenAmount {
  readonly index: number;
  readonly mint: string;
  readonly owner: string;
  readonly program: string;
  readonly amount: string;
  readonly decimals: number;
}

export interface Balances {
  readonly lamports: readonly number[];
  readonly tokens: readonly TokenAmount[];
  /** State of the writable accounts; null if there is none. */
  readonly writable: ReadonlyMap<string, AccountState | null>;
}

/** Stored as JSON; binary values in base64. */
export interface Outcome {
  readonly fee: number;
  readonly units: number;
  readonly logs: readonly string[];
  readonly inner: readonly { readonly index: number; readonly instructions: readonly InnerOutcome[] }[];
  readonly returned: { readonly program: string; readonly data: string } | null;
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly tokensBefore: readonly TokenAmount[];
  readonly tokensAfter: readonly TokenAmount[];
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
}

export interface InnerOutcome {
  readonly program: number;
  readonly accounts: readonly number[];
  readonly data: string;
  readonly height: number;
}

const TOKEN_ACCOUNT_BYTES = 165;
const TABLE_HEADER_BYTES = 56;
const KEY_BYTES = 32;

/** Whether an account of a token program holds a token balance, and is not a mint or a multisig. */
export function isTokenAccount({ data }: AccountState): boolean {
  // After its 165 bytes, a Token-2022 account holds its account type; 355 bytes are a multisig.
  return data.length === TOKEN_ACCOUNT_BYTES || (data.length > TOKEN_ACCOUNT_BYTES && data[TOKEN_ACCOUNT_BYTES] === 2);
}

/** The accounts of a message, including those of its lookup tables. Entries missing from a table are omitted. */
export function usedAccounts(message: Message, machine: VirtualMachine): readonly UsedAccount[] {
  const own = message.accounts.map((key, index) => ({ key, writable: isWritable(message, index), loaded: false }));
  if (message.lookups.length === 0) return own;
  const loaded = (writable: boolean): UsedAccount[] =>
    message.lookups.flatMap((lookup) => {
      const table = machine.account(lookup.table)?.data ?? Buffer.alloc(0);
      return [...(writable ? lookup.writable : lookup.readonly)].flatMap((place) => {
        const at = TABLE_HEADER_BYTES + place * KEY_BYTES;
        return at + KEY_BYTES <= table.length
          ? [{ key: table.subarray(at, at + KEY_BYTES), writable, loaded: true }]
          : [];
      });
    });
  return [...own, ...loaded(true), ...loaded(false)];
}

/** Reads balances of a transaction's accounts; reads all of them only for the writable ones. */
export class BalanceReader {
  readonly #machine: VirtualMachine;
  readonly #tokenPrograms: readonly Buffer[];
  readonly #decimals = new Map<string, number>();

  constructor(machine: VirtualMachine, tokenPrograms: readonly Buffer[]) {
    this.#machine = machine;
    this.#tokenPrograms = tokenPrograms;
  }

  /** @param before the balances before the transaction: those of read-only accounts have not changed */
  read(accounts: readonly UsedAccount[], before?: Balances): Balances {
    const writable = new Map<string, AccountState | null>();
    const tokens: TokenAmount[] = [];
    const lamports = accounts.map((used, index) => {
      if (!used.writable) return before?.lamports[index] ?? this.#machine.lamports(used.key);
      const state = this.#machine.account(used.key);
      writable.set(used.key.toString('hex'), state);
      if (!state) return 0;
      const amount = this.#tokenAmount(index, state);
      if (amount) tokens.push(amount);
      return state.lamports;
    });
    return { lamports, tokens, writable };
  }

  #tokenAmount(index: number, state: AccountState): TokenAmount | null {
    if (!isTokenAccount(state)) return null;
    if (!this.#tokenPrograms.some((program) => program.equals(state.owner))) return null;
    const mint = state.data.subarray(0, KEY_BYTES);
    const decimals = this.decimals(mint);
    if (decimals === null) return null;
    return {
      index,
      mint: mint.toString('base64'),
      owner: state.data.subarray(KEY_BYTES, 2 * KEY_BYTES).toString('base64'),
      program: state.owner.toString('base64'),
      amount: state.data.readBigUInt64LE(2 * KEY_BYTES).toString(),
      decimals,
    };
  }

  /** Decimals of a mint, which never change; null if it is not a mint. */
  decimals(mint: Buffer): number | null {
    const key = mint.toString('latin1');
    const known = this.#decimals.get(key);
    if (known !== undefined) return known;
    const state = this.#machine.account(mint);
    if (!state || !this.#tokenPrograms.some((program) => program.equals(state.owner))) return null;
    const decimals = state.data[44];
    if (decimals === undefined) return null;
    // A Token-2022 mint can be closed and recreated with other decimals; a mint of the classic program cannot.
    if (state.owner.equals(this.#tokenPrograms[0] ?? mint)) this.#decimals.set(key, decimals);
    return decimals;
  }
}

export function outcomeJson(
  accounts: readonly UsedAccount[],
  before: Balances,
  after: Balances,
  execution: Execution,
): string {
  const sum = (lamports: readonly number[]) => lamports.reduce((total, each) => total + each, 0);
  const loaded = accounts.filter((used) => used.loaded);
  const outcome: Outcome = {
    // Fees are burnt, and nothing else leaves a transaction's accounts.
    fee: sum(before.lamports) - sum(after.lamports),
    units: execution.computeUnits,
    logs: execution.logs,
    inner: innerOutcomes(execution),
    returned: execution.returned && {
      program: execution.returned.program.toString('base64'),
      data: execution.returned.data.toString('base64'),
    },
    before: before.lamports,
    after: after.lamports,
    tokensBefore: before.tokens,
    tokensAfter: after.tokens,
    loaded: {
      writable: loaded.filter((used) => used.writable).map(({ key }) => key.toString('base64')),
      readonly: loaded.filter((used) => !used.writable).map(({ key }) => key.toString('base64')),
    },
  };
  return JSON.stringify(outcome);
}

/** Every account that a stored transaction names, directly or through a lookup table. */
export function mentionedIn(wire: Buffer, outcome: string): readonly Buffer[] {
  const { message } = readTransaction(wire);
  if (message.lookups.length === 0) return message.accounts;
  const { loaded } = JSON.parse(outcome) as Outcome;
  const fromTables = [...loaded.writable, ...loaded.readonly].map((key) => Buffer.from(key, 'base64'));
  return [...message.accounts, ...fromTables];
}

/** Inner instructions, for the instructions that made any. */
export function innerOutcomes({ innerInstructions }: Execution): Outcome['inner'] {
  return innerInstructions.flatMap((list, index) =>
    list.length
      ? [
          {
            index,
            instructions: list.map(({ programIndex, accounts, data, stackHeight }) => ({
              program: programIndex,
              accounts: [...accounts],
              data: data.toString('base64'),
              height: stackHeight,
            })),
          },
        ]
      : [],
  );
}
