/** Builds and signs the few transactions that the chain itself sends, for its faucet. */
import { addressBytes } from '../addresses.ts';
import type { SolanaKey } from '../keys.ts';

export interface AccountUse {
  readonly address: string;
  readonly writable: boolean;
}

export interface Instruction {
  readonly program: string;
  readonly accounts: readonly AccountUse[];
  readonly data: Uint8Array;
}

function keyBytes(address: string): Uint8Array {
  const bytes = addressBytes(address);
  if (!bytes) throw new RangeError(`not a Solana address: ${address}`);
  return bytes;
}

/** Short vector length; the values here stay below 2^14. */
const length = (value: number): Buffer =>
  value < 0x80 ? Buffer.of(value) : Buffer.of((value & 0x7f) | 0x80, value >> 7);

/** A legacy transaction with one signer, who pays its fee. */
export function composeTransaction(
  payer: SolanaKey,
  instructions: readonly Instruction[],
  blockhash: Uint8Array,
): Buffer {
  const used = instructions.flatMap(({ program, accounts }) => [...accounts, { address: program, writable: false }]);
  const writable = new Set(used.filter((use) => use.writable).map((use) => use.address));
  const others = new Set(used.map((use) => use.address));
  others.delete(payer.address);
  const ordered = [
    payer.address,
    ...[...others].filter((address) => writable.has(address)),
    ...[...others].filter((address) => !writable.has(address)),
  ];
  const readonlyUnsigned = [...others].filter((address) => !writable.has(address)).length;
  const place = new Map(ordered.map((address, index) => [address, index]));
  const message = Buffer.concat([
    Buffer.of(1, 0, readonlyUnsigned),
    length(ordered.length),
    ...ordered.map(keyBytes),
    blockhash,
    length(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Buffer.of(place.get(program) ?? 0),
      length(accounts.length),
      Buffer.from(accounts.map(({ address }) => place.get(address) ?? 0)),
      length(data.length),
      data,
    ]),
  ]);
  return Buffer.concat([length(1), payer.sign(message), message]);
}
