/**
 * Remembers short requests: clients repeat the same few with different ids. A request is stored without its id, so that
 * a repeat needs no parsing or validation.
 */
import type { Incoming, IncomingBatch, RpcRequest } from './json-rpc.ts';

const LONGEST = 512;
const MOST_KEPT = 500;

/** The SDKs and most other clients write the id at the very beginning or the very end. */
const FIRST = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}),/;
const LAST = /,"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14})\}$/;

/** The last of duplicate members counts, so a second id, in any spelling, would be the actual one. */
const MAY_NAME_ANOTHER_ID = /"id"|\\u/;

type Read = (body: Buffer) => Incoming | IncomingBatch;

/** @param read reads a body in full */
export function rememberingRequests(read: Read): Read {
  const known = new Map<string, Pick<RpcRequest, 'method' | 'params'>>();
  return (body) => {
    if (body.length > LONGEST) return read(body);
    // Compares bytes: equal Latin-1 texts are equal byte sequences.
    const text = body.toString('latin1');
    const first = FIRST.exec(text);
    const match = first ?? LAST.exec(text);
    if (!match) return read(body);
    const id = Number(match[1]);
    // The key includes which end the id was removed from.
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
