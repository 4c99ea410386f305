/**
 * The purpose of a payment, written into its memo (docs/design/payments.md#purpose): short for clients of x402 v2, in
 * words for wallets that pay the network fee. Nothing is stored: every node derives the memo from the request.
 */
import { createHash, randomBytes } from 'node:crypto';

/** Longest host that is written out; the hash binds every host. */
const SHOWN_HOST = 100;

const SHORT_PREFIX = 'docket1 ';
const LONG_PREFIX = 'Docket Monitor 1: pays for ';

/** One word for the product, for short memos. */
export type PurposeWord = 'case' | 'monitor' | 'batch' | 'keys' | 'rotate-key' | 'deliveries';

export interface Purpose {
  readonly word: PurposeWord;
  /** `GET /v2/case`, or `tool service_case_query`. */
  readonly call: string;
  /** The origin that sells it. */
  readonly publicUrl: string;
  /** The canonical parameters; null if there are none. */
  readonly request: string | null;
}

/** Two memos for one purpose, both different in every 402. */
export interface PurposeMemos {
  readonly short: string;
  readonly inWords: string;
}

const newNonce = (): string => randomBytes(6).toString('base64url');

export function newMemos(purpose: Purpose): PurposeMemos {
  return { short: shortMemo(purpose, newNonce().slice(0, 5)), inWords: longMemo(purpose, newNonce()) };
}

/** Whether a memo names this purpose or another; `unbound` if there is none or it is not in our form. */
export type PurposeFit = 'bound' | 'unbound' | 'another';

export function fitOf(memo: string | null, purpose: Purpose): PurposeFit {
  if (memo?.startsWith(SHORT_PREFIX)) return memo === shortMemo(purpose, memo.slice(-5)) ? 'bound' : 'another';
  if (memo?.startsWith(LONG_PREFIX)) return memo === longMemo(purpose, memo.slice(-8)) ? 'bound' : 'another';
  return 'unbound';
}

const shortMemo = (purpose: Purpose, nonce: string): string =>
  `${SHORT_PREFIX}${purpose.word} ${hashOf(purpose, nonce).slice(0, 10)}${nonce}`;

const longMemo = (purpose: Purpose, nonce: string): string => {
  const { host } = new URL(purpose.publicUrl);
  const shown = host.length > SHOWN_HOST ? `...${host.slice(-SHOWN_HOST)}` : host;
  return `${LONG_PREFIX}${purpose.call} at ${shown}, request ${hashOf(purpose, nonce).slice(0, 22)}, nonce ${nonce}`;
};

/** The nonce is hashed too, so that others cannot recognize two requests for one purpose. */
const hashOf = ({ word, call, publicUrl, request }: Purpose, nonce: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['docket-monitor-payment-1', publicUrl, word, call, request, nonce]))
    .digest('base64url');
