/** The fee that a transaction charges its fee payer: a base fee for each signature and a price for compute units. */
import { addressBytes, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../addresses.ts';
import type { Message } from './wire.ts';

const LAMPORTS_PER_SIGNATURE = 5_000;
const UNITS_PER_INSTRUCTION = 200_000;
const UNITS_PER_BUILTIN = 3_000;
const MOST_UNITS = 1_400_000;
const MICRO_LAMPORTS = 1_000_000n;

const bytesOf = (address: string): Buffer => Buffer.from(addressBytes(address) ?? []);
const computeBudget = bytesOf(COMPUTE_BUDGET_PROGRAM);
const builtins = [computeBudget, bytesOf(SYSTEM_PROGRAM)];

/** Lamports. */
export function feeOf(message: Message): number {
  let limit: number | null = null;
  let price = 0n;
  let defaultLimit = 0;
  for (const { programIndex, data } of message.instructions) {
    const program = message.accounts[programIndex] ?? Buffer.alloc(0);
    defaultLimit += builtins.some((builtin) => builtin.equals(program)) ? UNITS_PER_BUILTIN : UNITS_PER_INSTRUCTION;
    if (!program.equals(computeBudget)) continue;
    if (data[0] === 2 && data.length >= 5) limit = data.readUInt32LE(1);
    if (data[0] === 3 && data.length >= 9) price = data.readBigUInt64LE(1);
  }
  const units = BigInt(Math.min(limit ?? defaultLimit, MOST_UNITS));
  const priority = (units * price + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return LAMPORTS_PER_SIGNATURE * message.requiredSignatures + Number(priority);
}
