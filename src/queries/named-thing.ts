/** What a text may name: an id of a request, payment, transaction, delivery or event, a wallet, a host, a case. Pure. */

import { deliveryOf } from '../events/delivery.ts';
import { paymentOf } from '../events/payment.ts';
import { walletOf } from '../events/signing-key.ts';
import { parseUrl } from '../runtime/parse-url.ts';
import { isAddress, isSignature } from '../solana/addresses.ts';

export type NamedThing =
  /** Of a request, a delivery or an event: their ids have one form. */
  | { readonly kind: 'uuid'; readonly id: string }
  /** SHA-256 of a transaction's message. */
  | { readonly kind: 'payment'; readonly id: string }
  | { readonly kind: 'transaction'; readonly id: string }
  | { readonly kind: 'delivery'; readonly id: string }
  | { readonly kind: 'wallet'; readonly id: string }
  /** The request of a paid answer. The rest of a result id is a secret, and is dropped here. */
  | { readonly kind: 'result'; readonly id: string }
  /** One origin, or every origin of a host; with a port, if the host has it. */
  | { readonly kind: 'host'; readonly origin: string | null; readonly host: string }
  | { readonly kind: 'case'; readonly court: string; readonly number: string };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HASH = /^[0-9a-f]{64}$/i;
const RESULT = /^(?:.*\/v2\/results\/)?(r[1-9]\d{0,5}-[\w-]{43}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/i;
const HOST = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*(?::\d{1,5})?$/i;
/** An address of IPv4 or IPv6, or a name without a dot, which only its port tells from a court. */
const ADDRESS_OR_PORT =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?|[a-z][a-z0-9-]*:\d{1,5})$/i;
/** `court/number`, as in a link. */
const CASE = /^([a-z0-9-]{2,32})\/(\S.*)$/i;
const ID_BYTES = 16;
const LONGEST = 2048;

/** Null if it has the form of nothing that the service knows. */
export function namedThing(words: readonly string[]): NamedThing | null {
  const [first = '', ...rest] = words.map((word) => word.trim());
  if (words.join(' ').length > LONGEST || first === '') return null;
  if (rest.length > 0) return { kind: 'case', court: first, number: rest.join(' ') };
  if (UUID.test(first)) return { kind: 'uuid', id: first.toLowerCase() };
  if (HASH.test(first)) return { kind: 'payment', id: first.toLowerCase() };
  return byStream(first) ?? byResult(first) ?? byAddress(first) ?? byHost(first) ?? byCase(first);
}

function byStream(text: string): NamedThing | null {
  const payment = paymentOf(text);
  if (payment !== null) return { kind: 'payment', id: payment };
  const delivery = deliveryOf(text);
  if (delivery !== null) return { kind: 'delivery', id: delivery };
  const wallet = walletOf(text);
  return wallet === null ? null : { kind: 'wallet', id: wallet };
}

function byResult(text: string): NamedThing | null {
  const id = RESULT.exec(text)?.[1];
  if (id === undefined) return null;
  if (UUID.test(id)) return { kind: 'result', id: id.toLowerCase() };
  const bytes = Buffer.from(id.slice(id.indexOf('-') + 1), 'base64url');
  const hex = bytes.subarray(0, ID_BYTES).toString('hex');
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return { kind: 'result', id: uuid };
}

function byAddress(text: string): NamedThing | null {
  if (isSignature(text)) return { kind: 'transaction', id: text };
  return isAddress(text) ? { kind: 'wallet', id: text } : null;
}

function byHost(text: string): NamedThing | null {
  const isUrl = /^https?:\/\//i.test(text);
  if (!isUrl && !HOST.test(text) && !ADDRESS_OR_PORT.test(text)) return null;
  const url = parseUrl(isUrl ? text : `https://${text}`);
  return url && { kind: 'host', origin: isUrl ? url.origin : null, host: url.host };
}

function byCase(text: string): NamedThing | null {
  const [, court, number] = CASE.exec(text) ?? [];
  return court === undefined || number === undefined ? null : { kind: 'case', court, number };
}
