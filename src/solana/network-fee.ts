/** What the cluster charges the fee payer for one transaction, whether it succeeds or fails. */
import { DEFAULT_UNITS_PER_INSTRUCTION, MOST_UNITS } from './verify-transaction.ts';
import { readInstruction } from './verify-transaction-instructions.ts';
import { decodeTransaction } from './verify-transaction-wire.ts';

export const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO = 1_000_000n;

/** Lamports: for each signature, and for the requested priority. 0 for bytes that are not a transaction. */
export function networkFeeOf(wire: Buffer): bigint {
  const transaction = decodeTransaction(wire);
  if ('fault' in transaction) return 0n;
  const instructions = transaction.instructions.map(readInstruction);
  let units = BigInt(Math.min(MOST_UNITS, DEFAULT_UNITS_PER_INSTRUCTION * instructions.length));
  let microLamports = 0n;
  for (const instruction of instructions) {
    if (instruction.kind === 'compute-limit') units = BigInt(instruction.units);
    if (instruction.kind === 'compute-price') microLamports = instruction.microLamports;
  }
  const priority = (microLamports * units + MICRO - 1n) / MICRO;
  return LAMPORTS_PER_SIGNATURE * BigInt(transaction.requiredSignatures) + priority;
}
