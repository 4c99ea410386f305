/** Solana keys: reads, creates and stores them in the data folder, and signs with them. Ed25519 is `node:crypto`. */
import { type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import bs58 from 'bs58';
import { privateKeyOf, publicBytesOf, publicKeyOf } from '../runtime/ed25519.ts';
import { createSecretFile } from '../runtime/secret-file.ts';

/** A key could not be read. The message never contains any part of it. */
export class KeyUnreadable extends Error {
  readonly code = 'key_unreadable';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyUnreadable';
  }
}

const SEED_BYTES = 32;
const SECRET_BYTES = 64;
const SIGNATURE_BYTES = 64;

const signAside = promisify(sign);

/** A key pair. The secret is a private field: no logger and no `JSON.stringify` can show it. */
export class SolanaKey {
  /** Base58. */
  readonly address: string;
  readonly publicKey: Buffer;
  readonly #seed: Buffer;
  readonly #private: KeyObject;

  private constructor(seed: Uint8Array) {
    this.#seed = Buffer.from(seed);
    this.#private = privateKeyOf(seed);
    this.publicKey = publicBytesOf(this.#private);
    this.address = bs58.encode(this.publicKey);
  }

  static fromSeed(seed: Uint8Array): SolanaKey {
    if (seed.length !== SEED_BYTES) throw new KeyUnreadable('expected a seed of 32 bytes');
    return new SolanaKey(seed);
  }

  static generate(): SolanaKey {
    return new SolanaKey(randomBytes(SEED_BYTES));
  }

  /** Ed25519 signature, 64 bytes. */
  sign(message: Uint8Array): Buffer {
    return sign(null, message, this.#private);
  }

  /** As `sign`, on Node's thread pool. */
  signAside(message: Uint8Array): Promise<Buffer> {
    return signAside(null, message, this.#private);
  }

  /** The 64 bytes (seed, then public key) that Solana's tools and clients accept. */
  secretKey(): Uint8Array {
    return Uint8Array.from(Buffer.concat([this.#seed, this.publicKey]));
  }
}

/**
 * Reads a secret key as `solana-keygen` writes it (a JSON array of 64 bytes) or in base58.
 *
 * @throws KeyUnreadable, never with a part of the key in its message
 */
export function parseKey(text: string): SolanaKey {
  const trimmed = text.trim();
  const secret = trimmed.startsWith('[') ? fromJson(trimmed) : bs58.decodeUnsafe(trimmed);
  if (!secret) throw new KeyUnreadable('expected a secret key: a JSON array of 64 bytes, or base58');
  if (secret.length !== SECRET_BYTES) {
    throw new KeyUnreadable(`expected a secret key of 64 bytes, got ${secret.length}`);
  }
  const key = SolanaKey.fromSeed(secret.subarray(0, SEED_BYTES));
  if (!key.publicKey.equals(secret.subarray(SEED_BYTES))) {
    throw new KeyUnreadable('the second half of the secret key is not the public key of the first half');
  }
  return key;
}

function fromJson(text: string): Uint8Array | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message would quote the text, which is the key.
    return null;
  }
  if (!Array.isArray(value)) return null;
  const isByte = (item: unknown) => Number.isInteger(item) && (item as number) >= 0 && (item as number) <= 255;
  return value.every(isByte) ? Uint8Array.from(value as number[]) : null;
}

/** @throws KeyUnreadable if the file is missing or does not contain a key */
export function loadKey(path: string): SolanaKey {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new KeyUnreadable(`the key file ${path} cannot be read`, { cause: error });
  }
  try {
    return parseKey(text);
  } catch (error) {
    throw new KeyUnreadable(`the key file ${path} is damaged: ${error instanceof Error ? error.message : ''}`);
  }
}

/**
 * Writes a key file as `solana-keygen` does: readable only by its owner, durable, all or nothing.
 *
 * @throws an `EEXIST` error if the file exists: a key is never overwritten
 */
export function saveKey(path: string, key: SolanaKey): void {
  createSecretFile(path, `${JSON.stringify([...key.secretKey()])}\n`);
}

/** The key stored at `path`, created on first use. Two processes that start at once get the same key. */
export function loadOrCreateKey(path: string): SolanaKey {
  try {
    saveKeyIfMissing(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return loadKey(path);
}

function saveKeyIfMissing(path: string): void {
  try {
    closeSync(openSync(path, 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    saveKey(path, SolanaKey.generate());
  }
}

/** Whether the signature of this message is valid for the public key. False for malformed input. */
export function verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== SEED_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  try {
    return verify(null, message, publicKeyOf(publicKey), signature);
  } catch {
    return false;
  }
}
