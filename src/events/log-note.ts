/**
 * A head of the log as text that others can check: a checkpoint (c2sp.org/tlog-checkpoint) in a signed note
 * (c2sp.org/signed-note). Pure (docs/design/audit.md#heads).
 */
import { hash, sign, verify } from 'node:crypto';
import { privateKeyOf, publicBytesOf, publicKeyOf } from '../runtime/ed25519.ts';

/** What a head claims: the log's first `size` events have this root. */
export interface HeadClaim {
  readonly size: number;
  /** 64 lower-case hex characters. */
  readonly root: string;
}

/** A head with its signature, as `LogHeadRecorded` holds both. */
export interface SignedHead extends HeadClaim {
  /** Ed25519 over the note's text, 64 bytes, base64. */
  readonly signature: string;
}

/** The key that signs heads. */
export interface HeadKey {
  /** Ed25519, 32 bytes, base64: as `LogHeadKeyIntroduced` holds it. */
  readonly publicKey: string;
  /** Ed25519 over the note's text, 64 bytes, base64. */
  signHead(head: HeadClaim, logId: string): string;
}

/** A note as it was parsed. Its signature is not verified. */
export interface ParsedNote extends SignedHead {
  readonly logId: string;
  /** The first 4 bytes of the hash of the key's name and value: 8 hex characters. It only says which key to try. */
  readonly keyHash: string;
}

const ORIGIN = 'docket-log/';
/** The type of Ed25519 among the signatures of notes. */
const ED25519 = Buffer.of(1);
const KEY_HASH_BYTES = 4;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The log's name in notes: the first line of each, and the name of its keys. */
const noteNameOf = (logId: string): string => `${ORIGIN}${logId}`;

/** The text that a signature covers. */
export const noteTextOf = ({ size, root }: HeadClaim, logId: string): string =>
  `${noteNameOf(logId)}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`;

/** @param seed 32 bytes */
export function headKeyOf(seed: Uint8Array): HeadKey {
  const privateKey = privateKeyOf(seed);
  return {
    publicKey: publicBytesOf(privateKey).toString('base64'),
    signHead: (head, logId) => sign(null, Buffer.from(noteTextOf(head, logId)), privateKey).toString('base64'),
  };
}

/** Whether this key signed this head of this log. False for a key or a signature of another length. */
export function verifyHeadSignature(head: SignedHead, logId: string, publicKey: string): boolean {
  const key = bytesOf(publicKey, KEY_BYTES);
  const signature = bytesOf(head.signature, SIGNATURE_BYTES);
  if (!key || !signature) return false;
  return verify(null, Buffer.from(noteTextOf(head, logId)), publicKeyOf(key), signature);
}

/** The whole note: text, empty line, signature. */
export function signedNote(head: SignedHead, logId: string, publicKey: string): string {
  const signature = Buffer.concat([keyHashOf(logId, publicKey), Buffer.from(head.signature, 'base64')]);
  return `${noteTextOf(head, logId)}\n— ${noteNameOf(logId)} ${signature.toString('base64')}\n`;
}

/** The public key as programs for signed notes take it: `name+hash+key`. */
export const verifierKeyOf = (logId: string, publicKey: string): string =>
  `${noteNameOf(logId)}+${keyHashOf(logId, publicKey).toString('hex')}+${typedKeyOf(publicKey).toString('base64')}`;

/** Reads a key that `verifierKeyOf` wrote; null for any other text. The public key is base64. */
export function parseVerifierKey(text: string): { readonly logId: string; readonly publicKey: string } | null {
  const [, logId, typed] = VERIFIER_KEY.exec(text) ?? [];
  const bytes = typed && bytesOf(typed, 1 + KEY_BYTES);
  if (!logId || !bytes) return null;
  const publicKey = bytes.toString('base64', 1);
  return verifierKeyOf(logId, publicKey) === text ? { logId, publicKey } : null;
}

const VERIFIER_KEY = /^docket-log\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\+[0-9a-f]{8}\+([A-Za-z0-9+/]+={0,2})$/;

/** Reads a note that `signedNote` wrote, and no other text; null for any other. Others' signatures may follow ours. */
export function parseSignedNote(text: string): ParsedNote | null {
  const parts = NOTE.exec(text);
  if (!parts) return null;
  const [, logId, size, root64, signatures] = parts as unknown as [string, string, string, string, string];
  const root = bytesOf(root64, KEY_BYTES);
  const ours = signatures.split('\n').find((line) => line.startsWith(`— ${noteNameOf(logId)} `));
  const signature = ours && bytesOf(ours.slice(ours.lastIndexOf(' ') + 1), KEY_HASH_BYTES + SIGNATURE_BYTES);
  if (!root || !signature || !Number.isSafeInteger(Number(size))) return null;
  return {
    logId,
    size: Number(size),
    root: root.toString('hex'),
    keyHash: signature.toString('hex', 0, KEY_HASH_BYTES),
    signature: signature.toString('base64', KEY_HASH_BYTES),
  };
}

/** Whether a note names this key. It proves nothing: `verifyHeadSignature` does. */
export const isNoteKey = ({ logId, keyHash }: ParsedNote, publicKey: string): boolean =>
  keyHashOf(logId, publicKey).toString('hex') === keyHash;

const NOTE =
  /^docket-log\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\n([1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n((?:— [^\s+]+ [A-Za-z0-9+/]+={0,2}\n){1,16})$/;

const typedKeyOf = (publicKey: string): Buffer => Buffer.concat([ED25519, Buffer.from(publicKey, 'base64')]);

const keyHashOf = (logId: string, publicKey: string): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from(`${noteNameOf(logId)}\n`), typedKeyOf(publicKey)]), 'buffer').subarray(
    0,
    KEY_HASH_BYTES,
  );

/** The bytes of canonical base64 of exactly this length; null for any other text. */
function bytesOf(base64: string, length: number): Buffer | null {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length === length && bytes.toString('base64') === base64 ? bytes : null;
}
