/** Stores the body of a push in a file, unpacked, within limits: a body is read in full before any of it is recorded. */
import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Problem, problem } from '../../errors.ts';
import { malformedRequest } from '../broken-requests.ts';

export interface ReceivedBody {
  /** Bytes read, unpacked; also of a body that is refused. */
  readonly bytes: number;
  /** Null if the whole body is stored. */
  readonly refusal: Problem | null;
  /** Whether the caller has left, and nobody reads an answer. */
  readonly isGone: boolean;
}

interface Expected {
  readonly path: string;
  readonly isCompressed: boolean;
  /** The most bytes, as sent and unpacked. */
  readonly maxBytes: number;
}

class TooLarge extends Error {}

/** @throws the errors of the file system */
export async function receiveBody(
  request: IncomingMessage,
  { path, isCompressed, maxBytes }: Expected,
): Promise<ReceivedBody> {
  const tooLarge = problem(
    'payload_too_large',
    {
      limit: maxBytes,
      hint: `Send at most ${maxBytes} bytes, counted unpacked: several smaller bodies instead of one.`,
    },
    'The body is too large.',
  );
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return { bytes: 0, refusal: tooLarge, isGone: false };
  const sent = new Counting(maxBytes);
  const unpacked = isCompressed ? new Counting(maxBytes) : sent;
  const source = Readable.from(chunksOf(request), { objectMode: false });
  const file = createWriteStream(path, { mode: 0o600 });
  try {
    if (isCompressed) await pipeline(source, sent, createGunzip(), unpacked, file);
    else await pipeline(source, sent, file);
    return { bytes: unpacked.bytes, refusal: null, isGone: false };
  } catch (error) {
    const { bytes } = unpacked;
    if (error instanceof TooLarge) return { bytes, refusal: tooLarge, isGone: false };
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code.startsWith('Z_')) {
      const refusal = malformedRequest(
        'Send the whole body as gzip, or without Content-Encoding.',
        'The body is not gzip.',
      );
      return { bytes, refusal, isGone: false };
    }
    if (request.destroyed || request.errored) return { bytes, refusal: null, isGone: true };
    throw error;
  }
}

/**
 * Keeps the connection open when reading ends early, so that the caller still receives the reason. Given to a pipeline
 * directly, the request's own iterator destroys the request on an error.
 */
async function* chunksOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk;
}

class Counting extends Transform {
  bytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: Error | null, chunk?: Buffer) => void,
  ): void {
    this.bytes += chunk.length;
    if (this.bytes > this.#maxBytes) done(new TooLarge());
    else done(null, chunk);
  }
}
