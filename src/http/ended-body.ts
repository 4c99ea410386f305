/** Bodies that are compressed once although each answer ends differently: the ending is appended uncompressed. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, crc32, deflateRaw, constants as zlib } from 'node:zlib';
import type { Coding } from './content-coding.ts';

export interface EndedVariant {
  /** A weak validator: answers that differ only in their ending count as equal (RFC 9110, 8.8.1). */
  readonly etag: string;
  /** Everything before the ending, compressed. */
  readonly body: Buffer;
  /** The end of the answer: this text, encoded so that it can follow `body`. At most 64 KiB. */
  ending(text: string): Buffer;
}

export type EndedVariants = Readonly<Record<Coding, EndedVariant>>;

/** For a megabyte of JSON, nearly the smallest size that brotli reaches, in a twentieth of the time. */
const BROTLI_QUALITY = 6;

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** A last block that is stored (RFC 1951, 3.2.4). */
const LAST_STORED_BLOCK = 0x01;
/** ISLAST and ISLASTEMPTY (RFC 7932, 9.2). */
const END_OF_BROTLI = 0x03;

/** Compresses in the thread pool, so that no other request waits. */
export async function compressedBefore(body: Buffer): Promise<EndedVariants> {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  // Flushed but not finished: both end on a whole byte and accept more blocks.
  const [br, deflated] = await Promise.all([
    promisify(brotliCompress)(body, {
      finishFlush: zlib.BROTLI_OPERATION_FLUSH,
      params: { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [zlib.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
    promisify(deflateRaw)(body, { finishFlush: zlib.Z_SYNC_FLUSH }),
  ]);
  const checksum = crc32(body);
  return {
    br: { etag: `W/"${hash}-br"`, body: br, ending: endOfBrotli },
    gzip: {
      etag: `W/"${hash}-gzip"`,
      body: Buffer.concat([GZIP_HEADER, deflated]),
      ending: (text) => endOfGzip(Buffer.from(text), checksum, body.length),
    },
    identity: { etag: `W/"${hash}"`, body, ending: (text) => Buffer.from(text) },
  };
}

/** An uncompressed meta-block and the empty last one (RFC 7932, 9.2). */
function endOfBrotli(text: string): Buffer {
  const bytes = Buffer.from(text);
  const ended = Buffer.allocUnsafe(bytes.length + 4);
  // From the lowest bit: ISLAST 0, MNIBBLES 0 (four), MLEN - 1 in 16 bits, ISUNCOMPRESSED 1, then zeros to the byte's end.
  ended.writeUIntLE(((bytes.length - 1) << 3) | (1 << 19), 0, 3);
  bytes.copy(ended, 3);
  ended.writeUInt8(END_OF_BROTLI, ended.length - 1);
  return ended;
}

function endOfGzip(bytes: Buffer, checksumBefore: number, lengthBefore: number): Buffer {
  const ended = Buffer.allocUnsafe(bytes.length + 13);
  ended.writeUInt8(LAST_STORED_BLOCK, 0);
  ended.writeUInt16LE(bytes.length, 1);
  ended.writeUInt16LE(bytes.length ^ 0xffff, 3);
  bytes.copy(ended, 5);
  ended.writeUInt32LE(crc32(bytes, checksumBefore), bytes.length + 5);
  ended.writeUInt32LE((lengthBefore + bytes.length) >>> 0, bytes.length + 9);
  return ended;
}
