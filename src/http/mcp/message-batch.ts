/**
 * Several JSON-RPC messages in one body, as in revision 2025-03-26. Each is answered as if it had been sent alone: with
 * its own request id, and a paid call counts and pays separately.
 */
import type { Answer } from './answer.ts';
import { AFTER_RESULT, failure, failureText, type Incoming, RPC, type RpcId } from './json-rpc.ts';

/** Maximum bytes of answers in memory. Messages beyond it are rejected before anything is done for them. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Sequential, so that a message rejected for lack of room has cost nothing. Without any request there is no body. */
export async function answerBatch(
  messages: readonly Incoming[],
  answer: (message: Incoming) => Answer | Promise<Answer>,
  failed: (cause: unknown) => void,
): Promise<Answer> {
  const parts: Buffer[] = [];
  let length = 0;
  for (const message of messages) {
    const full = length >= MOST_BYTES && message.kind === 'request';
    const bytes = full ? refusedFor(message.id, TOO_MUCH) : await bytesFor(message, answer, failed);
    if (bytes === null) continue;
    parts.push(Buffer.from(parts.length === 0 ? '[' : ','), bytes);
    length += bytes.length;
  }
  if (parts.length === 0) return { status: 202, body: null };
  return { status: 200, body: '', result: Buffer.concat(parts), ending: ']' };
}

const TOO_MUCH =
  'The answers of this batch are too large together: send this message again, by itself. Nothing was charged.';
const NO_INITIALIZE = 'initialize must not be part of a batch: send it alone.';

/** An unexpected failure of one message does not affect the others' answers. */
async function bytesFor(
  message: Incoming,
  answer: (message: Incoming) => Answer | Promise<Answer>,
  failed: (cause: unknown) => void,
): Promise<Buffer | null> {
  try {
    return bytesOf(await answerOne(message, answer));
  } catch (error) {
    failed(error);
    return message.kind === 'request' ? refusedFor(message.id, 'Something went wrong here.') : null;
  }
}

function answerOne(message: Incoming, answer: (message: Incoming) => Answer | Promise<Answer>) {
  const begins = message.kind === 'request' && message.method === 'initialize';
  return begins
    ? { status: 200, body: failureText(message.id, failure(RPC.invalidRequest, NO_INITIALIZE, 200)) }
    : answer(message);
}

function bytesOf({ body, result }: Answer): Buffer | null {
  if (body === null) return null;
  return result ? Buffer.concat([Buffer.from(body), result, Buffer.from(AFTER_RESULT)]) : Buffer.from(body);
}

const refusedFor = (id: RpcId, message: string): Buffer =>
  Buffer.from(failureText(id, failure(RPC.internalError, message, 200)));
