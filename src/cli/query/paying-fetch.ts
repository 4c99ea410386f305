/** A `fetch` that pays in each dialect, with the client libraries that any agent would use. */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import {
  Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { ClientExtension } from '@x402/core/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client';
import { z } from 'zod';
import { PAYMENT_IDENTIFIER } from '../../http/x402/payment-identifier.ts';
import {
  associatedTokenAddress,
  MEMO_PROGRAM,
  NETWORKS,
  TOKEN_PROGRAM,
  USDC_DECIMALS,
} from '../../solana/addresses.ts';
import { usdcOf } from '../../solana/decimal-amount.ts';
import type { SolanaKey } from '../../solana/keys.ts';

export const DIALECTS = ['v2', 'v1', 'self'] as const;
export type Dialect = (typeof DIALECTS)[number];

export interface PayingFetchOptions {
  readonly dialect: Dialect;
  readonly key: SolanaKey;
  /** RPC endpoint of the chain. Clients ask it for the mint, and for a blockhash if the terms contain none. */
  readonly rpcUrl: string;
  /** The most that one call may cost, in US dollars as a decimal string. */
  readonly maxUsd: string;
  /** The `fetch` that makes each request. */
  readonly fetch: typeof fetch;
  /** In dialect v2 the caller's id for the request, x402's `payment-identifier`. */
  readonly paymentId: string;
}

/** The service asks for more than the caller allows. */
export class OverSpendingCap extends Error {
  readonly code = 'over_spending_cap';
}

/** The service asks for a token other than USDC, whose value is unknown here. */
export class NotUsdc extends Error {
  readonly code = 'not_usdc';
}

export async function payingFetch(options: PayingFetchOptions): Promise<typeof fetch> {
  if (options.dialect === 'self') return selfPayingFetch(options);
  const signer = await createKeyPairSignerFromBytes(options.key.secretKey());
  const client = new x402Client();
  // The client's own cap is 1 US dollar, so set the caller's cap explicitly.
  client.setSpendControls({ maxAmountPerPayment: `$${options.maxUsd}` });
  const { rpcUrl } = options;
  if (options.dialect === 'v2') {
    client.register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
    client.registerExtension(namedPayment(options.paymentId));
    return wrapFetchWithPayment(options.fetch, client);
  }
  for (const { v1 } of Object.values(NETWORKS)) client.registerV1(v1, new ExactSvmSchemeV1(signer, { rpcUrl }));
  return wrapFetchWithPayment(firstVersionOnly(options.fetch), client);
}

/** Adds x402's `payment-identifier` to the payment, so that a repeat gets the same answer. */
const namedPayment = (id: string): ClientExtension => ({
  key: PAYMENT_IDENTIFIER,
  enrichPaymentPayload: async (payload, { extensions }) => {
    if (extensions?.[PAYMENT_IDENTIFIER] === undefined) return payload;
    const named = { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } };
    return { ...payload, extensions: { ...payload.extensions, ...named } };
  },
});

/** Hides the terms of version 2, which a client of x402 v1 would not see. */
const firstVersionOnly =
  (ask: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await ask(input, init);
    if (!response.headers.has('payment-required')) return response;
    const headers = new Headers(response.headers);
    headers.delete('payment-required');
    return new Response(await response.arrayBuffer(), { status: response.status, headers });
  };

const SelfPaidTerms = z.object({
  maxAmountRequired: z.string().regex(/^\d+$/),
  asset: z.string(),
  payTo: z.string(),
  extra: z.object({ memo: z.string().optional(), recentBlockhash: z.string().optional() }).optional(),
});
type SelfPaidTerms = z.infer<typeof SelfPaidTerms>;

/** Signs the whole transfer itself and pays its network fee, without a client library of x402. */
function selfPayingFetch(options: PayingFetchOptions): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const asked = await options.fetch(request.clone());
    const header = asked.headers.get('x-payment-requirements');
    if (asked.status !== 402 || header === null) return asked;
    const terms = SelfPaidTerms.parse(JSON.parse(header));
    // The cap is in dollars, and a base unit of another token may be worth many of them.
    if (!Object.values(NETWORKS).some(({ usdcMint }) => usdcMint === terms.asset)) {
      throw new NotUsdc(`the service asks for the token ${terms.asset}, which is not USDC`);
    }
    if (BigInt(terms.maxAmountRequired) > usdcOf(options.maxUsd)) {
      throw new OverSpendingCap(`the call costs ${terms.maxAmountRequired} base units, more than $${options.maxUsd}`);
    }
    const headers = new Headers(request.headers);
    headers.set('x402-payment', await signTransfer(terms, options));
    return options.fetch(new Request(request, { headers }));
  };
}

async function signTransfer(terms: SelfPaidTerms, { key, rpcUrl }: PayingFetchOptions): Promise<string> {
  const wallet = Keypair.fromSecretKey(key.secretKey());
  const instructions = [transferInstruction(terms, wallet.publicKey.toBase58())];
  if (terms.extra?.memo) {
    const data = Buffer.from(terms.extra.memo);
    instructions.push(new TransactionInstruction({ programId: new PublicKey(MEMO_PROGRAM), keys: [], data }));
  }
  const recentBlockhash =
    terms.extra?.recentBlockhash ?? (await new Connection(rpcUrl, 'confirmed').getLatestBlockhash()).blockhash;
  const message = new TransactionMessage({ payerKey: wallet.publicKey, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([wallet]);
  return Buffer.from(transaction.serialize()).toString('base64');
}

/** Instruction number of `TransferChecked` in the Token program. */
const TRANSFER_CHECKED = 12;

/** `TransferChecked` of the Token program, from the wallet's associated account to that of the service. */
function transferInstruction({ asset, payTo, maxAmountRequired }: SelfPaidTerms, wallet: string) {
  const data = Buffer.alloc(10);
  data.writeUInt8(TRANSFER_CHECKED);
  data.writeBigUInt64LE(BigInt(maxAmountRequired), 1);
  data.writeUInt8(USDC_DECIMALS, 9);
  const account = (address: string, isWritable: boolean, isSigner = false) => ({
    pubkey: new PublicKey(address),
    isSigner,
    isWritable,
  });
  return new TransactionInstruction({
    programId: new PublicKey(TOKEN_PROGRAM),
    keys: [
      account(associatedTokenAddress(wallet, asset), true),
      account(asset, false),
      account(associatedTokenAddress(payTo, asset), true),
      account(wallet, false, true),
    ],
    data,
  });
}
