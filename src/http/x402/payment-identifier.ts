/** The extension `payment-identifier` of x402 v2: a client's own id for a request, so that a repeat costs nothing. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../events/event.ts';

export const PAYMENT_IDENTIFIER = 'payment-identifier';

/** Length and alphabet are those of the extension. */
const PATTERN = '^[a-zA-Z0-9_-]+$';
const LEAST_LENGTH = 16;
const MOST_LENGTH = 128;
const IDENTIFIER = new RegExp(PATTERN);
/** The rule for identifiers, used in errors. */
export const IDENTIFIER_RULE = `A payment-identifier is info.id, of ${LEAST_LENGTH} to ${MOST_LENGTH} letters, digits, - and _.`;

/** How a 402 declares it: offered, never required. */
export const PAYMENT_IDENTIFIER_DECLARATION: JsonObject = {
  info: { required: false },
  schema: {
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: LEAST_LENGTH, maxLength: MOST_LENGTH, pattern: PATTERN },
    },
    required: ['required'],
  },
};

export type ReadIdentifier = { readonly identifier: string | null } | { readonly unreadable: true };

/**
 * The identifier of a payment; null if it has none, e.g. from a client that only echoes our declaration. An invalid one
 * is an error, because its sender relies on it.
 */
export function readPaymentIdentifier(
  extensions: Readonly<Record<string, unknown>> | null | undefined,
): ReadIdentifier {
  const extension = extensions?.[PAYMENT_IDENTIFIER];
  if (extension === undefined || extension === null) return { identifier: null };
  if (typeof extension !== 'object') return { unreadable: true };
  const { info } = extension as { readonly info?: unknown };
  if (info === undefined || info === null) return { identifier: null };
  if (typeof info !== 'object') return { unreadable: true };
  const { id } = info as { readonly id?: unknown };
  if (id === undefined || id === null) return { identifier: null };
  const isSound =
    typeof id === 'string' && id.length >= LEAST_LENGTH && id.length <= MOST_LENGTH && IDENTIFIER.test(id);
  return isSound ? { identifier: id } : { unreadable: true };
}

/** The stored form of an identifier, which is a secret. Bound to the wallet, so equal ids of others do not match. */
export const identifierHashOf = (wallet: string, identifier: string): string =>
  createHash('sha256').update(`${wallet}\n${identifier}`).digest('hex');
