/**
 * Wallets, and payments signed ahead of the load, in each dialect. A sponsored payment has the instructions of
 * `@x402/svm`'s client, in its order and with its limits; a self-paid one has the transfer and a memo. Compiled here
 * byte by byte, so that thousands are ready well before their blockhash expires.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';

const COMPUTE_BUDGET = bs58.decode('ComputeBudget111111111111111111111111111111');
const TOKEN_PROGRAM = bs58.decode('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const MEMO_PROGRAM = bs58.decode('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** The compute limit (units) and price (micro-lamports per unit) of the reference client. */
const COMPUTE_UNITS = 20_000;
const COMPUTE_PRICE = 1n;
const USDC_DECIMALS = 6;
const SIGNATURE_BYTES = 64;

/** The bytes that precede an Ed25519 seed in PKCS #8. */
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

/** A key pair in the 64-byte form of `solana-keygen`: seed, then public key. */
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

const list = (...parts) => Buffer.concat([Buffer.from([parts.length]), ...parts]);
const NO_SIGNATURE = Buffer.alloc(SIGNATURE_BYTES);
const NO_LOOKUP_TABLES = Buffer.from([0]);
const base64Json = (value) => Buffer.from(JSON.stringify(value)).toString('base64');
const fromBase64Json = (text) => JSON.parse(Buffer.from(text, 'base64').toString('utf8'));

/** An amount of USDC, in base units, by `TransferChecked`; accounts are indexes into the message. */
const transferChecked = (program, accounts, amount) =>
  instruction(program, accounts, Buffer.concat([Buffer.from([12]), uint64(amount), Buffer.from([USDC_DECIMALS])]));

/**
 * The memo of a 402 belongs to that 402. Payments that are signed in advance carry their own, as the reference client
 * does if the terms have none. Without a memo, two payments of one wallet would be the same transaction.
 */
const newMemo = (program) => instruction(program, [], Buffer.from(randomBytes(16).toString('hex')));

/** A payment whose fee the seller pays: signed by the wallet, still without the seller's signature. Base64. */
function sponsored({ asset, payTo, amount, feePayer }) {
  const destination = bs58.decode(tokenAccountOf(asset, payTo));
  const mint = bs58.decode(asset);
  // Version 0; two signers, the wallet read-only; three programs and the mint read-only.
  const head = Buffer.concat([Buffer.from([0x80, 2, 1, 4, 8]), bs58.decode(feePayer)]);
  const limit = instruction(4, [], Buffer.concat([Buffer.from([2]), uint32(COMPUTE_UNITS)]));
  const price = instruction(4, [], Buffer.concat([Buffer.from([3]), uint64(COMPUTE_PRICE)]));
  const transfer = transferChecked(5, [2, 6, 3, 1], BigInt(amount));
  return (wallet, blockhash) => {
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
      list(limit, price, transfer, newMemo(7)),
      NO_LOOKUP_TABLES,
    ]);
    return Buffer.concat([list(NO_SIGNATURE, sign(null, message, wallet.privateKey)), message]).toString('base64');
  };
}

/** A payment whose fee the wallet pays: complete. It has the instructions of `docket query`'s own client. Base64. */
function selfPaid({ asset, payTo, maxAmountRequired }) {
  const destination = bs58.decode(tokenAccountOf(asset, payTo));
  const mint = bs58.decode(asset);
  // Version 0; one signer, who pays; two programs and the mint read-only.
  const head = Buffer.from([0x80, 1, 0, 3, 6]);
  const transfer = transferChecked(3, [1, 4, 2, 0], BigInt(maxAmountRequired));
  return (wallet, blockhash) => {
    const message = Buffer.concat([
      head,
      wallet.key,
      wallet.tokenAccountKey,
      destination,
      TOKEN_PROGRAM,
      mint,
      MEMO_PROGRAM,
      bs58.decode(blockhash),
      list(transfer, newMemo(5)),
      NO_LOOKUP_TABLES,
    ]);
    return Buffer.concat([list(sign(null, message, wallet.privateKey)), message]).toString('base64');
  };
}

/**
 * How each dialect works: what a 402 offers (`read`, from the response's headers and decoded body), the request header
 * that pays, and the response header of the receipt. `read` returns the price, the receiver, the blockhash if the terms
 * name one, the network as the receipt must name it, and `sign(wallet, blockhash)`, which returns the value of the
 * request header.
 */
export const DIALECTS = {
  'x402 v2': {
    header: 'payment-signature',
    receipt: 'payment-response',
    read(headers) {
      const required = fromBase64Json(headers.get('payment-required'));
      const [terms] = required.accepts;
      const { memo: _memo, ...extra } = terms.extra ?? {};
      const accepted = { ...terms, extra };
      const transaction = sponsored({ ...terms, feePayer: extra.feePayer });
      return {
        ...offered(terms, terms.amount),
        sign: (wallet, blockhash) =>
          base64Json({
            x402Version: 2,
            resource: required.resource,
            accepted,
            payload: { transaction: transaction(wallet, blockhash) },
          }),
      };
    },
  },
  'x402 v1': {
    header: 'x-payment',
    receipt: 'x-payment-response',
    read(_headers, body) {
      const [terms] = body.accepts;
      const { scheme, network } = terms;
      const transaction = sponsored({ ...terms, amount: terms.maxAmountRequired, feePayer: terms.extra.feePayer });
      return {
        ...offered(terms, terms.maxAmountRequired),
        sign: (wallet, blockhash) =>
          base64Json({ x402Version: 1, scheme, network, payload: { transaction: transaction(wallet, blockhash) } }),
      };
    },
  },
  'self-paid': {
    header: 'x402-payment',
    receipt: 'x-payment-response',
    read(headers) {
      const terms = JSON.parse(headers.get('x-payment-requirements'));
      return { ...offered(terms, terms.maxAmountRequired), sign: selfPaid(terms) };
    },
  },
};

const offered = ({ network, asset, payTo, extra }, amount) => ({
  network,
  price: BigInt(amount),
  receiver: tokenAccountOf(asset, payTo),
  /** Null if the client must get it from the chain. */
  blockhash: extra?.recentBlockhash ?? null,
});

/** The receipt of an answer in a dialect's header; null if there is none. */
export const receiptOf = ({ receipt }, headers) => (headers[receipt] ? fromBase64Json(headers[receipt]) : null);
