/**
 * Wallets, and payments signed ahead of the load. A payment has the instructions that `@x402/svm`'s client puts in, in
 * its order and with its limits, compiled here byte by byte so that thousands are ready well within the life of their
 * blockhash.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';

const COMPUTE_BUDGET = bs58.decode('ComputeBudget111111111111111111111111111111');
const TOKEN_PROGRAM = bs58.decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const MEMO_PROGRAM = bs58.decode('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** The compute limit (units) and price (micro-lamports a unit) of the reference client. */
const COMPUTE_UNITS = 20_000;
const COMPUTE_PRICE = 1n;
const USDC_DECIMALS = 6;
const SIGNATURE_BYTES = 64;

/** The bytes that stand before an Ed25519 seed in PKCS #8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The token account of an address for a mint: base58. */
export const tokenAccountOf = (mint, owner) =>
  getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true).toBase58();

/** A new wallet with its token account for the mint. */
export function newWallet(mint) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const address = bs58.encode(key);
  const tokenAccount = tokenAccountOf(mint, address);
  return { address, key, privateKey, tokenAccount, tokenAccountKey: bs58.decode(tokenAccount) };
}

/** A key pair in the 64 bytes of `solana-keygen`: seed, then public key. */
export function newKeypairBytes() {
  const seed = randomBytes(32);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).subarray(-32);
  return { bytes: [...seed, ...key], address: bs58.encode(key) };
}

const uint32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const uint64 = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

/** One compiled instruction; every list here is shorter than 128, so each length is one byte. */
const instruction = (program, accounts, data) =>
  Buffer.concat([Buffer.from([program, accounts.length, ...accounts, data.length]), data]);

/**
 * Makes what signs payments for one seller's terms.
 * @param required the decoded `PAYMENT-REQUIRED` header
 */
export function paymentSigner(required) {
  const [terms] = required.accepts;
  // A memo in the terms belongs to one 402; ahead of the load each payment carries its own, as the reference client
  // does where the terms have none.
  const { memo: _memo, ...extra } = terms.extra ?? {};
  const accepted = { ...terms, extra };
  const feePayer = bs58.decode(extra.feePayer);
  const mint = bs58.decode(terms.asset);
  const destination = bs58.decode(tokenAccountOf(terms.asset, terms.payTo));
  const head = Buffer.concat([Buffer.from([0x80, 2, 1, 4, 8]), feePayer]);
  const limit = instruction(4, [], Buffer.concat([Buffer.from([2]), uint32(COMPUTE_UNITS)]));
  const price = instruction(4, [], Buffer.concat([Buffer.from([3]), uint64(COMPUTE_PRICE)]));
  const transferData = Buffer.concat([Buffer.from([12]), uint64(BigInt(terms.amount)), Buffer.from([USDC_DECIMALS])]);
  const transfer = instruction(5, [2, 6, 3, 1], transferData);
  const instructions = Buffer.concat([Buffer.from([4]), limit, price, transfer]);
  const unsigned = Buffer.alloc(SIGNATURE_BYTES);
  const two = Buffer.from([2]);
  const noLookupTables = Buffer.from([0]);

  /** The value of `PAYMENT-SIGNATURE`. The fee payer's signature is left to the seller. */
  return function payment(wallet, blockhash) {
    const message = Buffer.concat([
      head,
      wallet.key,
      wallet.tokenAccountKey,
      destination,
      COMPUTE_BUDGET,
      TOKEN_PROGRAM,
      mint,
      MEMO_PROGRAM,
      bs58.decode(blockhash),
      instructions,
      instruction(7, [], Buffer.from(randomBytes(16).toString('hex'))),
      noLookupTables,
    ]);
    const wire = Buffer.concat([two, unsigned, sign(null, message, wallet.privateKey), message]);
    const payload = {
      x402Version: 2,
      resource: required.resource,
      accepted,
      payload: { transaction: wire.toString('base64') },
    };
    return Buffer.from(JSON.stringify(payload)).toString('base64');
  };
}
