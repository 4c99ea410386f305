/** Payment terms in each supported dialect (docs/design/payments.md#dialects). */
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types';
import type { JsonObject } from '../../events/event.ts';
import type { Micros } from '../../runtime/instant.ts';
import { addressBytes, associatedTokenAddress, type NetworkNames } from '../../solana/addresses.ts';
import type { LatestBlockhash } from '../../solana/chain.ts';
import type { TransferTerms } from '../../solana/verify-transaction.ts';
import { BAZAAR, discoveryOf } from './bazaar.ts';
import { PAYMENT_IDENTIFIER, PAYMENT_IDENTIFIER_DECLARATION } from './payment-identifier.ts';
import type { Purpose, PurposeMemos } from './purpose.ts';
import { SIGN_IN_WITH_X, type SignInTerms, signInDeclaration } from './sign-in.ts';

/** How long a client may take to return with its payment: nearly the lifetime of a blockhash. */
export const MAX_TIMEOUT_SECONDS = 60;

/** The payee, the network, and the payer of the network fee. Addresses in base58. */
export interface Merchant {
  readonly network: NetworkNames;
  readonly payTo: string;
  readonly feePayer: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

/** What is being sold. */
export interface Offer {
  /** Missing if the offer has no endpoint of its own; facilitators do not list it then. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly description: string;
  /** The purpose that a payment for it must be bound to. */
  readonly purpose: Purpose;
  /** Set for an endpoint that reads a signed message. */
  readonly signIn?: SignInTerms;
  /** Base units. */
  readonly amount: bigint;
}

/** The values that differ in each 402. */
export interface Occasion {
  readonly memos: PurposeMemos;
  readonly now: Micros;
  /** Null if none is known: clients then ask the chain themselves. */
  readonly latest: LatestBlockhash | null;
}

/** The terms of one answer, in every dialect. */
export interface Terms {
  readonly v2: PaymentRequired;
  readonly v1: JsonObject;
  readonly selfPaid: JsonObject;
}

/** @throws RangeError if an address of the merchant is invalid */
export function transferTermsOf({ network, payTo, feePayer }: Merchant): (amount: bigint) => TransferTerms {
  const fixed = {
    feePayer: keyOf(feePayer),
    payTo: keyOf(payTo),
    mint: keyOf(network.usdcMint),
    destination: keyOf(associatedTokenAddress(payTo, network.usdcMint)),
  };
  return (amount) => ({ ...fixed, amount });
}

function keyOf(address: string): Buffer {
  const bytes = addressBytes(address);
  if (!bytes) throw new RangeError(`not a Solana address: ${address}`);
  return Buffer.from(bytes);
}

/** The terms in the form of x402 v2. @param amount base units */
export const requirementsOf = (
  { network, payTo }: Merchant,
  amount: bigint,
  extra: PaymentRequirements['extra'],
): PaymentRequirements => ({
  scheme: 'exact',
  network: network.caip2 as PaymentRequirements['network'],
  amount: String(amount),
  asset: network.usdcMint,
  payTo,
  maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  extra,
});

/** The terms of one 402. */
export function termsFor(
  merchant: Merchant,
  { method, path, description, signIn, amount }: Offer,
  { memos, latest, now }: Occasion,
  error: string,
): Terms {
  const { network, payTo, feePayer, publicUrl } = merchant;
  // Without the query string: clients send all of it back, and it shows who is interested in whom.
  const url = `${publicUrl}${path}`;
  const mimeType = 'application/json';
  const blockhash = latest
    ? { recentBlockhash: latest.blockhash, lastValidBlockHeight: String(latest.lastValidBlockHeight) }
    : {};
  const accepted = requirementsOf(merchant, amount, { feePayer, memo: memos.short, ...blockhash });
  // A signed call belongs to one wallet: no catalogue needs its form, and the headers must stay short.
  const discovery = method && !signIn ? discoveryOf(method, path) : null;
  const inFirstShape = {
    scheme: 'exact',
    maxAmountRequired: String(amount),
    resource: url,
    description,
    mimeType,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    asset: network.usdcMint,
  };
  return {
    v2: {
      x402Version: 2,
      error,
      resource: { url, description, mimeType },
      accepts: [accepted],
      extensions: {
        [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_DECLARATION,
        ...(discovery ? { [BAZAAR]: discovery } : {}),
        ...(signIn ? { [SIGN_IN_WITH_X]: signInDeclaration(signIn, now) } : {}),
      },
    },
    // No member is null, because some clients of x402 v1 check strictly.
    v1: { ...inFirstShape, network: network.v1, extra: { feePayer, memo: memos.short } },
    selfPaid: { ...inFirstShape, network: network.selfPaid, extra: { memo: memos.inWords, ...blockhash } },
  };
}
