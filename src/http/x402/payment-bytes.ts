/** The bytes of a payment, in whichever of the encodings in use its client wrote them. */
import { decodeTransaction, MAX_TRANSACTION_BYTES } from '../../solana/verify-transaction-wire.ts';

/**
 * The bytes of base64, with either alphabet of RFC 4648 and with or without padding. Each encoding stays canonical: both
 * alphabets in one text, a wrong amount of padding, spaces and leftover bits are refused.
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
 * The bytes of a text that may be base58 or base64: many texts are valid in both. What decodes to a transaction decides,
 * base64 first; a text that is a transaction in neither keeps its base64 reading, which the caller then refuses.
 * @returns null where the text is neither
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
/** No transaction begins with a zero byte, which `1` in the first place stands for. */
const BASE58 = new RegExp(`^[${BASE58_DIGITS.slice(1)}][${BASE58_DIGITS}]*$`);
/** Of the longest transaction: a byte takes 1.366 characters. */
const MAX_BASE58_LENGTH = Math.ceil(MAX_TRANSACTION_BYTES * 1.366);
/** As many digits as a double holds exactly. */
const CHUNK = 9;

const maybeBase58 = (text: string): boolean => text.length <= MAX_BASE58_LENGTH && BASE58.test(text);

/** Digit by digit, as libraries decode, the longest text takes eight milliseconds: a caller could hold up all others. */
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
