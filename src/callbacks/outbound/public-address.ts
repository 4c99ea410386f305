/** Decides which addresses are public, by their bits. Pure: no resolver, no system call. */
import { isIP } from 'node:net';

/** An address as bits. An IPv4 address embedded in an IPv6 one stays an IPv6 address. */
export interface AddressBits {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

export interface AddressRange extends AddressBits {
  readonly prefixLength: number;
}

export interface AddressRules {
  /** Addresses of this machine, as text: never called, public or not. */
  readonly ownAddresses?: readonly string[];
  /** IPv6 ranges that lead into a network of our own, for example a NAT64 prefix: never called. */
  readonly refusedRanges?: readonly AddressRange[];
}

/** IPv4, rejected: IANA's special-purpose registries, multicast and reserved (224/3), and one cloud's host agent. */
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '168.63.129.16/32',
].map(rangeOf);

/**
 * IPv6: all of global unicast, and nothing else. This excludes mapped, NAT64, unique local and link-local addresses.
 */
const ALLOWED_IPV6 = rangeOf('2000::/3');

/** Parts of global unicast that are not public: protocol assignments (Teredo among them), documentation, 6to4, AS112. */
const REFUSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48'].map(rangeOf);

/** Whether a callback may go to the address. Text that is not an address without a zone is not public. */
export function isPublicAddress(
  address: string,
  { ownAddresses = [], refusedRanges = [] }: AddressRules = {},
): boolean {
  const bits = readAddress(address);
  if (!bits) return false;
  if (ownAddresses.some((own) => sameAddress(bits, readAddress(own)))) return false;
  if (refusedRanges.some((range) => inRange(bits, range))) return false;
  if (bits.family === 4) return !REFUSED_IPV4.some((range) => inRange(bits, range));
  return inRange(bits, ALLOWED_IPV6) && !REFUSED_IPV6.some((range) => inRange(bits, range));
}

/** The bits of an address as `net.isIP` accepts it, without a zone; otherwise null. */
export function readAddress(text: string): AddressBits | null {
  const family = isIP(text);
  if (family === 4) return { family, bits: ipv4Bits(text) };
  if (family !== 6 || text.includes('%')) return null;
  return { family, bits: ipv6Bits(text) };
}

/** Whether two texts are the same address; an IPv4 address mapped into IPv6 counts as the IPv4 one. */
export function isSameAddress(a: string, b: string): boolean {
  const [first, second] = [readAddress(a), readAddress(b)];
  return first !== null && second !== null && sameAddress(unmapped(first), unmapped(second));
}

/** A range such as `64:ff9b::/96`; null if it is not one, or has a bit set after its prefix. */
export function readRange(text: string): AddressRange | null {
  const [, address = '', length = ''] = /^([0-9a-f:.]+)\/(\d{1,3})$/i.exec(text) ?? [];
  const bits = readAddress(address);
  const prefixLength = Number(length);
  if (!bits || prefixLength > widthOf(bits.family)) return null;
  const range = { ...bits, prefixLength };
  return (bits.bits & (sizeOf(range) - 1n)) === 0n ? range : null;
}

/** @throws RangeError */
export function rangeOf(text: string): AddressRange {
  const range = readRange(text);
  if (!range) throw new RangeError(`${text} is not an address range`);
  return range;
}

function widthOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** How many addresses a range holds. */
function sizeOf({ family, prefixLength }: AddressRange): bigint {
  return 1n << BigInt(widthOf(family) - prefixLength);
}

const inRange = ({ family, bits }: AddressBits, range: AddressRange): boolean =>
  family === range.family && bits - (bits & (sizeOf(range) - 1n)) === range.bits;

const sameAddress = (a: AddressBits, b: AddressBits | null): boolean =>
  b !== null && a.family === b.family && a.bits === b.bits;

const unmapped = (address: AddressBits): AddressBits =>
  address.family === 6 && address.bits >> 32n === 0xffffn ? { family: 4, bits: address.bits & 0xffff_ffffn } : address;

function ipv4Bits(text: string): bigint {
  return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function ipv6Bits(text: string): bigint {
  const [before = '', after = ''] = withoutDots(text).split('::');
  const [head, rest] = [groupsOf(before), groupsOf(after)];
  const zeros = new Array<bigint>(8 - head.length - rest.length).fill(0n);
  return [...head, ...zeros, ...rest].reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** The last 32 bits of an IPv6 address may be written as an IPv4 one: this converts them to two groups. */
function withoutDots(text: string): string {
  return text.replace(/[^:]+\.[^:]+$/, (dotted) => {
    const bits = ipv4Bits(dotted);
    return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
  });
}

function groupsOf(text: string): bigint[] {
  return text === '' ? [] : text.split(':').map((group) => BigInt(`0x${group}`));
}
