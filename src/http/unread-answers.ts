/**
 * Answers that their clients do not read. Each keeps its bytes in memory until the client accepts them, so they are bounded:
 * by connection, since answers leave one after the other (`requests-in-turn.ts`), by address and in all. A connection that
 * accepts next to nothing for a while is closed; past a bound those that accept least are closed first.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { BaseLogger } from 'pino';
import { sampledLines } from '../runtime/sampled-lines.ts';
import { clientOf } from './address-limit.ts';
import type { Metrics } from './admin/metrics.ts';
import type { ClientAddresses } from './client-address.ts';

const MEBIBYTE = 1024 * 1024;

export interface UnreadLimits {
  /** Most bytes written and not accepted for one client address, IPv6 by /64. One answer may always be larger. */
  readonly perAddress: number;
  /** Most for all of them together. */
  readonly inAll: number;
  /** In each such time a client must accept `leastBytes`, or all there is. */
  readonly patienceMs: number;
  readonly leastBytes: number;
}

/**
 * The largest answer has some 26 MB. The system accepts in steps of up to a megabyte and more, so that a client that is slow
 * and reads all the time needs a minute for one.
 */
export const UNREAD_LIMITS: UnreadLimits = {
  perAddress: 64 * MEBIBYTE,
  inAll: 256 * MEBIBYTE,
  patienceMs: 60_000,
  leastBytes: 16 * 1024,
};

/** `slow`: accepted next to nothing. `address`, `total`: a bound was met. `pipelined`: too many requests sent ahead. */
export type CloseReason = 'slow' | 'address' | 'total' | 'pipelined';

export interface UnreadAnswers {
  /** To be called when something was written that the system has not accepted at once. */
  note(socket: Socket, request: IncomingMessage): void;
  /** Closes a connection at once, with what is unread. */
  close(socket: Socket, reason: CloseReason): void;
  /** Written and not yet accepted, in all. */
  readonly pendingBytes: number;
}

export interface UnreadAnswersOptions {
  readonly limits?: UnreadLimits | undefined;
  readonly clientAddresses?: ClientAddresses | undefined;
  readonly logger?: Pick<BaseLogger, 'info'> | undefined;
  readonly metrics?: Pick<Metrics, 'unreadClosed' | 'watchUnread'> | undefined;
}

/** A connection with bytes pending. */
interface Reader {
  /** Whose address it counts for; null where only a proxy's is known. */
  readonly client: string | null;
  readonly since: number;
  readonly acceptedAtStart: number;
  pending: number;
  /** When the current span of patience began, and what had been accepted then. */
  spanAt: number;
  acceptedAtSpan: number;
}

/** How often connections with bytes pending are looked at; none is, while there are none. */
const LOOK_EVERY_MS = 1_000;
/** A connection that is younger has not had the time to read: it is closed for a bound only where no other is left. */
const YOUNG_MS = 1_000;

export function createUnreadAnswers({
  limits = UNREAD_LIMITS,
  clientAddresses,
  logger,
  metrics,
}: UnreadAnswersOptions = {}): UnreadAnswers {
  const readers = new Map<Socket, Reader>();
  const watched = new WeakSet<Socket>();
  const byClient = new Map<string, number>();
  const lines = logger && sampledLines(logger, 'unread answer');
  let inAll = 0;
  let looking: NodeJS.Timeout | undefined;
  metrics?.watchUnread(() => inAll);

  const setPending = (reader: Reader, bytes: number): void => {
    const change = bytes - reader.pending;
    reader.pending = bytes;
    inAll += change;
    if (reader.client === null) return;
    const sum = (byClient.get(reader.client) ?? 0) + change;
    if (sum > 0) byClient.set(reader.client, sum);
    else byClient.delete(reader.client);
  };

  const forget = (socket: Socket): void => {
    const reader = readers.get(socket);
    if (reader === undefined) return;
    setPending(reader, 0);
    readers.delete(socket);
    if (readers.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };

  /** Brings a reader up to date; null where nothing is pending any more. */
  const refreshed = (socket: Socket): Reader | null => {
    const reader = readers.get(socket);
    const pending = socket.destroyed ? 0 : socket.writableLength;
    if (reader === undefined) return null;
    if (pending === 0) {
      forget(socket);
      return null;
    }
    setPending(reader, pending);
    return reader;
  };

  const close = (socket: Socket, reason: CloseReason): void => {
    const pendingBytes = readers.get(socket)?.pending ?? socket.writableLength;
    forget(socket);
    metrics?.unreadClosed(reason);
    lines?.write({ reason }, { reason, pendingBytes });
    // The system would keep what it has accepted, and go on sending it.
    socket.resetAndDestroy();
  };

  const look = (): void => {
    const now = performance.now();
    for (const socket of [...readers.keys()]) {
      const reader = refreshed(socket);
      if (reader === null || now - reader.spanAt < limits.patienceMs) continue;
      const accepted = acceptedBy(socket);
      if (accepted - reader.acceptedAtSpan < limits.leastBytes) close(socket, 'slow');
      reader.spanAt = now;
      reader.acceptedAtSpan = accepted;
    }
  };

  /** Closes connections until the sum is within the bound, or one connection is left. */
  const hold = (client: string | null, most: number, reason: CloseReason): void => {
    const sum = () => (client === null ? inAll : (byClient.get(client) ?? 0));
    if (sum() <= most) return;
    const now = performance.now();
    const candidates = [...readers.keys()].flatMap((socket) => {
      if (client !== null && readers.get(socket)?.client !== client) return [];
      const reader = refreshed(socket);
      return reader === null ? [] : [{ socket, since: reader.since, ...standing(reader, socket, now) }];
    });
    candidates.sort((a, b) => Number(a.young) - Number(b.young) || a.rate - b.rate || a.since - b.since);
    for (const { socket } of candidates.slice(0, -1)) {
      if (sum() <= most) return;
      close(socket, reason);
    }
  };

  return {
    get pendingBytes() {
      return inAll;
    },
    close,
    note(socket, request) {
      if (socket.destroyed) return;
      let reader = readers.get(socket);
      if (reader === undefined) {
        const now = performance.now();
        const accepted = acceptedBy(socket);
        const client = clientAddresses ? clientAddresses.of(request) : (socket.remoteAddress ?? null);
        reader = {
          client: client === null ? null : clientOf(client),
          since: now,
          acceptedAtStart: accepted,
          pending: 0,
          spanAt: now,
          acceptedAtSpan: accepted,
        };
        readers.set(socket, reader);
        if (!watched.has(socket)) socket.once('close', () => forget(socket));
        watched.add(socket);
        looking ??= setInterval(look, Math.min(LOOK_EVERY_MS, limits.patienceMs)).unref();
      }
      setPending(reader, socket.writableLength);
      if (reader.client !== null) hold(reader.client, limits.perAddress, 'address');
      hold(null, limits.inAll, 'total');
    },
  };
}

const standing = ({ since, acceptedAtStart }: Reader, socket: Socket, now: number) => ({
  young: now - since < YOUNG_MS,
  rate: (acceptedBy(socket) - acceptedAtStart) / Math.max(1, now - since),
});

/** Node's own handle of a connection: `bytesWritten` counts what was handed to it, its queue what the system has not accepted. */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

/** Bytes that the system has accepted so far, parts of a write included. */
function acceptedBy(socket: Socket): number {
  const { bytesWritten, writeQueueSize = 0 } = (socket as { _handle?: Handle | null })._handle ?? {};
  // Without these figures, whole writes are counted.
  return bytesWritten === undefined ? socket.bytesWritten - socket.writableLength : bytesWritten - writeQueueSize;
}
