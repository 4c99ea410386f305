/** Reads the few kinds of instructions that a payment may contain from their bytes; any other kind is rejected. */
import bs58 from 'bs58';
import type { WireInstruction } from './verify-transaction-wire.ts';

const program = (address: string): Buffer => Buffer.from(bs58.decode(address));

const SYSTEM_PROGRAM = Buffer.alloc(32);
const TOKEN_PROGRAM = program('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_2022_PROGRAM = program('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const ASSOCIATED_TOKEN_PROGRAM = program('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const COMPUTE_BUDGET_PROGRAM = program('ComputeBudget111111111111111111111111111111');
const MEMO_PROGRAM = program('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const LIGHTHOUSE_PROGRAM = program('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

const SYSTEM_ADVANCE_NONCE = 4;
const TOKEN_TRANSFER = 3;
const TOKEN_TRANSFER_CHECKED = 12;
const ASSOCIATED_TOKEN_CREATE_IDEMPOTENT = 1;
const COMPUTE_UNIT_LIMIT = 2;
const COMPUTE_UNIT_PRICE = 3;

/**
 * Every Lighthouse instruction by its discriminator, in the program's numbering, and whether a payment may contain it.
 * `guard`: asserts something about the accounts that it names and changes nothing. `write`: changes an account.
 * `refused`: asserts about something that its signer does not control (a mint, a stake, a program, a tree), or names no
 * account at all. Such an assertion, e.g. about the clock, can be made to fail from outside at a chosen time. Numbers
 * missing from the table are rejected too, since the program may add instructions.
 */
export const LIGHTHOUSE_KINDS = [
  { name: 'MemoryWrite', use: 'write' },
  { name: 'MemoryClose', use: 'write' },
  { name: 'AssertAccountData', use: 'guard' },
  { name: 'AssertAccountDataMulti', use: 'guard' },
  { name: 'AssertAccountDelta', use: 'guard' },
  { name: 'AssertAccountInfo', use: 'guard' },
  { name: 'AssertAccountInfoMulti', use: 'guard' },
  { name: 'AssertMintAccount', use: 'refused' },
  { name: 'AssertMintAccountMulti', use: 'refused' },
  { name: 'AssertTokenAccount', use: 'guard' },
  { name: 'AssertTokenAccountMulti', use: 'guard' },
  { name: 'AssertStakeAccount', use: 'refused' },
  { name: 'AssertStakeAccountMulti', use: 'refused' },
  { name: 'AssertUpgradeableLoaderAccount', use: 'refused' },
  { name: 'AssertUpgradeableLoaderAccountMulti', use: 'refused' },
  { name: 'AssertSysvarClock', use: 'refused' },
  { name: 'AssertMerkleTreeAccount', use: 'refused' },
  { name: 'AssertBubblegumTreeConfigAccount', use: 'refused' },
] as const satisfies readonly { readonly name: string; readonly use: 'guard' | 'write' | 'refused' }[];

export type PaymentInstruction =
  | { readonly kind: 'compute-limit'; readonly units: number }
  /** Micro-lamports for each compute unit. */
  | { readonly kind: 'compute-price'; readonly microLamports: bigint }
  | {
      readonly kind: 'transfer';
      /** Null for a plain `Transfer`, which names neither mint nor decimals. */
      readonly checked: { readonly mint: Buffer; readonly decimals: number } | null;
      readonly source: Buffer;
      readonly destination: Buffer;
      readonly authority: Buffer;
      readonly amount: bigint;
      /** Accounts after the authority: the signers of a multisig. */
      readonly extraAccounts: number;
    }
  | { readonly kind: 'memo'; readonly text: Buffer; readonly accounts: number }
  /** A wallet's guard: fails the transaction if the state differs from what its user was shown, and changes nothing. */
  | {
      readonly kind: 'guard';
      readonly accounts: readonly Buffer[];
      /** Whether others than the wallet can make it fail, as far as it is parsed here. */
      readonly othersCanBreak: boolean;
    }
  /** A call of the guards' program that writes. */
  | { readonly kind: 'guard-write' }
  /** A call of the guards' program that is unknown, or asserts something that no payment needs. */
  | { readonly kind: 'guard-refused' }
  | {
      readonly kind: 'create-token-account';
      readonly account: Buffer;
      readonly owner: Buffer;
      readonly mint: Buffer;
      readonly tokenProgram: Buffer;
    }
  | { readonly kind: 'advance-nonce' }
  /** A transfer by the newer token program, which may carry hooks and fees. */
  | { readonly kind: 'token-2022' }
  | { readonly kind: 'unknown' };

const UNKNOWN: PaymentInstruction = { kind: 'unknown' };

/** Reads one instruction. Total: bytes without a known form are `unknown`. */
export function readInstruction(instruction: WireInstruction): PaymentInstruction {
  const { programId } = instruction;
  if (programId.equals(TOKEN_PROGRAM)) return readTransfer(instruction);
  if (programId.equals(COMPUTE_BUDGET_PROGRAM)) return readCompute(instruction);
  if (programId.equals(MEMO_PROGRAM)) {
    return { kind: 'memo', text: instruction.data, accounts: instruction.accounts.length };
  }
  if (programId.equals(LIGHTHOUSE_PROGRAM)) return readGuard(instruction);
  if (programId.equals(ASSOCIATED_TOKEN_PROGRAM)) return readCreate(instruction);
  if (programId.equals(TOKEN_2022_PROGRAM)) return { kind: 'token-2022' };
  if (programId.equals(SYSTEM_PROGRAM)) return readSystem(instruction);
  return UNKNOWN;
}

function readTransfer({ data, accounts }: WireInstruction): PaymentInstruction {
  const checked = data.length === 10 && data[0] === TOKEN_TRANSFER_CHECKED;
  const plain = data.length === 9 && data[0] === TOKEN_TRANSFER;
  if (!checked && !plain) return UNKNOWN;
  const [source, mint, destination, authority] = checked
    ? accounts
    : [accounts[0], undefined, accounts[1], accounts[2]];
  if (!source || !destination || !authority || (checked && !mint)) return UNKNOWN;
  return {
    kind: 'transfer',
    checked: mint ? { mint, decimals: data.readUInt8(9) } : null,
    source,
    destination,
    authority,
    amount: data.readBigUInt64LE(1),
    extraAccounts: accounts.length - (checked ? 4 : 3),
  };
}

function readCompute({ data, accounts }: WireInstruction): PaymentInstruction {
  if (accounts.length) return UNKNOWN;
  if (data.length === 5 && data[0] === COMPUTE_UNIT_LIMIT) {
    return { kind: 'compute-limit', units: data.readUInt32LE(1) };
  }
  if (data.length === 9 && data[0] === COMPUTE_UNIT_PRICE) {
    return { kind: 'compute-price', microLamports: data.readBigUInt64LE(1) };
  }
  return UNKNOWN;
}

function readGuard({ data, accounts }: WireInstruction): PaymentInstruction {
  const discriminator = data[0];
  if (discriminator === undefined) return UNKNOWN;
  switch (LIGHTHOUSE_KINDS[discriminator]?.use) {
    case 'guard':
      return { kind: 'guard', accounts, othersCanBreak: !isSteady(data) };
    case 'write':
      return { kind: 'guard-write' };
    default:
      return { kind: 'guard-refused' };
  }
}

/** The encoding of an assertion in a guard: one byte for its kind, then its value and one byte for the operator. */
interface SteadyAssertion {
  /** Bytes, the kind included. */
  readonly length: number;
  readonly isSteady: (assertion: Buffer) => boolean;
}

const EQUAL = 0;
const GREATER_THAN = 2;
const GREATER_THAN_OR_EQUAL = 4;
const always = () => true;
const isLowerBound = (assertion: Buffer) => [GREATER_THAN, GREATER_THAN_OR_EQUAL].includes(assertion.readUInt8(9));
const isEqual = (assertion: Buffer) => assertion.at(-1) === EQUAL;
/** `System`, the first of the programs that the guards' program has numbers for. */
const isKnownSystem = (assertion: Buffer) => assertion[1] === 0 && isEqual(assertion);
const isSystem = (assertion: Buffer) => SYSTEM_PROGRAM.equals(assertion.subarray(1, 33)) && isEqual(assertion);

/**
 * Assertions that fail only by a signature of the wallet itself, by their numbers, which `lighthouse-kinds.test.ts` compares
 * with the program's own client. The others do not: anyone who sends tokens exceeds an upper bound, delegates
 * and close authorities change what they hold, and the lamports of a nonce account are its authority's to withdraw.
 */
const STEADY_OF_WALLET = new Map<number, SteadyAssertion>([
  [2, { length: 34, isSteady: isSystem }], // Owner
  [3, { length: 3, isSteady: isKnownSystem }], // KnownOwner
  [5, { length: 3, isSteady: always }], // IsSigner
  [6, { length: 3, isSteady: always }], // IsWritable
]);
const STEADY_OF_TOKENS = new Map<number, SteadyAssertion>([
  [0, { length: 34, isSteady: always }], // Mint
  [1, { length: 34, isSteady: always }], // Owner
  [2, { length: 10, isSteady: isLowerBound }], // Amount
  [4, { length: 3, isSteady: always }], // State
  [8, { length: 1, isSteady: always }], // TokenAccountOwnerIsDerived
]);
const STEADY = new Map([
  [5, { assertions: STEADY_OF_WALLET, isList: false }],
  [6, { assertions: STEADY_OF_WALLET, isList: true }],
  [9, { assertions: STEADY_OF_TOKENS, isList: false }],
  [10, { assertions: STEADY_OF_TOKENS, isList: true }],
]);

/**
 * Whether a guard fails only by what the wallet itself does. Kind, log level, in a list the number of assertions (one
 * byte below 128), then the assertions. What is not read here counts as breakable.
 */
function isSteady(data: Buffer): boolean {
  const form = STEADY.get(data[0] ?? -1);
  if (!form || data.length < 3) return false;
  let left = form.isList ? data.readUInt8(2) : 1;
  let rest = data.subarray(form.isList ? 3 : 2);
  if (left >= 128) return false;
  for (; left > 0; left--) {
    const known = form.assertions.get(rest[0] ?? -1);
    if (!known || rest.length < known.length || !known.isSteady(rest.subarray(0, known.length))) return false;
    rest = rest.subarray(known.length);
  }
  return rest.length === 0;
}

function readCreate({ data, accounts }: WireInstruction): PaymentInstruction {
  const [, account, owner, mint, system, tokenProgram] = accounts;
  const idempotent = data.length === 1 && data[0] === ASSOCIATED_TOKEN_CREATE_IDEMPOTENT;
  if (!idempotent || accounts.length !== 6) return UNKNOWN;
  if (!account || !owner || !mint || !system?.equals(SYSTEM_PROGRAM) || !tokenProgram) return UNKNOWN;
  return { kind: 'create-token-account', account, owner, mint, tokenProgram };
}

function readSystem({ data }: WireInstruction): PaymentInstruction {
  return data.length >= 4 && data.readUInt32LE(0) === SYSTEM_ADVANCE_NONCE ? { kind: 'advance-nonce' } : UNKNOWN;
}

export const isTokenProgram = (key: Buffer): boolean => key.equals(TOKEN_PROGRAM);
