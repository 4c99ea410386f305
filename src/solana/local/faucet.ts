/** The faucet: test SOL and test USDC, transferred and minted by real transactions of the chain's own key. */
import { randomBytes } from 'node:crypto';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  addressBytes,
  associatedTokenAddress,
  MEMO_PROGRAM,
  NETWORKS,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  USDC_DECIMALS,
} from '../addresses.ts';
import type { SolanaKey } from '../keys.ts';
import { composeTransaction, type Instruction } from './compose.ts';
import type { Ledger } from './ledger.ts';
import type { AccountState } from './virtual-machine.ts';
import { readTransaction } from './wire.ts';

const USDC_MINT = NETWORKS.local.usdcMint;
/**
 * The faucet's initial balance. The lamports of the whole chain stay below 2^53, so that every balance is an exact JSON
 * number.
 */
const FAUCET_LAMPORTS = 8_000_000_000_000_000;
const MINT_BYTES = 82;

const bytesOf = (address: string): Buffer => Buffer.from(addressBytes(address) ?? []);

/** The accounts of a new chain: the faucet's SOL and the USDC mint. */
export function genesisAccounts(faucet: SolanaKey, mintRent: number): ReadonlyMap<string, AccountState> {
  const mint = Buffer.alloc(MINT_BYTES);
  // Option tag and mint authority, supply, decimals, initialised, option tag and freeze authority.
  mint.writeUInt32LE(1, 0);
  faucet.publicKey.copy(mint, 4);
  mint.writeUInt8(USDC_DECIMALS, 44);
  mint.writeUInt8(1, 45);
  mint.writeUInt32LE(1, 46);
  faucet.publicKey.copy(mint, 50);
  const system = bytesOf(SYSTEM_PROGRAM);
  return new Map([
    [
      faucet.publicKey.toString('hex'),
      { lamports: FAUCET_LAMPORTS, owner: system, executable: false, data: Buffer.alloc(0) },
    ],
    [
      bytesOf(USDC_MINT).toString('hex'),
      { lamports: mintRent, owner: bytesOf(TOKEN_PROGRAM), executable: false, data: mint },
    ],
  ]);
}

/** Sends SOL. Resolves with the transaction's signature once it is durable. */
export function giveSol(ledger: Ledger, recipient: string, lamports: bigint): Promise<string> {
  return send(ledger, [transferSol(ledger.faucetKey.address, recipient, lamports)]);
}

/** Creates the owner's USDC account if it is missing, and mints into it (nothing for 0). */
export function giveUsdc(ledger: Ledger, owner: string, baseUnits: bigint): Promise<string> {
  const faucet = ledger.faucetKey.address;
  const account = associatedTokenAddress(owner, USDC_MINT);
  return send(ledger, [
    createTokenAccount(faucet, owner, account),
    ...(baseUnits > 0n ? [mintTo(faucet, account, baseUnits)] : []),
  ]);
}

function send(ledger: Ledger, instructions: readonly Instruction[]): Promise<string> {
  const memo: Instruction = {
    program: MEMO_PROGRAM,
    accounts: [],
    // Without the random part, two equal transfers in one slot would be the same transaction.
    data: Buffer.from(`faucet ${randomBytes(8).toString('hex')}`),
  };
  const blockhash = ledger.clock.blockhashBytes(ledger.clock.slot);
  const wire = composeTransaction(ledger.faucetKey, [...instructions, memo], blockhash);
  return ledger.submit(readTransaction(wire), { skipPreflight: false });
}

function transferSol(from: string, to: string, lamports: bigint): Instruction {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2, 0);
  data.writeBigUInt64LE(lamports, 4);
  return {
    program: SYSTEM_PROGRAM,
    accounts: [
      { address: from, writable: true },
      { address: to, writable: true },
    ],
    data,
  };
}

function createTokenAccount(payer: string, owner: string, account: string): Instruction {
  return {
    program: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { address: payer, writable: true },
      { address: account, writable: true },
      { address: owner, writable: false },
      { address: USDC_MINT, writable: false },
      { address: SYSTEM_PROGRAM, writable: false },
      { address: TOKEN_PROGRAM, writable: false },
    ],
    // CreateIdempotent.
    data: Buffer.of(1),
  };
}

function mintTo(authority: string, account: string, baseUnits: bigint): Instruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(7, 0);
  data.writeBigUInt64LE(baseUnits, 1);
  return {
    program: TOKEN_PROGRAM,
    accounts: [
      { address: USDC_MINT, writable: true },
      { address: account, writable: true },
      { address: authority, writable: false },
    ],
    data,
  };
}
