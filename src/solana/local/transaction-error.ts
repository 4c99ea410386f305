/** The runtime's errors as a cluster's RPC writes them: `"BlockhashNotFound"`, `{"InstructionError":[2,{"Custom":1}]}`. */
import type { FailedTransactionMetadata } from 'litesvm/dist/internal.js';

/** A transaction error in the RPC's JSON. */
export type TransactionErrorJson = string | { readonly [name: string]: unknown };

/** In the order of LiteSVM's `TransactionErrorFieldless`, which returns indexes into this list. */
const TRANSACTION_ERRORS = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
] as const;

/** In the order of LiteSVM's `InstructionErrorFieldless`. */
const INSTRUCTION_ERRORS = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
] as const;

/** The error of a failed transaction in the RPC's form. */
export function errorJson(failed: FailedTransactionMetadata): TransactionErrorJson {
  const error = failed.err();
  if (typeof error === 'number') return TRANSACTION_ERRORS[error] ?? 'SanitizeFailure';
  if ('err' in error) return { InstructionError: [error.index, instructionError(error.err())] };
  if ('index' in error) return { DuplicateInstruction: error.index };
  const { accountIndex } = error;
  return error.constructor.name === 'TransactionErrorInsufficientFundsForRent'
    ? { InsufficientFundsForRent: { account_index: accountIndex } }
    : { ProgramExecutionTemporarilyRestricted: { account_index: accountIndex } };
}

function instructionError(error: number | { readonly code: number } | { readonly msg: string }): unknown {
  if (typeof error === 'number') return INSTRUCTION_ERRORS[error] ?? 'GenericError';
  return 'code' in error ? { Custom: error.code } : 'BorshIoError';
}

const IN_WORDS: Readonly<Record<string, string>> = {
  BlockhashNotFound: 'Blockhash not found',
  AlreadyProcessed: 'This transaction has already been processed',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  SignatureFailure: 'Transaction did not pass signature verification',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  AccountLoadedTwice: 'Account loaded twice',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  AddressLookupTableNotFound: 'Transaction loads an address table account that doesn’t exist',
};

/** The error as a sentence, as used in the RPC's messages. */
export function errorInWords(error: TransactionErrorJson): string {
  if (typeof error === 'string') return IN_WORDS[error] ?? error;
  if (Array.isArray(error.InstructionError)) {
    const [index, cause] = error.InstructionError as [number, unknown];
    const custom = (cause as { Custom?: number } | null)?.Custom;
    const words = custom === undefined ? String(cause) : `custom program error: 0x${custom.toString(16)}`;
    return `Error processing Instruction ${index}: ${words}`;
  }
  return JSON.stringify(error);
}
