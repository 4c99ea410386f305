/**
 * Parses a transaction's bytes as a cluster does: legacy or version 0, lookup tables included, no trailing bytes.
 * LiteSVM ends the process on bytes that it cannot decode, so everything is parsed here first.
 */

/** The size limit of a network packet. */
export const MAX_TRANSACTION_BYTES = 1232;
export const SIGNATURE_BYTES = 64;
export const KEY_BYTES = 32;

export interface CompiledInstruction {
  readonly programIndex: number;
  readonly accounts: Buffer;
  readonly data: Buffer;
}

/** Accounts that a version 0 message loads from a lookup table, by their indexes in it. */
export interface TableLookup {
  readonly table: Buffer;
  readonly writable: Buffer;
  readonly readonly: Buffer;
}

export interface Message {
  /** The signed bytes. */
  readonly bytes: Buffer;
  readonly version: 'legacy' | 0;
  readonly requiredSignatures: number;
  readonly readonlySigned: number;
  readonly readonlyUnsigned: number;
  readonly accounts: readonly Buffer[];
  readonly blockhash: Buffer;
  readonly instructions: readonly CompiledInstruction[];
  readonly lookups: readonly TableLookup[];
}

export interface Transaction {
  readonly bytes: Buffer;
  readonly signatures: readonly Buffer[];
  readonly message: Message;
}

/** The bytes are not a transaction, or not a consistent one. */
export class TransactionUnreadable extends Error {
  constructor(
    message: string,
    /** `decode`: not the bytes of a transaction. `sanitize`: a transaction whose parts contradict each other. */
    readonly kind: 'decode' | 'sanitize',
  ) {
    super(message);
    this.name = 'TransactionUnreadable';
  }
}

const undecodable = (what: string) => new TransactionUnreadable(`failed to deserialize: ${what}`, 'decode');

class Reader {
  offset = 0;
  constructor(readonly bytes: Buffer) {}

  byte(): number {
    const byte = this.bytes[this.offset++];
    if (byte === undefined) throw undecodable('the bytes end early');
    return byte;
  }

  take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.bytes.length) throw undecodable('the bytes end early');
    const part = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return part;
  }

  /** A short vector's length: seven bits per byte, at most 16 bits in total, in its shortest form. */
  length(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    const second = this.byte();
    if (second === 0) throw undecodable('a length is not in its shortest form');
    if (second < 0x80) return (first & 0x7f) | (second << 7);
    const third = this.byte();
    if (third === 0 || third > 3) throw undecodable('a length is not in its shortest form');
    return (first & 0x7f) | ((second & 0x7f) << 7) | (third << 14);
  }

  list<T>(leastBytesEach: number, read: () => T): T[] {
    const count = this.length();
    if (count * leastBytesEach > this.bytes.length - this.offset) throw undecodable('the bytes end early');
    const items: T[] = [];
    for (let index = 0; index < count; index++) items.push(read());
    return items;
  }

  end(): void {
    if (this.offset !== this.bytes.length) throw undecodable('there are trailing bytes');
  }
}

/** @throws TransactionUnreadable */
export function readTransaction(bytes: Buffer): Transaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw undecodable(`${bytes.length} bytes are too many`);
  const reader = new Reader(bytes);
  const signatures = reader.list(SIGNATURE_BYTES, () => reader.take(SIGNATURE_BYTES));
  const message = messageFrom(reader);
  if (signatures.length !== message.requiredSignatures) throw insane('the number of signatures');
  return { bytes, signatures, message };
}

/** @throws TransactionUnreadable */
export function readMessage(bytes: Buffer): Message {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw undecodable(`${bytes.length} bytes are too many`);
  return messageFrom(new Reader(bytes));
}

function messageFrom(reader: Reader): Message {
  const start = reader.offset;
  const first = reader.byte();
  const versioned = first >= 0x80;
  if (versioned && first !== 0x80) throw undecodable(`version ${first & 0x7f} is not supported`);
  const requiredSignatures = versioned ? reader.byte() : first;
  const readonlySigned = reader.byte();
  const readonlyUnsigned = reader.byte();
  const accounts = reader.list(KEY_BYTES, () => reader.take(KEY_BYTES));
  const blockhash = reader.take(KEY_BYTES);
  const instructions = reader.list(3, () => ({
    programIndex: reader.byte(),
    accounts: reader.take(reader.length()),
    data: reader.take(reader.length()),
  }));
  const lookups = versioned
    ? reader.list(KEY_BYTES + 2, () => ({
        table: reader.take(KEY_BYTES),
        writable: reader.take(reader.length()),
        readonly: reader.take(reader.length()),
      }))
    : [];
  reader.end();
  const message: Message = {
    bytes: reader.bytes.subarray(start),
    version: versioned ? 0 : 'legacy',
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    accounts,
    blockhash,
    instructions,
    lookups,
  };
  sanitize(message);
  return message;
}

const insane = (what: string) =>
  new TransactionUnreadable(`invalid transaction: Transaction failed to sanitize: ${what}`, 'sanitize');

function sanitize(message: Message): void {
  const { accounts, requiredSignatures, readonlySigned, readonlyUnsigned, lookups } = message;
  if (readonlySigned >= requiredSignatures) throw insane('there is no writable fee payer');
  if (requiredSignatures + readonlyUnsigned > accounts.length) throw insane('the header names more accounts');
  let total = accounts.length;
  for (const { writable, readonly } of lookups) {
    if (writable.length + readonly.length === 0) throw insane('a lookup names no account');
    total += writable.length + readonly.length;
  }
  if (total > 256) throw insane('there are more than 256 accounts');
  for (const { programIndex, accounts: indexes } of message.instructions) {
    if (programIndex === 0 || programIndex >= accounts.length) throw insane('a program is not among the accounts');
    if (indexes.some((index) => index >= total)) throw insane('an instruction names an unknown account');
  }
}

/** Whether the account at this index of the message itself is writable. */
export function isWritable(message: Message, index: number): boolean {
  const { requiredSignatures, readonlySigned, readonlyUnsigned, accounts } = message;
  return index < requiredSignatures
    ? index < requiredSignatures - readonlySigned
    : index < accounts.length - readonlyUnsigned;
}
