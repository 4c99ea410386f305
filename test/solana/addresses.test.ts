import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  associatedTokenAddress,
  GENESIS_HASHES,
  isAddress,
  isGenesisOf,
  localGenesisHash,
  NETWORKS,
} from '../../src/solana/addresses.ts';
import { deriveProgramAddress, isOnCurve } from '../../src/solana/derived-address.ts';

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('addresses', () => {
  it('derive the associated token account that the token library derives', () => {
    fc.assert(
      fc.property(bytes32, fc.boolean(), (owner, token2022) => {
        const mint = NETWORKS.mainnet.usdcMint;
        const key = new PublicKey(owner);
        const program = token2022 ? TOKEN_2022_PROGRAM_ID : undefined;
        const expected = getAssociatedTokenAddressSync(new PublicKey(mint), key, true, program).toBase58();
        expect(associatedTokenAddress(key.toBase58(), mint, program?.toBase58())).toBe(expected);
        expect(associatedTokenAddress(key.toBase58(), mint, program?.toBase58())).toBe(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('distinguish points of the curve as the client library does', () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes));
      }),
      { numRuns: 60 },
    );
    expect(isOnCurve(Keypair.generate().publicKey.toBytes())).toBe(true);
  });

  it('derive any program’s address from any seeds', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 4 }), bytes32, (seeds, program) => {
        const [expected] = PublicKey.findProgramAddressSync(seeds, new PublicKey(program));
        expect(deriveProgramAddress(seeds, program)).toEqual(expected.toBuffer());
      }),
      { numRuns: 25 },
    );
  });

  it('are 32 bytes in base58 and nothing else', () => {
    expect(isAddress(NETWORKS.devnet.usdcMint)).toBe(true);
    for (const text of ['', '0'.repeat(44), 'I'.repeat(40), '1'.repeat(31), '1'.repeat(33), `${'1'.repeat(31)}é`]) {
      expect(isAddress(text), text).toBe(false);
    }
    expect(() => associatedTokenAddress('nobody', NETWORKS.devnet.usdcMint)).toThrow(RangeError);
  });

  it('name each network by the beginning of its genesis hash', () => {
    for (const network of ['mainnet', 'devnet'] as const) {
      expect(NETWORKS[network].caip2).toBe(`solana:${GENESIS_HASHES[network].slice(0, 32)}`);
      expect(isGenesisOf(network, GENESIS_HASHES[network])).toBe(true);
      expect(isGenesisOf('local', GENESIS_HASHES[network])).toBe(false);
    }
    expect(isGenesisOf('mainnet', GENESIS_HASHES.devnet)).toBe(false);
  });

  it('give every local chain its own genesis hash under their shared name', () => {
    fc.assert(
      fc.property(bytes32, bytes32, (seed, other) => {
        const hash = localGenesisHash(seed);
        expect(isAddress(hash)).toBe(true);
        expect(`solana:${hash.slice(0, 32)}`).toBe(NETWORKS.local.caip2);
        expect(isGenesisOf('local', hash)).toBe(true);
        expect(isGenesisOf('devnet', hash)).toBe(false);
        expect(localGenesisHash(other) === hash).toBe(Buffer.from(seed).equals(Buffer.from(other)));
      }),
    );
  });
});
