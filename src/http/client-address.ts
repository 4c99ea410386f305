/**
 * Finds the address that a request counts for (docs/design/payments.md#address-limit): the peer of the connection, or
 * the client that a trusted proxy names in `X-Forwarded-For`, read from the right, where our own proxies write.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { readAddress, readRange } from '../callbacks/outbound/public-address.ts';

export interface ClientAddresses {
  /**
   * The address of the client, without zone and port. Null if only a proxy is known: a limit on its address would let one
   * client lock out all others behind the same proxy.
   */
  of(request: Pick<IncomingMessage, 'socket' | 'headers'>): string | null;
}

export interface ClientAddressOptions {
  /** Ranges (`10.0.0.0/8`, `2001:db8::/32`), as returned by {@link readProxyRange}. */
  readonly trustedProxies?: readonly string[];
  /** Called with the peer's address for each request that a peer outside the trusted ranges forwards. */
  readonly onUntrusted?: (peer: string) => void;
}

/** Most hops read, from the right; real chains of proxies are shorter. */
const MOST_HOPS = 32;

/** Peers in these ranges are the operator's proxies or programs, never callers from the internet. */
const INTERNAL = blockListOf([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

/** Whether an address, as `of` gives it, is one that no caller from the internet has. */
export const isInternal = (address: string): boolean => isListed(INTERNAL, address);

export function createClientAddresses({
  trustedProxies = [],
  onUntrusted = () => {},
}: ClientAddressOptions = {}): ClientAddresses {
  const trusted = blockListOf(trustedProxies);
  const hasTrusted = trustedProxies.length > 0;
  return {
    of({ socket, headers }) {
      const peer = readPeer(socket.remoteAddress ?? '');
      if (peer === null) return null;
      const forwarded = headers['x-forwarded-for'];
      if (hasTrusted && isListed(trusted, peer)) return lastUntrusted([forwarded ?? []].flat().join(','), trusted);
      if (!forwarded?.length) return peer;
      onUntrusted(peer);
      // An unconfigured proxy: callers from the internet cannot have such an address.
      return isListed(INTERNAL, peer) ? null : peer;
    },
  };
}

const MAPPED = '::ffff:';

/** Node wrote the peer's address, without a port, so IPv4 (mapped or not) needs no further check. */
function readPeer(address: string): string | null {
  const bare = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
  return isIPv4(bare) ? bare : readHop(address);
}

/** The rightmost hop that is not a trusted proxy; null if there is none or an unreadable one comes first. */
function lastUntrusted(forwarded: string, trusted: BlockList): string | null {
  const hops = forwarded.split(',').slice(-MOST_HOPS);
  for (const hop of hops.reverse()) {
    const address = readHop(hop.trim());
    if (address === null || !isListed(trusted, address)) return address;
  }
  return null;
}

const PORT = ':\\d{1,5}';
const WITH_PORT = new RegExp(`^(?:\\[([^\\]]+)\\](?:${PORT})?|([\\d.]+)${PORT})$`);

/** The address in one entry, which may contain a port and a zone; null for anything else. */
function readHop(text: string): string | null {
  const [, inBrackets, beforePort] = WITH_PORT.exec(text) ?? [];
  const bare = (inBrackets ?? beforePort ?? text).replace(/%.*$/s, '').toLowerCase();
  const read = readAddress(bare);
  if (read === null) return null;
  const isMapped = read.family === 6 && read.bits >> 32n === 0xffffn;
  return isMapped ? [24n, 16n, 8n, 0n].map((shift) => (read.bits >> shift) & 0xffn).join('.') : bare;
}

const isListed = (list: BlockList, address: string): boolean => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', length] = range.split('/');
    list.addSubnet(address, Number(length), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** A range in CIDR notation, or a single address as a range. Null for anything else and for a range of all addresses. */
export function readProxyRange(text: string): string | null {
  const range = isIP(text) === 0 ? text : `${text}/${isIPv4(text) ? 32 : 128}`;
  const read = readRange(range);
  return read === null || read.prefixLength === 0 ? null : range.toLowerCase();
}
