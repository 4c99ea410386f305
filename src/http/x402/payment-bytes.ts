/** Decodes a payment, in any of the encodings that clients use. */
import { decodeTransaction, MAX_TRANSACTION_BYTES } from '../../solana/verify-transaction-wire.ts';

/**
 * The bytes of base64, in either alphabet of RFC 4648, with or without padding. Each encoding must be canonical: mixed
 * alphabets, wrong padding, spaces and leftover bits are rejected.
 * @returns null for anything else
 */
export function readBase64(text: string): Buffer | null {
  const digits = text.replace(/={1,2}$/, '');
  if (digits.length !== text.length && text.length % 4 !== 0) return null;
  const bytes = Buffer.from(digits, 'base64');
  const isCanonical =
    bytes.toString('base64url') === digits || bytes.toString('base64').replace(/={1,2}$/, '') === digits;
  return isCanonical ? bytes : null;
}

/**
 * The bytes of a text that is base58 or base64; many texts are valid in both. The reading that decodes to a transaction
 * wins, base64 first. If neither does, the base64 reading is returned and the caller rejects it.
 * @returns null if the text is neither
 */
export function readTransactionText(text: string): Buffer | null {
  const inBase64 = readBase64(text);
  if (!maybeBase58(text) || (inBase64 && isTransaction(inBase64))) return inBase64;
  const inBase58 = base58Bytes(text);
  return isTransaction(inBase58) ? inBase58 : inBase64;
}

const isTransaction = (bytes: Buffer): boolean => {
  const decoded = decodeTransaction(bytes);
  return !('fault' in decoded) || decoded.fault !== 'could_not_be_decoded';
};

const BASE58_DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** No transaction starts with a zero byte, which a leading `1` stands for. */
const BASE58 = new RegExp(`^[${BASE58_DIGITS.slice(1)}][${BASE58_DIGITS}]*$`);
/** For the longest transaction: a byte takes 1.366 characters. */
const MAX_BASE58_LENGTH = Math.ceil(MAX_TRANSACTION_BYTES * 1.366);
/** As many digits as a double holds exactly. */
const CHUNK = 9;

const maybeBase58 = (text: string): boolean => text.length <= MAX_BASE58_LENGTH && BASE58.test(text);

/** Decoding digit by digit, as libraries do, takes 8 ms for the longest text and would delay all other callers. */
function base58Bytes(text: string): Buffer {
  let value = 0n;
  for (let start = 0; start < text.length; start += CHUNK) {
    const digits = text.slice(start, start + CHUNK);
    let chunk = 0;
    for (const digit of digits) chunk = chunk * 58 + BASE58_DIGITS.indexOf(digit);
    value = value * 58n ** BigInt(digits.length) + BigInt(chunk);
  }
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
