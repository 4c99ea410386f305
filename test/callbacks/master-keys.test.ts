import { hkdfSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { MasterKeyMissing, MasterKeyUnreadable, readMasterKeys } from '../../src/callbacks/master-keys.ts';
import { headKeyOf } from '../../src/events/log-note.ts';

const ONE = '11'.repeat(32);
const TWO = 'a2'.repeat(32);
const WALLET = '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW';
const KEY = { wallet: WALLET, keyId: '2f0e6a5e-3a3c-4f0a-9d41-2a8f5f6f7a10', masterVersion: 1 };

describe('a secret', () => {
  it('is HKDF-SHA-256 of the master key, the key id as salt and the wallet as info', () => {
    const secret = readMasterKeys(`1:${ONE}`).secretOf(KEY);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const expected = hkdfSync('sha256', Buffer.from(ONE, 'hex'), Buffer.from(KEY.keyId), Buffer.from(WALLET), 32);
    expect(secret).toBe(Buffer.from(expected).toString('hex'));
    // Must never change: receivers were given this secret and keep it.
    expect(secret).toBe('eed2383842469707d14534f043e2e14dadcf3564f233b7be1984d80306b3abdf');
  });

  it('differs for every wallet, key and master key', () => {
    const keys = readMasterKeys(`2:${TWO},1:${ONE}`);
    const secrets = [
      keys.secretOf(KEY),
      keys.secretOf({ ...KEY, masterVersion: 2 }),
      keys.secretOf({ ...KEY, keyId: 'K2' }),
      keys.secretOf({ ...KEY, wallet: `${WALLET.slice(0, -1)}X` }),
    ];
    expect(new Set(secrets).size).toBe(secrets.length);
    expect(keys.secretOf(KEY)).toBe(readMasterKeys(`1:${ONE}`).secretOf(KEY));
  });

  it('fails if its master key is missing, with an error that names it', () => {
    expect(() => readMasterKeys(`2:${TWO}`).secretOf(KEY)).toThrow(MasterKeyMissing);
    expect(() => readMasterKeys(`2:${TWO}`).secretOf(KEY)).toThrow(/version 1 .*configured: 2/);
  });
});

describe('the key that signs heads of the log', () => {
  it('is an Ed25519 key for each version, whose seed no other secret is derived with', () => {
    const keys = readMasterKeys(`2:${TWO},1:${ONE}`);
    const seed = hkdfSync('sha256', Buffer.from(ONE, 'hex'), Buffer.from('ed25519'), Buffer.from('log head'), 32);
    expect(keys.logHeadKeyOf(1).publicKey).toBe(headKeyOf(Buffer.from(seed)).publicKey);
    expect(keys.logHeadKeyOf(2).publicKey).not.toBe(keys.logHeadKeyOf(1).publicKey);
    // Must never change: heads that somebody kept are verified with it.
    expect(keys.logHeadKeyOf(1).publicKey).toBe('0LyjuSW2rfbT6T4bRm+vMOMwQZqegq6/nY6B7u08VTM=');
    expect(() => keys.logHeadKeyOf(3)).toThrow(MasterKeyMissing);
    expect(inspect(keys.logHeadKeyOf(1), { depth: 9 })).not.toContain(Buffer.from(seed).toString('hex'));
  });
});

describe('MASTER_KEY', () => {
  it('derives new keys from the version that comes first', () => {
    expect(readMasterKeys(`1:${ONE}`)).toMatchObject({ newest: 1, versions: [1] });
    expect(readMasterKeys(`2:${TWO}, 1:${ONE.toUpperCase()}`)).toMatchObject({ newest: 2, versions: [2, 1] });
    // Operators first distribute a version to every node, then use it.
    expect(readMasterKeys(`1:${ONE},2:${TWO}`)).toMatchObject({ newest: 1, versions: [1, 2] });
  });

  it.each([
    ['nothing', ''],
    ['no version', ONE],
    ['version 0', `0:${ONE}`],
    ['a leading zero', `01:${ONE}`],
    ['too short a key', `1:${ONE.slice(2)}`],
    ['half a byte', `1:${ONE}1`],
    ['no hex', `1:${'g'.repeat(64)}`],
    ['a comma too many', `1:${ONE},`],
    ['a version twice', `1:${ONE},1:${TWO}`],
    ['another separator', `2:${TWO};1:${ONE}`],
  ])('rejects %s, and repeats nothing of it', (_, text) => {
    expect(() => readMasterKeys(text)).toThrow(MasterKeyUnreadable);
    try {
      readMasterKeys(text);
    } catch (error) {
      expect(String(error)).not.toMatch(/1111|a2a2|gggg/);
    }
  });

  it('appears in no log and no JSON', () => {
    const keys = readMasterKeys(`2:${TWO},1:${ONE}`);
    expect(JSON.stringify(keys)).not.toMatch(/1111|a2a2/);
    expect(inspect(keys, { depth: 9, showHidden: true })).not.toMatch(/1111|a2a2/);
  });

  it('has a distinguishing fingerprint that reveals none of its secrets', () => {
    const [one, two] = [readMasterKeys(`1:${ONE}`), readMasterKeys(`1:${TWO}`)];
    expect(one.fingerprintOf(1)).toMatch(/^[0-9a-f]{32}$/);
    expect(one.fingerprintOf(1)).not.toBe(two.fingerprintOf(1));
    expect(one.fingerprintOf(1)).toBe(readMasterKeys(`7:${ONE}`).fingerprintOf(7));
  });
});
