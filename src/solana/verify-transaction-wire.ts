/**
 * A transaction's bytes, read as strictly as the cluster reads them: one form for each transaction, nothing left over.
 * Total on any bytes: a fault comes back as a value.
 */

/** What a network packet holds: no cluster takes a longer transaction. */
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
  /** One for each required signer, in the order of `accounts`; all zero where it is still missing. */
  readonly signatures: readonly Buffer[];
  /** What is signed, and what the claim key is the hash of. */
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
  /** A transaction, but of a version that this service does not read. */
  | 'unsupported_version'
  /** It names accounts by lookup tables, so its accounts cannot be known from its bytes. */
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

  /** Solana's short vector length: at most three bytes of seven bits, in the shortest form alone. */
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
    // Every item has at least one byte: a count that the bytes cannot hold is refused before anything is allocated.
    if (count > this.bytes.length - this.offset) throw new Malformed();
    return Array.from({ length: count }, read);
  }
}

/** Reads a transaction, or says why its bytes are none that can be paid with. */
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
  // The first bit tells a version from the signer count that a legacy message begins with.
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
