/** Ed25519 keys of 32 bytes as keys of `node:crypto`, which reads only DER (RFC 8410). */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** The fixed beginning of a private key in PKCS #8, and of a public key in SPKI. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** @param seed 32 bytes */
export const privateKeyOf = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });

/**
 * @param bytes 32 bytes
 * @throws if they are no key
 */
export const publicKeyOf = (bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: 'der', type: 'spki' });

/** The 32 bytes of the public key that belongs to a private one. */
export const publicBytesOf = (privateKey: KeyObject): Buffer =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
