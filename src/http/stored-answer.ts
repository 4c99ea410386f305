/**
 * Sends a stored answer over HTTP. It was compressed when it was stored, and callers that accept brotli get it unchanged.
 * Other codings are made once and kept for a while. Its bytes never change, so the name of its blob is its entity tag.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decoded } from '../storage/payload-blob.ts';
import type { EncodedPayload } from '../storage/payload-store.ts';
import { type Coding, chooseCoding, matchingTag } from './content-coding.ts';
import { type PaidAnswer, sendPaidAnswer } from './paid/paid-route.ts';

/** Most bytes of converted answers that are kept: a few of the largest. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

export interface StoredAnswers {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    stored: EncodedPayload,
    answer: Omit<PaidAnswer, 'body'>,
  ): Promise<FastifyReply>;
}

export function storedAnswers(): StoredAnswers {
  const forms = new KeptForms();
  return {
    async send(request, reply, stored, answer) {
      // An answer too small to be compressed is sent uncompressed to every caller.
      const coding =
        stored.coding === 'identity' ? 'identity' : chooseCoding(request.headers['accept-encoding']?.toString());
      const variants = tagsOf(stored.name);
      reply.header('vary', 'Accept-Encoding');
      const known = matchingTag(request.headers['if-none-match'], variants, coding);
      if (known !== null)
        return reply.code(304).header('etag', known).header('cache-control', 'private, no-store').send();
      reply.header('etag', variants[coding].etag);
      if (coding !== 'identity') reply.header('content-encoding', coding);
      return sendPaidAnswer(reply, { ...answer, body: await forms.of(stored, coding) });
    },
  };
}

/** Different for each coding because the bytes differ (RFC 9110, 8.8.3). */
function tagsOf(name: string): Readonly<Record<Coding, { readonly etag: string }>> {
  const tag = name.slice(0, 32);
  return { br: { etag: `"${tag}-br"` }, gzip: { etag: `"${tag}-gzip"` }, identity: { etag: `"${tag}"` } };
}

/** Converted answers, most recently used; each is made once, even for concurrent requests. */
class KeptForms {
  readonly #made = new Map<string, Promise<Buffer>>();
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  async of(stored: EncodedPayload, coding: Coding): Promise<Buffer> {
    if (coding === stored.coding) return stored.bytes;
    const key = `${stored.name} ${coding}`;
    const known = this.#made.get(key);
    const form = known ?? make(stored, coding);
    this.#made.delete(key);
    this.#made.set(key, form);
    try {
      const bytes = await form;
      if (known === undefined) this.#keep(key, bytes.length);
      return bytes;
    } catch (error) {
      this.#made.delete(key);
      throw error;
    }
  }

  #keep(key: string, length: number): void {
    this.#sizes.set(key, length);
    this.#bytes += length;
    for (const oldest of this.#made.keys()) {
      if (this.#bytes <= MOST_KEPT_BYTES) return;
      const size = this.#sizes.get(oldest);
      // A conversion counts once it is finished.
      if (size === undefined) continue;
      this.#made.delete(oldest);
      this.#sizes.delete(oldest);
      this.#bytes -= size;
    }
  }
}

async function make(stored: EncodedPayload, coding: Coding): Promise<Buffer> {
  const content = await decoded(stored);
  return coding === 'gzip' ? promisify(gzip)(content) : content;
}
