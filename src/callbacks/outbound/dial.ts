/** Connects to addresses that have been judged, and to nothing else: no name is looked up here. */
import { connect, type Socket } from 'node:net';
import { type SecureContext, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { AttemptFailure } from './attempt-failure.ts';
import { isSameAddress, readAddress } from './public-address.ts';

/** How long one address may take before the next one is tried beside it (RFC 8305). */
const HEAD_START_MS = 250;
/** Most addresses of one host that are tried: a caller must not make one attempt knock at sixteen doors. */
const MOST_TRIED = 4;

/**
 * Connects to the first of the addresses that takes the connection, and verifies that it is that address before
 * anything is written.
 *
 * @throws AttemptFailure: connect_refused, connect_timeout, reset, address_not_public, interrupted (this machine lacked
 *   something); or the signal's reason
 */
export function dial(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) =>
    new Race(alternating(addresses).slice(0, MOST_TRIED), port, signal, resolve, reject).start(),
  );
}

/** Connections that are tried beside one another until one stands. */
class Race {
  readonly #underWay = new Set<Socket>();
  readonly #waiting: string[];
  #timer: NodeJS.Timeout | undefined;
  #lastFailure = new AttemptFailure('connect_refused', 'no address took the connection');
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

/** What speaks against a connection that stands: the last word before anything is written. */
function notTheAddress({ remoteAddress }: Socket, address: string): AttemptFailure | null {
  if (remoteAddress === undefined) return new AttemptFailure('reset', 'the connection is gone');
  if (isSameAddress(remoteAddress, address)) return null;
  return new AttemptFailure('address_not_public', 'the connection does not lead to the address that was judged');
}

/**
 * Makes TLS of a connection, for a host whose certificate must name it: version 1.2 or later, no session kept.
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
      // An address is named by no SNI (RFC 6066); its certificate is checked against `host`.
      ...(literal ? {} : { servername: host }),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      // Said here so that NODE_TLS_REJECT_UNAUTHORIZED=0, set for something else, does not open the callbacks.
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

/** The addresses, families by turns: where one family leads nowhere the other is tried next. */
function alternating(addresses: readonly string[]): string[] {
  const of = (family: 4 | 6) => addresses.filter((address) => readAddress(address)?.family === family);
  const [four, six] = [of(4), of(6)];
  const turns = Array.from({ length: Math.max(four.length, six.length) }, (_, turn) => [four[turn], six[turn]]);
  return turns.flat().filter((address) => address !== undefined);
}

/** What a code of the system says of the receiver. */
function connectFailure(error: NodeJS.ErrnoException): AttemptFailure {
  const { code = '' } = error;
  // Ours, not the receiver's: no descriptor, port or memory was left. Such an attempt says nothing and is made again.
  if (OUT_OF_RESOURCES.has(code)) return new AttemptFailure('interrupted', code);
  if (code === 'ETIMEDOUT') return new AttemptFailure('connect_timeout', code);
  return new AttemptFailure(code === 'ECONNRESET' ? 'reset' : 'connect_refused', code);
}

const OUT_OF_RESOURCES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);

const tlsFailure = (error: NodeJS.ErrnoException): AttemptFailure =>
  new AttemptFailure(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 'reset' : 'tls_invalid', error.code ?? '');
