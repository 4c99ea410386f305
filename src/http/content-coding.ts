/** Bodies that are compressed once and served many times. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

const CODINGS = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof CODINGS)[number];

export interface Variant {
  readonly body: Buffer;
  /** A strong validator, different for each coding because the bytes differ (RFC 9110, 8.8.3). */
  readonly etag: string;
}

export type Variants = Readonly<Record<Coding, Variant>>;

/** For a megabyte of JSON, nearly the smallest size that brotli reaches, in a twentieth of the time. */
const BROTLI_QUALITY = 6;

/** Compresses in the thread pool, so that no other request waits. */
export async function compressed(body: Buffer): Promise<Variants> {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(body, {
      params: { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [zlib.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
    promisify(gzip)(body),
  ]);
  return {
    br: { body: br, etag: `"${hash}-br"` },
    gzip: { body: gz, etag: `"${hash}-gzip"` },
    identity: { body, etag: `"${hash}"` },
  };
}

const chosen = new Map<string, Coding>();
/** Few different headers are in use; the limit keeps callers from filling the memory with invented ones. */
const MAX_REMEMBERED = 200;

/** The coding that a caller prefers; among equals, the smallest (RFC 9110, 12.5.3). */
export function chooseCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity';
  let coding = chosen.get(acceptEncoding);
  if (coding === undefined) {
    coding = best(acceptEncoding);
    if (chosen.size < MAX_REMEMBERED && acceptEncoding.length < 200) chosen.set(acceptEncoding, coding);
  }
  return coding;
}

function best(acceptEncoding: string): Coding {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='));
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const other = weights.get('*');
  let favourite: Coding = 'identity';
  let most = 0;
  for (const coding of CODINGS) {
    // Uncompressed is acceptable unless excluded, and even then better than no answer.
    const weight = weights.get(coding) ?? other ?? (coding === 'identity' ? 0.001 : 0);
    if (weight > most) {
      favourite = coding;
      most = weight;
    }
  }
  return favourite;
}

/** The tag of the variant that `If-None-Match` names, by weak comparison; null if none. */
export function matchingTag(
  ifNoneMatch: string | undefined,
  variants: Readonly<Record<Coding, Pick<Variant, 'etag'>>>,
  coding: Coding,
): string | null {
  if (ifNoneMatch === undefined) return null;
  if (ifNoneMatch === variants[coding].etag) return ifNoneMatch;
  if (ifNoneMatch.trim() === '*') return variants[coding].etag;
  const known = new Map(CODINGS.map((each) => [opaque(variants[each].etag), variants[each].etag]));
  for (const part of ifNoneMatch.split(',')) {
    const tag = known.get(opaque(part.trim()));
    if (tag !== undefined) return tag;
  }
  return null;
}

const opaque = (tag: string): string => tag.replace(/^W\//, '');
