/** Collects the body of a response, unpacked, and stops at the limit. */

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { HttpFault } from './http-fault.ts';

/** What the service can unpack, for `Accept-Encoding`. */
export const ENCODINGS = 'gzip, deflate, br';

export interface BodyReader {
  /** @returns false if the sender should wait until `onReady` is called */
  add(chunk: Buffer): boolean;
  end(): void;
  /** Stops for good; nothing is called any more. */
  destroy(): void;
}

interface BodyEvents {
  /** The whole body. */
  readonly done: (body: Buffer) => void;
  readonly failed: (fault: HttpFault) => void;
  readonly ready: () => void;
}

/**
 * @param encoding `Content-Encoding` of the response; empty for none
 * @throws HttpFault for an encoding that nobody asked for
 */
export function readBody(encoding: string, maxBytes: number, events: BodyEvents): BodyReader {
  const name = encoding.trim().toLowerCase();
  const body = new Collected(maxBytes, events);
  if (name === '' || name === 'identity') return body;
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) {
    throw new HttpFault('unreadable', 'the response has an encoding that was not asked for');
  }
  return new Unpacked(name, body, events);
}

class Collected implements BodyReader {
  readonly #maxBytes: number;
  readonly #events: BodyEvents;
  #parts: Buffer[] = [];
  #bytes = 0;
  #over = false;

  constructor(maxBytes: number, events: BodyEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  get isOver(): boolean {
    return this.#over;
  }

  add(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.destroy();
      this.#events.failed(new HttpFault('too_large', `the body is longer than ${this.#maxBytes} bytes`));
      return true;
    }
    // A copy: the chunk is a view of the whole read buffer, which would stay in memory with it.
    this.#parts.push(Buffer.from(chunk));
    return true;
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.done(Buffer.concat(this.#parts));
  }

  destroy(): void {
    this.#over = true;
    this.#parts = [];
  }
}

class Unpacked implements BodyReader {
  readonly #encoding: string;
  readonly #body: Collected;
  readonly #events: BodyEvents;
  /** Made with the first byte, which shows the form of `deflate`. */
  #unpacker: Transform | null = null;

  constructor(encoding: string, body: Collected, events: BodyEvents) {
    this.#encoding = encoding;
    this.#body = body;
    this.#events = events;
  }

  add(chunk: Buffer): boolean {
    if (this.#body.isOver || chunk.length === 0) return true;
    this.#unpacker ??= this.#make(chunk);
    return this.#unpacker.write(Buffer.from(chunk));
  }

  end(): void {
    // No byte: a server may name an encoding for an empty body.
    if (this.#unpacker) this.#unpacker.end();
    else this.#body.end();
  }

  destroy(): void {
    this.#body.destroy();
    this.#unpacker?.destroy();
  }

  #make(first: Buffer): Transform {
    const unpacker = unpackerOf(this.#encoding, first);
    unpacker.on('data', (part: Buffer) => {
      this.#body.add(part);
      if (this.#body.isOver) unpacker.destroy();
    });
    unpacker.on('drain', () => this.#events.ready());
    unpacker.on('end', () => this.#body.end());
    unpacker.on('error', () => {
      if (this.#body.isOver) return;
      this.#body.destroy();
      this.#events.failed(new HttpFault('unreadable', 'the body cannot be unpacked'));
    });
    return unpacker;
  }
}

function unpackerOf(encoding: string, first: Buffer): Transform {
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding !== 'deflate') return createGunzip();
  // Some servers send `deflate` without its zlib frame, which begins with a byte like 0x78.
  return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
}
