/** Reads the parameters of a call; a faulty one gets the same error as from a cluster's RPC. */
import bs58 from 'bs58';
import { addressBytes } from '../addresses.ts';
import type { Commitment } from '../chain.ts';
import { invalidParameters, RPC_CODES, RpcError } from './rpc-error.ts';
import {
  MAX_TRANSACTION_BYTES,
  type Message,
  readMessage,
  readTransaction,
  SIGNATURE_BYTES,
  type Transaction,
  TransactionUnreadable,
} from './wire.ts';

export type Settings = Readonly<Record<string, unknown>>;

const COMMITMENTS: readonly unknown[] = ['processed', 'confirmed', 'finalized'];

export class Parameters {
  readonly #values: readonly unknown[];

  constructor(values: unknown) {
    if (values !== undefined && values !== null && !Array.isArray(values)) {
      throw invalidParameters('`params` should be an array');
    }
    this.#values = values ?? [];
  }

  text(index: number, name: string): string {
    const value = this.#values[index];
    if (typeof value !== 'string') throw invalidParameters(`Invalid params: ${name}: expected a string.`);
    return value;
  }

  address(index: number): Buffer {
    return addressOf(this.text(index, 'address'));
  }

  addresses(index: number, most: number): readonly Buffer[] {
    return this.texts(index, most).map(addressOf);
  }

  signature(index: number): Buffer {
    return signatureOf(this.text(index, 'signature'));
  }

  texts(index: number, most: number): readonly string[] {
    const value = this.#values[index];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      throw invalidParameters('Invalid params: expected an array of strings.');
    }
    if (value.length > most) throw invalidParameters(`Too many inputs provided; max ${most}`);
    return value;
  }

  /** An integer that is exact as a JSON number. */
  whole(index: number, name: string): number {
    return wholeNumber(this.#values[index], name);
  }

  /** An integer amount of base units, as a number or, above 2^53, as decimal text. */
  amount(index: number, name: string): bigint {
    const value = this.#values[index];
    const amount =
      typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : BigInt(wholeNumber(value, name));
    if (amount >= 2n ** 64n) throw invalidParameters(`Invalid params: ${name}: the number is too large.`);
    return amount;
  }

  settings(index: number): Settings {
    const value = this.#values[index];
    if (value === undefined || value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw invalidParameters('Invalid params: expected a configuration object.');
    }
    return value as Settings;
  }

  transaction(index: number, encoding: unknown): Transaction {
    return readAs(readTransaction, this.text(index, 'transaction'), encoding ?? 'base58');
  }

  message(index: number): Message {
    return readAs(readMessage, this.text(index, 'message'), 'base64');
  }
}

function wholeNumber(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalidParameters(`Invalid params: ${name}: expected an integer.`);
  }
  return value as number;
}

function addressOf(text: string): Buffer {
  const bytes = addressBytes(text);
  if (!bytes) throw invalidParameters(`Invalid param: ${text.length > 44 ? 'WrongSize' : 'Invalid'}`);
  return Buffer.from(bytes);
}

export function signatureOf(text: string): Buffer {
  // 64 bytes never take more than 88 characters; decoding longer text would only waste time.
  const bytes = text.length <= 88 ? bs58.decodeUnsafe(text) : undefined;
  if (bytes?.length !== SIGNATURE_BYTES) throw invalidParameters('Invalid param: Invalid');
  return Buffer.from(bytes);
}

function readAs<T>(read: (bytes: Buffer) => T, text: string, encoding: unknown): T {
  const bytes = decode(text, encoding);
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof TransactionUnreadable) throw invalidParameters(error.message);
    throw error;
  }
}

function decode(text: string, encoding: unknown): Buffer {
  if (encoding !== 'base58' && encoding !== 'base64') {
    throw invalidParameters(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
  }
  const most = encoding === 'base64' ? 1644 : 1683;
  if (text.length > most) {
    throw invalidParameters(
      `${encoding} encoded transaction too large: ${text.length} bytes (max: encoded/raw ${most}/${MAX_TRANSACTION_BYTES})`,
    );
  }
  if (encoding === 'base58') {
    const bytes = bs58.decodeUnsafe(text);
    if (!bytes) throw invalidParameters('invalid base58 encoding');
    return Buffer.from(bytes);
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw invalidParameters('invalid base64 encoding');
  return bytes;
}

/** The commitment that a call requests; a cluster's default is finalized. */
export function commitmentOf(settings: Settings): Commitment {
  const { commitment } = settings;
  if (commitment === undefined || commitment === null) return 'finalized';
  if (!COMMITMENTS.includes(commitment)) throw invalidParameters('Invalid params: unknown commitment.');
  return commitment as Commitment;
}

/** Rejects a call that requires a later slot than the current one. */
export function requireSlot(settings: Settings, slot: number): void {
  const { minContextSlot } = settings;
  if (minContextSlot === undefined || minContextSlot === null) return;
  if (wholeNumber(minContextSlot, 'minContextSlot') > slot) {
    throw new RpcError(RPC_CODES.minContextSlotNotReached, 'Minimum context slot has not been reached', {
      contextSlot: slot,
    });
  }
}
