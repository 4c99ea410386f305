import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  KeyUnreadable,
  loadKey,
  loadOrCreateKey,
  parseKey,
  SolanaKey,
  saveKey,
  verifySignature,
} from '../../src/solana/keys.ts';

describe('a Solana key', () => {
  it('is read in both forms that tools write', () => {
    const pair = Keypair.generate();
    for (const text of [
      JSON.stringify([...pair.secretKey]),
      bs58.encode(pair.secretKey),
      ` ${bs58.encode(pair.secretKey)}\n`,
    ]) {
      const key = parseKey(text);
      expect(key.address).toBe(pair.publicKey.toBase58());
      expect(key.secretKey()).toEqual(pair.secretKey);
    }
  });

  it('makes signatures that others verify, and verifies theirs', () => {
    const key = SolanaKey.generate();
    const message = Buffer.from('a message');
    const signature = key.sign(message);
    expect(verifySignature(key.publicKey, message, signature)).toBe(true);
    expect(verifySignature(SolanaKey.generate().publicKey, message, signature)).toBe(false);
    expect(verifySignature(key.publicKey, Buffer.from('another'), signature)).toBe(false);
    expect(verifySignature(key.publicKey, message, signature.subarray(1))).toBe(false);
    expect(verifySignature(Buffer.alloc(31), message, signature)).toBe(false);
  });

  it('never appears in an error, a log or as JSON', () => {
    const pair = Keypair.generate();
    const other = Keypair.generate();
    const array = [...pair.secretKey];
    const bad = [
      JSON.stringify(array).slice(0, -1),
      JSON.stringify(array.slice(0, 32)),
      JSON.stringify([...array.slice(0, 63), 256]),
      JSON.stringify([...pair.secretKey.slice(0, 32), ...other.publicKey.toBytes()]),
      bs58.encode(pair.secretKey).slice(4),
      `${bs58.encode(pair.secretKey)}0`,
      '',
    ];
    for (const text of bad) {
      let message = '';
      try {
        parseKey(text);
      } catch (error) {
        expect(error).toBeInstanceOf(KeyUnreadable);
        message = inspect(error, { depth: 9 });
      }
      expect(message).toContain('KeyUnreadable');
      if (text) expect(message).not.toContain(text.slice(4, 20));
    }
    const key = parseKey(JSON.stringify(array));
    const seed = Buffer.from(pair.secretKey.subarray(0, 32)).toString('hex');
    expect(inspect(key, { depth: 9 }) + JSON.stringify(key)).not.toContain(seed.slice(0, 12));
  });
});

describe('a key file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is made once, for its owner only, and read again', () => {
    const path = join(folder, 'deep', 'fee-payer.json');
    const made = loadOrCreateKey(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(loadOrCreateKey(path).address).toBe(made.address);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(64);
    expect(readdirSync(join(folder, 'deep'))).toEqual(['fee-payer.json']);
  });

  it('is never overwritten', () => {
    const path = join(folder, 'key.json');
    const first = SolanaKey.generate();
    saveKey(path, first);
    expect(() => saveKey(path, SolanaKey.generate())).toThrow(/EEXIST/);
    expect(loadKey(path).address).toBe(first.address);
    expect(readdirSync(folder)).toEqual(['key.json']);
  });

  it('that is damaged is an error, not a new key', () => {
    const path = join(folder, 'key.json');
    writeFileSync(path, '[1,2,3');
    expect(() => loadOrCreateKey(path)).toThrow(/key\.json is damaged/);
    expect(() => loadKey(join(folder, 'missing.json'))).toThrow(KeyUnreadable);
  });
});
