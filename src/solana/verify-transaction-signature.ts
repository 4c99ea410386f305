/**
 * Verifies Ed25519 signatures as the cluster does: OpenSSL through `node:crypto`, without the weak keys for which one
 * signature fits every message.
 */
import { type KeyObject, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { publicKeyOf } from '../runtime/ed25519.ts';

/**
 * Points of small order, with the sign bit cleared. Under such a key one signature fits every message. OpenSSL accepts
 * them, the cluster does not.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

function isSmallOrder(point: Buffer): boolean {
  const masked = Buffer.from(point);
  masked.writeUInt8(masked.readUInt8(31) & 0x7f, 31);
  return SMALL_ORDER.has(masked.toString('hex'));
}

/** Creating a key object costs a third of a verification, and a wallet that pays once often pays again. */
const REMEMBERED_KEYS = 1_000;
const keys = new Map<string, KeyObject | null>();

function keyOf(publicKey: Buffer): KeyObject | null {
  const id = publicKey.toString('latin1');
  const known = keys.get(id);
  if (known !== undefined) return known;
  const key = makeKey(publicKey);
  if (keys.size >= REMEMBERED_KEYS) keys.clear();
  keys.set(id, key);
  return key;
}

function makeKey(publicKey: Buffer): KeyObject | null {
  if (isSmallOrder(publicKey)) return null;
  try {
    return publicKeyOf(publicKey);
  } catch {
    return null;
  }
}

const verifyAside = promisify(verify);

/**
 * Whether a signature (64 bytes) of a message is valid for a public key (32 bytes). Never throws. Runs on Node's thread
 * pool, which leaves a fifteenth of the time to the main thread.
 */
export async function isSignedBy(publicKey: Buffer, message: Buffer, signature: Buffer): Promise<boolean> {
  if (isSmallOrder(signature.subarray(0, 32))) return false;
  const key = keyOf(publicKey);
  if (!key) return false;
  try {
    return await verifyAside(null, message, key, signature);
  } catch {
    return false;
  }
}
