/**
 * The master key. The secret of every signing key is derived from it, so that no secret is stored anywhere
 * (docs/design/callbacks.md#signing-keys).
 */
import { createHmac } from 'node:crypto';
import { type HeadKey, headKeyOf } from '../events/log-note.ts';

/** The inputs of a secret, besides the master key. */
export interface DerivedKey {
  /** Base58 address. */
  readonly wallet: string;
  readonly keyId: string;
  readonly masterVersion: number;
}

/** The versions of the master key that are configured for this process. */
export interface MasterKeys {
  /** The version that new signing keys are derived from: the first in the list. */
  readonly newest: number;
  readonly versions: readonly number[];
  /**
   * The secret of a signing key: 64 hex characters. Their UTF-8 bytes are the HMAC key, as a receiver would use them.
   * @throws MasterKeyMissing if the key was created with a version that is not configured here
   */
  secretOf(key: DerivedKey): string;
  /**
   * Distinguishes two master keys of the same version and reveals nothing else about them: 32 hex characters.
   * @throws MasterKeyMissing
   */
  fingerprintOf(version: number): string;
  /**
   * The unguessable part of a result's id (`result-id.ts`): 16 bytes.
   * @throws MasterKeyMissing
   */
  resultTagOf(requestId: string, version: number): Buffer;
  /**
   * The key that signs heads of the log. Its public part reveals nothing about any secret.
   * @throws MasterKeyMissing
   */
  logHeadKeyOf(version: number): HeadKey;
}

/** A signing key was created with a version of the master key that is not configured here. */
export class MasterKeyMissing extends Error {
  readonly code = 'master_key_missing';
  constructor(
    readonly version: number,
    readonly known: readonly number[],
  ) {
    super(
      `version ${version} of the master key is required but not configured (configured: ${known.join(', ')}); ` +
        'add it to MASTER_KEY after the newest',
    );
    this.name = 'MasterKeyMissing';
  }
}

/** MASTER_KEY could not be read. The message contains no part of it. */
export class MasterKeyUnreadable extends Error {
  readonly code = 'master_key_unreadable';
  constructor(message: string) {
    super(message);
    this.name = 'MasterKeyUnreadable';
  }
}

const SECRET_BYTES = 32;
const FINGERPRINT_BYTES = 16;
const RESULT_TAG_BYTES = 16;
const PART = /^([1-9]\d{0,5}):((?:[0-9a-f]{2}){32,64})$/i;
const EXPECTED =
  'expected version:hex[,older version:hex…], where version is an integer of at least 1 and hex has at least 64 characters';

/**
 * Reads `version:hex[,older version:hex…]`. New keys are created with the first.
 * @throws MasterKeyUnreadable, never with a part of a key in its message
 */
export function readMasterKeys(text: string): MasterKeys {
  const masters = new Map<number, Buffer>();
  for (const part of text.split(',')) {
    const [, version, hex] = PART.exec(part.trim()) ?? [];
    if (version === undefined || hex === undefined) throw new MasterKeyUnreadable(EXPECTED);
    if (masters.has(Number(version))) throw new MasterKeyUnreadable(`version ${version} is listed twice`);
    masters.set(Number(version), Buffer.from(hex, 'hex'));
  }
  const versions = [...masters.keys()];
  const masterOf = (version: number): Buffer => {
    const master = masters.get(version);
    if (!master) throw new MasterKeyMissing(version, versions);
    return master;
  };
  const [newest] = versions;
  if (newest === undefined) throw new MasterKeyUnreadable(EXPECTED);
  return {
    newest,
    versions,
    secretOf: ({ wallet, keyId, masterVersion }) => derive(masterOf(masterVersion), keyId, wallet, SECRET_BYTES),
    // No wallet has this name, so no secret of a signing key is ever derived with these words.
    fingerprintOf: (version) => derive(masterOf(version), 'fingerprint', 'master key', FINGERPRINT_BYTES),
    resultTagOf: (requestId, version) =>
      Buffer.from(derive(masterOf(version), requestId, 'result id', RESULT_TAG_BYTES), 'hex'),
    logHeadKeyOf: (version) =>
      headKeyOf(Buffer.from(derive(masterOf(version), 'ed25519', 'log head', SECRET_BYTES), 'hex')),
  };
}

/**
 * HKDF-SHA-256 (RFC 5869), at most one block of 32 bytes; salt and info as UTF-8. Uses two HMACs directly, because
 * `hkdfSync` takes twice as long and every paid answer derives a key.
 */
function derive(master: Buffer, salt: string, info: string, bytes: number): string {
  const extracted = createHmac('sha256', salt).update(master).digest();
  const block = createHmac('sha256', extracted).update(info).update(FIRST_BLOCK).digest();
  return block.toString('hex', 0, bytes);
}

const FIRST_BLOCK = Buffer.of(1);
