/**
 * Decides by the URL alone what may be called. Pure, and before anything is resolved. A caller names the URL, so
 * everything in it is treated as hostile.
 */

import { isIP } from 'node:net';
import type { FailureClass } from '../../events/failure-class.ts';
import { parseUrl } from '../../runtime/parse-url.ts';

/** A URL that may be called, once its host's addresses are known to be public. */
export interface Target {
  readonly secure: boolean;
  /** Lower case, without a trailing dot; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether the host is an address, which needs no resolver. */
  readonly literal: boolean;
  /** `https://example.com:8443`: the key under which connections are kept. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Whether an operator has listed this host and port; then its address need not be public. */
  readonly trusted: boolean;
}

export interface TargetRejection {
  readonly failureClass: Extract<FailureClass, 'url_not_allowed' | 'address_not_public'>;
  /** For tests and logs: never contains any part of the URL. */
  readonly reason: string;
}

export type CheckedTarget = { readonly target: Target } | { readonly refused: TargetRejection };

export interface TargetRules {
  /** Host names of this service. */
  readonly ownHosts: readonly string[];
  /** Ports that this service listens on. */
  readonly ownPorts: readonly number[];
  /** `host:port` pairs from an operator (`CALLBACK_ALLOW_PRIVATE`), in the form of {@link readTrustedPair}. */
  readonly trustedPairs: ReadonlySet<string>;
  readonly isPublic: (address: string) => boolean;
}

const LONGEST_URL = 2_048;

/** Ports of 1024 and above that databases, queues, orchestrators and desktops listen on. */
const REFUSED_PORTS: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2113, 2375, 2376, 2377, 2378, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6379, 6443,
  7000, 7001, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 11211, 15672, 27017, 27018, 27019, 50000,
]);

/** Names that mean something on this machine or in this network, or nothing at all (RFC 6761 and its successors). */
const REFUSED_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa', '.onion', '.test', '.invalid'];

const LONGEST_HOST = 253;
const LONGEST_LABEL = 63;

/** Checks a callback's URL. The addresses of a host name are checked later, when it is resolved. */
export function checkTarget(text: string, rules: TargetRules): CheckedTarget {
  if (text.length > LONGEST_URL) return notAllowed(`the URL is longer than ${LONGEST_URL} characters`);
  const url = parseUrl(text);
  if (url === null) return notAllowed('not a valid URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return notAllowed('the scheme is neither https nor http');
  if (url.username !== '' || url.password !== '') return notAllowed('a URL with a user or a password is not allowed');
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const host = plainHost(url.hostname);
  const literal = isIP(host) !== 0;
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  const origin = `${url.protocol}//${shown}:${port}`;
  const target = { secure, host, port, literal, origin, path: url.pathname + url.search };
  if (rules.trustedPairs.has(`${shown}:${port}`)) return { target: { ...target, trusted: true } };
  if (!portAllowed(port, rules.ownPorts)) return notAllowed('the port is not allowed for callbacks');
  const refused = literal ? refusedAddress(host, rules) : refusedName(host, rules);
  return refused ? { refused } : { target: { ...target, trusted: false } };
}

/** `127.0.0.1:9000` or `[::1]:9000` in the form used for comparison; null for anything but an address and a port. */
export function readTrustedPair(text: string): string | null {
  if (!/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\]):\d{1,5}$/i.test(text)) return null;
  const url = parseUrl(`http://${text}`);
  if (url === null || url.port === '0') return null;
  const { hostname, port } = url;
  return isIP(plainHost(hostname)) === 0 ? null : `${hostname}:${port || 80}`;
}

/**
 * A host as the URL standard parses it (which unifies every notation of an address), without the trailing dot and the
 * brackets of an IPv6 address.
 */
export const plainHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

function portAllowed(port: number, ownPorts: readonly number[]): boolean {
  if (port === 443 || port === 80) return true;
  return port >= 1_024 && !REFUSED_PORTS.has(port) && !ownPorts.includes(port);
}

function refusedAddress(host: string, { isPublic, ownHosts }: TargetRules): TargetRejection | null {
  if (ownHosts.includes(host))
    return { failureClass: 'address_not_public', reason: "the address is this service's own" };
  if (isPublic(host)) return null;
  return { failureClass: 'address_not_public', reason: 'the address is not public' };
}

function refusedName(host: string, { ownHosts }: TargetRules): TargetRejection | null {
  const refuse = (reason: string): TargetRejection => ({ failureClass: 'url_not_allowed', reason });
  const labels = host.split('.');
  if (labels.length < 2) return refuse('the host is a single label');
  if (host.length > LONGEST_HOST || labels.some((label) => label === '' || label.length > LONGEST_LABEL)) {
    return refuse('the host is not a DNS name');
  }
  if (REFUSED_SUFFIXES.some((suffix) => host.endsWith(suffix) || host === suffix.slice(1))) {
    return refuse('the host is a special-use name');
  }
  return ownHosts.some((own) => host === own) ? refuse("the host is this service's own") : null;
}

const notAllowed = (reason: string): CheckedTarget => ({ refused: { failureClass: 'url_not_allowed', reason } });
