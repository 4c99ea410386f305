/**
 * Short requests that were read before: clients send the same few again and again, with another id each. What is kept is
 * the request without its id, so that a known one needs neither to be parsed nor to be checked.
 */
import type { Incoming, IncomingBatch, RpcRequest } from './json-rpc.ts';

const LONGEST = 512;
const MOST_KEPT = 500;

/** Where the SDKs, and most others, write the id: right at the beginning, or at the very end. */
const FIRST = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}),/;
const LAST = /,"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;

/** Where a member appears twice the last one counts, so a second id, in any spelling, would be the real one. */
const MAY_NAME_ANOTHER_ID = /"id"|\\u/;

type Read = (body: Buffer) => Incoming | IncomingBatch;

/** @param read reads a body in full */
export function rememberingRequests(read: Read): Read {
  const known = new Map<string, Pick<RpcRequest, 'method' | 'params'>>();
  return (body) => {
    if (body.length > LONGEST) return read(body);
    // Byte for byte: texts that are equal in Latin-1 are equal.
    const text = body.toString('latin1');
    const first = FIRST.exec(text);
    const match = first ?? LAST.exec(text);
    if (!match) return read(body);
    const id = Number(match[1]);
    // Which end is missing belongs to it.
    const rest = first ? `…${text.slice(first[0].length)}` : text.slice(0, match.index);
    const before = known.get(rest);
    if (before) return { kind: 'request', id, method: before.method, params: before.params };
    const message = read(body);
    if (message.kind === 'request' && message.id === id && !MAY_NAME_ANOTHER_ID.test(rest)) {
      if (known.size >= MOST_KEPT) known.clear();
      known.set(rest, { method: message.method, params: message.params });
    }
    return message;
  };
}
