/**
 * Limits a response between connection and HTTP client: its bytes, and its informational responses, which it removes.
 * The client does not limit endless reason phrases, chunk extensions or informational responses, and it treats an
 * unrequested `100 Continue` as an error, which RFC 9110 (15.2) forbids.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { AttemptFailure } from './attempt-failure.ts';

/** Maximum bytes of a response that are read: informational responses, head, framing and body together. */
export const MOST_RESPONSE_BYTES = 16 * 1024;
const MOST_INFORMATIONAL = 5;

const NOTHING = Buffer.alloc(0);
/** Enough of a head to show that it is an informational one, and all prefixes of that. */
const INFORMATIONAL = /^HTTP\/\d\.\d (1\d\d)$/;
const STATUS_BYTES = 12;
const SAMPLE = 'HTTP/1.1 199';
const END_OF_HEAD = '\r\n\r\n';
const [CR, LF] = [13, 10];

export class ResponseGate extends Duplex {
  readonly #socket: Socket;
  #bytes = 0;
  #informational = 0;
  /** The start of a head that is not classified yet; null once the final response has begun. */
  #head: Buffer | null = NOTHING;
  #shut = false;
  #ended = false;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => this.#end());
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.#closed());
  }

  /** Another request goes out on this connection, so the limits start again for its response. */
  expectResponse(): void {
    this.#bytes = 0;
    this.#informational = 0;
    this.#head = NOTHING;
  }

  #receive(chunk: Buffer): void {
    if (this.#shut) return;
    const allowed = chunk.subarray(0, MOST_RESPONSE_BYTES - this.#bytes);
    this.#bytes += chunk.length;
    this.#pass(allowed);
    if (this.#bytes > MOST_RESPONSE_BYTES) this.#shutAfterReading('the response is too long');
  }

  #pass(chunk: Buffer): void {
    if (this.#head !== null) {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      this.#tell();
    } else {
      this.#push(chunk);
    }
  }

  /** Removes informational responses from the start; the rest goes to the client. */
  #tell(): void {
    while (this.#head !== null && this.#head.length > 0) {
      const head = withoutLineEnds(this.#head);
      this.#head = head;
      if (head.length === 0) return;
      const status = informationalStatus(head);
      if (status === null) {
        this.#head = null;
        this.#push(head);
        return;
      }
      const end = head.indexOf(END_OF_HEAD);
      if (head.length < STATUS_BYTES || end === -1) return;
      this.#head = head.subarray(end + END_OF_HEAD.length);
      this.#informational++;
      if (status === 101) this.#fail('protocol_error', 'the receiver changed the protocol without being asked');
      else if (this.#informational > MOST_INFORMATIONAL) {
        this.#fail('response_too_large', 'the receiver sent too many informational responses');
      }
      if (this.#shut) return;
    }
  }

  #push(chunk: Buffer): void {
    if (chunk.length > 0 && !this.push(chunk)) this.#socket.pause();
  }

  #fail(failureClass: 'protocol_error' | 'response_too_large', message: string): void {
    this.#shut = true;
    this.destroy(new AttemptFailure(failureClass, message));
  }

  /** Data that was let through is read first: a status in it counts. */
  #shutAfterReading(message: string): void {
    if (this.#shut) return;
    this.#shut = true;
    this.#socket.pause();
    setImmediate(() => this.destroy(new AttemptFailure('response_too_large', message)));
  }

  #end(): void {
    if (this.#shut) return;
    // The client decides about a head that was not classified yet.
    if (this.#head !== null) this.#push(this.#head);
    this.#ended = true;
    this.push(null);
  }

  /** Data that was let through is first read to its end. */
  #closed(): void {
    if (this.#ended && !this.readableEnded) this.once('end', () => this.destroy());
    else this.destroy();
  }

  override _read(): void {
    if (!this.#shut) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#written(this.#socket.write(chunk), done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#written(this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk))), done);
  }

  #written(taken: boolean, done: () => void): void {
    if (taken) done();
    else this.#socket.once('drain', done);
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/**
 * The status of a head that starts with an informational one, as far as it has arrived (a truncated one may still
 * become any). Null for any other head, and for anything that is not HTTP.
 */
function informationalStatus(head: Buffer): number | null {
  const begin = head.toString('latin1', 0, STATUS_BYTES);
  const [, status] = INFORMATIONAL.exec(begin + SAMPLE.slice(begin.length)) ?? [];
  return status === undefined ? null : Number(status);
}

/** A head may begin with empty lines, which the client skips. */
function withoutLineEnds(head: Buffer): Buffer {
  let at = 0;
  while (head[at] === CR || head[at] === LF) at++;
  return head.subarray(at);
}
