/** What counts as public on this machine, and how TLS is spoken: the same for callbacks and for requests to sources. */
import { constants } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { createSecureContext, DEFAULT_CIPHERS, rootCertificates, type SecureContext } from 'node:tls';
import { isPublicAddress, rangeOf } from './public-address.ts';

/** How long this machine's own addresses are cached: they change with its interfaces. */
const OWN_ADDRESSES_MS = 10_000;

/**
 * Node's defaults without finite-field Diffie-Hellman, where the receiver chooses the size of the numbers that we
 * compute with.
 */
const CIPHERS = `${DEFAULT_CIPHERS}:!DHE`;
const CURVES = 'X25519:P-256:P-384:P-521';

/** @param extraAuthorities certificates (PEM) of authorities to trust in addition to the public ones */
export const guardedTls = (extraAuthorities?: readonly string[]): SecureContext =>
  createSecureContext({
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    ecdhCurve: CURVES,
    // In TLS 1.2 a receiver could request endless renegotiations, each of which costs us more than the receiver.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
    ...(extraAuthorities ? { ca: [...rootCertificates, ...extraAuthorities] } : {}),
  });

/**
 * What counts as public: {@link isPublicAddress}, except this machine's own addresses and the ranges of its network.
 * @throws RangeError for an invalid range
 */
export function judgeOf(refused: readonly string[]): (address: string) => boolean {
  const refusedRanges = refused.map(rangeOf);
  let ownAddresses: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (performance.now() - readAt > OWN_ADDRESSES_MS) {
      const entries = Object.values(networkInterfaces()).flat();
      ownAddresses = entries.flatMap((entry) => entry?.address ?? []);
      readAt = performance.now();
    }
    return isPublicAddress(address, { ownAddresses, refusedRanges });
  };
}
