/**
 * Parses a transaction's bytes as strictly as the cluster does: one form for each transaction, no trailing bytes. Total
 * on any bytes: a fault is returned as a value.
 */

/** The size limit of a network packet: no cluster accepts a longer transaction. */
export const MAX_TRANSACTION_BYTES = 1232;
export const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;

export interface WireInstruction {
  readonly programId: Buffer;
  readonly accounts: readonly Buffer[];
  readonly data: Buffer;
}

export interface WireTransaction {
  readonly version: 'legacy' | 0;
  /** One for each required signer, in the order of `accounts`; all zero if still missing. */
  readonly signatures: readonly Buffer[];
  /** The signed bytes; the claim key is their hash. */
  readonly message: Buffer;
  readonly requiredSignatures: number;
  /** Accounts named in the message itself; signers first, the fee payer at 0. */
  readonly accounts: readonly Buffer[];
  readonly blockhash: Buffer;
  readonly instructions: readonly WireInstruction[];
}

export type WireFault =
  /** Not the bytes of a transaction. */
  | 'could_not_be_decoded'
  /** A transaction of a version that this service does not support. */
  | 'unsupported_version'
  /** It names accounts by lookup tables, so its bytes do not show all its accounts. */
  | 'address_lookup_tables';

class Malformed extends Error {}

class Reader {
  private offset = 0;
  constructor(private readonly bytes: Buffer) {}

  get position(): number {
    return this.offset;
  }

  get atEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  peek(): number {
    const byte = this.bytes[this.offset];
    if (byte === undefined) throw new Malformed();
    return byte;
  }

  byte(): number {
    const byte = this.peek();
    this.offset++;
    return byte;
  }

  take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.bytes.length) throw new Malformed();
    const taken = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return taken;
  }

  /** Solana's short vector length: at most three bytes of seven bits, only in the shortest form. */
  length(): number {
    let value = 0;
    for (let index = 0; index < 3; index++) {
      const byte = this.byte();
      value |= (byte & 0x7f) << (7 * index);
      if ((byte & 0x80) === 0) {
        if (byte === 0 && index > 0) throw new Malformed();
        if (value > 0xffff) throw new Malformed();
        return value;
      }
    }
    throw new Malformed();
  }

  list<T>(read: () => T): T[] {
    const count = this.length();
    // Every item has at least one byte, so a count that cannot fit is rejected before anything is allocated.
    if (count > this.bytes.length - this.offset) throw new Malformed();
    return Array.from({ length: count }, read);
  }
}

/** Reads a transaction, or returns why its bytes cannot be a payment. */
export function decodeTransaction(wire: Buffer): WireTransaction | { readonly fault: WireFault } {
  if (wire.length > MAX_TRANSACTION_BYTES) return { fault: 'could_not_be_decoded' };
  try {
    return read(wire);
  } catch (error) {
    if (error instanceof Malformed) return { fault: 'could_not_be_decoded' };
    throw error;
  }
}

function read(wire: Buffer): WireTransaction | { readonly fault: WireFault } {
  const reader = new Reader(wire);
  const signatures = reader.list(() => reader.take(SIGNATURE_BYTES));
  const message = wire.subarray(reader.position);
  // The first bit distinguishes a version from the signer count at the start of a legacy message.
  const versioned = (reader.peek() & 0x80) !== 0;
  if (versioned && (reader.byte() & 0x7f) !== 0) return { fault: 'unsupported_version' };

  const requiredSignatures = reader.byte();
  const readonlySigned = reader.byte();
  const readonlyUnsigned = reader.byte();
  const accounts = reader.list(() => reader.take(KEY_BYTES));
  const blockhash = reader.take(KEY_BYTES);
  const compiled = reader.list(() => ({
    program: reader.byte(),
    accounts: reader.list(() => reader.byte()),
    data: reader.take(reader.length()),
  }));
  if (versioned && reader.length() !== 0) return { fault: 'address_lookup_tables' };
  if (!reader.atEnd) throw new Malformed();

  const sane =
    signatures.length === requiredSignatures &&
    requiredSignatures > readonlySigned &&
    requiredSignatures + readonlyUnsigned <= accounts.length &&
    new Set(accounts.map((account) => account.toString('latin1'))).size === accounts.length;
  if (!sane) throw new Malformed();

  const accountAt = (index: number): Buffer => {
    const account = accounts[index];
    if (!account) throw new Malformed();
    return account;
  };
  const instructions = compiled.map(({ program, accounts: indexes, data }) => {
    // The runtime never runs the fee payer as a program.
    if (program === 0) throw new Malformed();
    return { programId: accountAt(program), accounts: indexes.map(accountAt), data };
  });
  return {
    version: versioned ? 0 : 'legacy',
    signatures,
    message,
    requiredSignatures,
    accounts,
    blockhash,
    instructions,
  };
}
