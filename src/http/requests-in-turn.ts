/**
 * Handles the pipelined requests of a connection (HTTP/1.1) one after the other: each starts once the system has accepted
 * the answer to the previous one. Otherwise a few kilobytes of requests could make any number of large answers wait in
 * memory.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isPurchase } from './request-log.ts';
import type { UnreadAnswers } from './unread-answers.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Most requests that may wait on one connection; clients that pipeline send only a few. */
export const MOST_WAITING = 256;

export function requestsInTurn(handle: Handler, unread: Pick<UnreadAnswers, 'close'>): Handler {
  /** The newest answer on each connection, and the number of requests that wait for it. */
  const lines = new WeakMap<Socket, { last: ServerResponse; waiting: number }>();
  return (request, response) => {
    const { socket } = request;
    // After an answer with `Connection: close` nothing can be sent, so later requests are not run and not charged.
    if (socket.writableEnded) return;
    const line = lines.get(socket);
    if (line === undefined) lines.set(socket, { last: response, waiting: 0 });
    if (line === undefined || (line.waiting === 0 && line.last.writableFinished)) {
      if (line) line.last = response;
      handle(request, response);
      return;
    }
    if (++line.waiting > MOST_WAITING) {
      if (!socket.destroyed) unread.close(socket, 'pipelined');
      return;
    }
    line.last.once('close', () => {
      line.waiting--;
      if (!socket.destroyed && !socket.writableEnded) handle(request, response);
    });
    line.last = response;
  };
}

/** Responses that report when the system does not accept them at once. */
export function notedResponses(unread: Pick<UnreadAnswers, 'note'>): typeof ServerResponse<IncomingMessage> {
  return class NotedResponse extends ServerResponse<IncomingMessage> {
    override write(...sent: readonly unknown[]): boolean {
      const accepted = super.write(...(sent as Parameters<ServerResponse['write']>));
      if (!accepted) noteIfPending(this);
      return accepted;
    }

    override end(...sent: readonly unknown[]): this {
      super.end(...(sent as Parameters<ServerResponse['end']>));
      noteIfPending(this);
      return this;
    }
  };

  function noteIfPending(response: ServerResponse): void {
    const { socket, req } = response;
    if (socket !== null && socket.writableLength > 0) unread.note(socket, req, isPurchase(response));
  }
}
