/**
 * Encodes content as a blob, the same for every payload store: 16 random bytes, one byte for the codec, the encoded
 * content. The name is the SHA-256 of all of it, so that a hash in the immutable log does not let anyone confirm a
 * guess of the content (docs/design/architecture.md#content-outside-events).
 */
import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  constants as zlibConstants,
} from 'node:zlib';
import { type BlobName, CorruptPayload, type EncodedPayload, type SealedPayload } from './payload-store.ts';

const SALT_BYTES = 16;
const HEADER_BYTES = SALT_BYTES + 1;

/** Codec numbers in stored blobs. Once used, a number never changes its meaning. */
const CODEC = { plain: 0, brotli: 1 } as const;

/**
 * On docket JSON of every size, Brotli 1 is faster than deflate 1 in both directions, and above a kilobyte no larger.
 */
const BROTLI_QUALITY = 1;
/** Below this size, compression takes longer than writing the bytes. */
const SMALLEST_TO_COMPRESS = 128;
/** Above this size the work moves off the main thread; below it, the hand-over costs more than it saves. */
const LARGEST_ON_MAIN_THREAD = 64 * 1024;

const compressAside = promisify<Uint8Array, object, Buffer>(brotliCompress);
const decompressAside = promisify<Uint8Array, Buffer>(brotliDecompress);

/** Makes a blob of content. The same content twice makes two blobs with two names. */
export async function sealPayload(content: Uint8Array): Promise<Pick<SealedPayload, 'name' | 'bytes'>> {
  const compressed = content.length < SMALLEST_TO_COMPRESS ? content : await compress(content);
  const isSmaller = compressed.length < content.length;
  const bytes = Buffer.concat([
    randomBytes(SALT_BYTES),
    Buffer.of(isSmaller ? CODEC.brotli : CODEC.plain),
    isSmaller ? compressed : content,
  ]);
  return { name: nameOf(bytes), bytes };
}

/**
 * The content of a blob.
 * @throws CorruptPayload if the bytes do not match the name
 */
export async function openPayload(name: BlobName, bytes: Buffer): Promise<Buffer> {
  return decoded(encodedPayload(name, bytes));
}

/**
 * The content of a blob, still encoded.
 * @throws CorruptPayload if the bytes do not match the name
 */
export function encodedPayload(name: BlobName, bytes: Buffer): EncodedPayload {
  if (nameOf(bytes) !== name) throw new CorruptPayload(name);
  const encoded = bytes.subarray(HEADER_BYTES);
  switch (bytes[SALT_BYTES]) {
    case CODEC.plain:
      return { name, coding: 'identity', bytes: encoded };
    case CODEC.brotli:
      return { name, coding: 'br', bytes: encoded };
    default:
      throw new Error(`blob ${name} has an encoding that this version does not support: ${bytes[SALT_BYTES]}`);
  }
}

/** The decoded content. */
export async function decoded({ coding, bytes }: Pick<EncodedPayload, 'coding' | 'bytes'>): Promise<Buffer> {
  if (coding === 'identity') return bytes;
  return bytes.length > LARGEST_ON_MAIN_THREAD ? await decompressAside(bytes) : brotliDecompressSync(bytes);
}

async function compress(content: Uint8Array): Promise<Buffer> {
  const options = {
    params: {
      [zlibConstants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [zlibConstants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  };
  return content.length > LARGEST_ON_MAIN_THREAD
    ? compressAside(content, options)
    : brotliCompressSync(content, options);
}

const nameOf = (bytes: Uint8Array): BlobName => createHash('sha256').update(bytes).digest('hex');
