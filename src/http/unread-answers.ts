/**
 * Answers that their clients do not read. Each keeps its bytes in memory until the client accepts them, so they are bounded:
 * by connection, since answers leave one after the other (`requests-in-turn.ts`), by address and in all. A connection that
 * accepts next to nothing for a while is closed; past a bound `eviction-order.ts` says which are closed first.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { BaseLogger } from 'pino';
import { sampledLines } from '../runtime/sampled-lines.ts';
import { siteOf } from './address-limit.ts';
import type { Metrics } from './admin/metrics.ts';
import type { ClientAddresses } from './client-address.ts';
import { inOrderOfEviction } from './eviction-order.ts';

const MEBIBYTE = 1024 * 1024;

export interface UnreadLimits {
  /**
   * Most bytes of unpaid answers written and not accepted for one client address, IPv6 by /48. One answer may always be
   * larger. Paid answers do not count: who pays for several at once gets them.
   */
  readonly perAddress: number;
  /** Most for all answers together, paid or not. */
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
  /**
   * To be called when something was written that the system has not accepted at once.
   * @param paid whether the answer was charged for
   */
  note(socket: Socket, request: IncomingMessage, paid: boolean): void;
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
  /** Of the answer that leaves now. */
  paid: boolean;
  pending: number;
  /** When the current span of patience began, and what had been accepted then. */
  spanAt: number;
  acceptedAtSpan: number;
}

/** How often connections with bytes pending are looked at; none is, while there are none. */
const LOOK_EVERY_MS = 1_000;
/** A connection that is younger has not had the time to read: of its client's it is closed last. */
const YOUNG_MS = 1_000;

export function createUnreadAnswers({
  limits = UNREAD_LIMITS,
  clientAddresses,
  logger,
  metrics,
}: UnreadAnswersOptions = {}): UnreadAnswers {
  const readers = new Map<Socket, Reader>();
  const watched = new WeakSet<Socket>();
  const unpaidByClient = new Map<string, number>();
  const lines = logger && sampledLines(logger, 'unread answer');
  let inAll = 0;
  let looking: NodeJS.Timeout | undefined;
  metrics?.watchUnread(() => inAll);

  const setPending = (reader: Reader, bytes: number): void => {
    const change = bytes - reader.pending;
    reader.pending = bytes;
    inAll += change;
    if (reader.client === null || reader.paid) return;
    const sum = (unpaidByClient.get(reader.client) ?? 0) + change;
    if (sum > 0) unpaidByClient.set(reader.client, sum);
    else unpaidByClient.delete(reader.client);
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

  /**
   * Closes connections until the sum is within the bound, or one connection is left.
   * @param client whose unpaid answers are bounded; null: all answers are
   */
  const hold = (client: string | null, most: number, reason: CloseReason): void => {
    const sum = () => (client === null ? inAll : (unpaidByClient.get(client) ?? 0));
    if (sum() <= most) return;
    const now = performance.now();
    const held = [...readers].flatMap(([socket, known]) => {
      if (client !== null && (known.client !== client || known.paid)) return [];
      const reader = refreshed(socket);
      return reader === null ? [] : [{ ...reader, connection: socket, ...standing(reader, socket, now) }];
    });
    for (const socket of inOrderOfEviction(held)) {
      if (sum() <= most) return;
      close(socket, reason);
    }
  };

  return {
    get pendingBytes() {
      return inAll;
    },
    close,
    note(socket, request, paid) {
      if (socket.destroyed) return;
      let reader = readers.get(socket);
      if (reader === undefined) {
        const now = performance.now();
        const accepted = acceptedBy(socket);
        const client = clientAddresses ? clientAddresses.of(request) : (socket.remoteAddress ?? null);
        reader = {
          client: client === null ? null : siteOf(client),
          since: now,
          acceptedAtStart: accepted,
          paid,
          pending: 0,
          spanAt: now,
          acceptedAtSpan: accepted,
        };
        readers.set(socket, reader);
        if (!watched.has(socket)) socket.once('close', () => forget(socket));
        watched.add(socket);
        looking ??= setInterval(look, Math.min(LOOK_EVERY_MS, limits.patienceMs)).unref();
      }
      if (reader.paid !== paid) {
        setPending(reader, 0);
        reader.paid = paid;
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
