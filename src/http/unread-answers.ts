/**
 * Limits answers that clients do not read. Each keeps its bytes in memory until the client accepts them, so there are
 * limits per connection (answers leave one after the other, `requests-in-turn.ts`), per address and in total. A
 * connection that accepts almost nothing for a while is closed; above a limit, `eviction-order.ts` decides the order.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { BaseLogger } from 'pino';
import { sampledLines } from '../runtime/sampled-lines.ts';
import { siteOf } from './address-limit.ts';
import type { Metrics } from './admin/metrics/metrics.ts';
import type { ClientAddresses } from './client-address.ts';
import { inOrderOfEviction } from './eviction-order.ts';

const MEBIBYTE = 1024 * 1024;

export interface UnreadLimits {
  /**
   * Most bytes of unpaid answers written but not accepted for one client address (IPv6 by /48). A single answer may
   * always be larger. Paid answers do not count, so a caller who pays for several at once gets them.
   */
  readonly perAddress: number;
  /** Most bytes for all answers together, paid or not. */
  readonly inAll: number;
  /** In each span of this length a client must accept `leastBytes`, or all that remains. */
  readonly patienceMs: number;
  readonly leastBytes: number;
}

/**
 * The largest answer has about 26 MB. The system accepts bytes in steps of a megabyte or more, so a slow client that
 * reads all the time needs a minute for one.
 */
export const UNREAD_LIMITS: UnreadLimits = {
  perAddress: 64 * MEBIBYTE,
  inAll: 256 * MEBIBYTE,
  patienceMs: 60_000,
  leastBytes: 16 * 1024,
};

/** `slow`: accepted almost nothing. `address`, `total`: above a limit. `pipelined`: too many requests sent ahead. */
export const CLOSE_REASONS = ['slow', 'address', 'total', 'pipelined'] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

export interface UnreadAnswers {
  /**
   * Call it when something was written that the system has not accepted at once.
   * @param paid whether the answer was charged for
   */
  note(socket: Socket, request: IncomingMessage, paid: boolean): void;
  /** Closes a connection at once and drops its unread bytes. */
  close(socket: Socket, reason: CloseReason): void;
  /** Bytes written but not yet accepted, in total. */
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
  /** The client that it counts for; null if only a proxy's address is known. */
  readonly client: string | null;
  readonly since: number;
  readonly acceptedAtStart: number;
  /** Whether the answer that is being sent was charged for. */
  paid: boolean;
  pending: number;
  /** When the current span started, and the bytes accepted until then. */
  spanAt: number;
  acceptedAtSpan: number;
}

/** How often connections with pending bytes are checked; the timer runs only if there are any. */
const LOOK_EVERY_MS = 1_000;
/** A younger connection has had no time to read, so among its client's it is closed last. */
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

  /** Updates a connection; null if nothing is pending any more. */
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
    // Without a reset, the system would keep what it has accepted and go on sending it.
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
   * Closes connections until the sum is within the limit, or one connection is left.
   * @param client whose unpaid answers are limited; null: all answers are
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

/** Node's handle of a connection: `bytesWritten` counts bytes passed to it, its queue those the system has not accepted. */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

/** Bytes that the system has accepted so far, including parts of a write. */
function acceptedBy(socket: Socket): number {
  const { bytesWritten, writeQueueSize = 0 } = (socket as { _handle?: Handle | null })._handle ?? {};
  // Without these figures, only whole writes are counted.
  return bytesWritten === undefined ? socket.bytesWritten - socket.writableLength : bytesWritten - writeQueueSize;
}
