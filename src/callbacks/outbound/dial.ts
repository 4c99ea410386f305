/** Connects only to addresses that were checked before; does no name lookup. */
import { connect, type Socket } from 'node:net';
import { type SecureContext, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { AttemptFailure } from './attempt-failure.ts';
import { isSameAddress, readAddress } from './public-address.ts';

/** How long to wait for one address before trying the next one in parallel (RFC 8305). */
const HEAD_START_MS = 250;
/** Maximum addresses of one host that are tried, so that a caller cannot make one attempt contact sixteen of them. */
const MOST_TRIED = 4;

/**
 * Connects to the first of the addresses that accepts the connection, and verifies the remote address before anything
 * is written.
 *
 * @throws AttemptFailure: connect_refused, connect_timeout, reset, address_not_public, interrupted (this machine was
 * out of a resource); or the signal's reason
 */
export function dial(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) =>
    new Race(alternating(addresses).slice(0, MOST_TRIED), port, signal, resolve, reject).start(),
  );
}

/** Connection attempts that run in parallel until one succeeds. */
class Race {
  readonly #underWay = new Set<Socket>();
  readonly #waiting: string[];
  #timer: NodeJS.Timeout | undefined;
  #lastFailure = new AttemptFailure('connect_refused', 'no address accepted the connection');
  #over = false;

  constructor(
    addresses: readonly string[],
    readonly port: number,
    readonly signal: AbortSignal,
    readonly resolve: (socket: Socket) => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.#waiting = [...addresses];
  }

  start(): void {
    this.signal.addEventListener('abort', this.#giveUp, { once: true });
    if (this.signal.aborted) this.#giveUp();
    else this.#tryNext();
  }

  readonly #giveUp = () => this.#end(() => this.reject(this.signal.reason));

  readonly #tryNext = () => {
    clearTimeout(this.#timer);
    if (this.#over) return;
    const address = this.#waiting.shift();
    if (address === undefined) {
      if (this.#underWay.size === 0) this.#end(() => this.reject(this.#lastFailure));
      return;
    }
    const socket = connect({ host: address, port: this.port, noDelay: true });
    this.#underWay.add(socket);
    this.#timer = setTimeout(this.#tryNext, HEAD_START_MS);
    socket.on('error', (error) => {
      this.#underWay.delete(socket);
      if (this.#over) return;
      this.#lastFailure = connectFailure(error);
      this.#tryNext();
    });
    socket.once('connect', () => {
      if (this.#over) return;
      this.#underWay.delete(socket);
      const failure = notTheAddress(socket, address);
      if (failure) socket.destroy();
      this.#end(() => (failure ? this.reject(failure) : this.resolve(socket)));
    });
  };

  #end(settle: () => void): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.signal.removeEventListener('abort', this.#giveUp);
    for (const socket of this.#underWay) socket.destroy();
    settle();
  }
}

/** The objection to an established connection, if any: the last check before anything is written. */
function notTheAddress({ remoteAddress }: Socket, address: string): AttemptFailure | null {
  if (remoteAddress === undefined) return new AttemptFailure('reset', 'the connection is closed');
  if (isSameAddress(remoteAddress, address)) return null;
  return new AttemptFailure('address_not_public', 'the connection does not lead to the address that was checked');
}

/**
 * Starts TLS on a connection, for a host that the certificate must name. Requires version 1.2 or later; keeps no
 * session.
 *
 * @throws AttemptFailure: tls_invalid, reset; or the signal's reason
 */
export function secured(
  socket: Socket,
  host: string,
  literal: boolean,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const tls = tlsConnect({
      socket,
      host,
      secureContext,
      // SNI has no form for addresses (RFC 6066); an address's certificate is checked against `host`.
      ...(literal ? {} : { servername: host }),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0, set for another purpose, does not disable it for callbacks.
      rejectUnauthorized: true,
    });
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', giveUp);
      settle();
    };
    const giveUp = () => {
      tls.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    tls.once('secureConnect', () => end(() => resolve(tls)));
    tls.on('error', (error) => {
      tls.destroy();
      end(() => reject(tlsFailure(error)));
    });
    if (signal.aborted) giveUp();
  });
}

/** The addresses, alternating between families: if one family is unreachable, the other is tried next. */
function alternating(addresses: readonly string[]): string[] {
  const of = (family: 4 | 6) => addresses.filter((address) => readAddress(address)?.family === family);
  const [four, six] = [of(4), of(6)];
  const turns = Array.from({ length: Math.max(four.length, six.length) }, (_, turn) => [four[turn], six[turn]]);
  return turns.flat().filter((address) => address !== undefined);
}

/** Maps a system error code to a failure of the receiver. */
function connectFailure(error: NodeJS.ErrnoException): AttemptFailure {
  const { code = '' } = error;
  // Our fault, not the receiver's: no descriptor, port or memory was left. The attempt is inconclusive and repeated.
  if (OUT_OF_RESOURCES.has(code)) return new AttemptFailure('interrupted', code);
  if (code === 'ETIMEDOUT') return new AttemptFailure('connect_timeout', code);
  return new AttemptFailure(code === 'ECONNRESET' ? 'reset' : 'connect_refused', code);
}

const OUT_OF_RESOURCES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);

const tlsFailure = (error: NodeJS.ErrnoException): AttemptFailure =>
  new AttemptFailure(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 'reset' : 'tls_invalid', error.code ?? '');
