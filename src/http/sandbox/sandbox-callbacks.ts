/**
 * Callbacks of the sandbox (docs/design/callbacks.md#sandbox-callbacks): one attempt each, signed with the published
 * key and behind the same guard as real ones, so that a receiver can be built for free. They are not stored, and no
 * answer waits for them.
 */

import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { envelopeOf } from '../../callbacks/envelope.ts';
import type { Outbound } from '../../callbacks/outbound/outbound.ts';
import { SANDBOX_KEY_ID, SANDBOX_SECRET } from '../../callbacks/sandbox-key.ts';
import { signatureHeaders } from '../../callbacks/signature.ts';
import { ATTEMPT_DEADLINE_SECONDS } from '../../commands/delivery/schedule.ts';
import { type Clock, MICROS_PER_SECOND, toInstant } from '../../runtime/instant.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { steadyClock } from '../../runtime/steady-clock.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { createAddressLimit, siteOf } from '../address-limit.ts';
import { DELIVERY_HEADER } from '../paid/delivery-header.ts';
import type { SandboxCallback, SandboxCallContext } from '../paid/paid-call.ts';

/** Most per minute from one client address, to one host, and to one address (IPv4, or IPv6 by /48). */
export const SANDBOX_CALLBACKS_PER_MINUTE = 10;
/** Most per minute in total, over all nodes. */
export const SANDBOX_CALLBACKS_IN_ALL = 300;
/** Most at the same time; more are not sent. */
const MOST_AT_ONCE = 32;

const MINUTE = 60 * MICROS_PER_SECOND;

export interface SandboxCallbacks {
  /**
   * Sends the callbacks that the limits allow, and returns at once. The limit of the address behind the URL is checked
   * later, when it is known; if it is exceeded, the attempt is not made.
   * @param call the answered call
   * @param address of the client; null if only a proxy's is known
   * @returns headers that describe the deliveries; none if nothing is sent
   */
  push(
    asked: readonly SandboxCallback[],
    call: SandboxCallContext,
    address: string | null,
  ): Readonly<Record<string, string>>;
}

export interface SandboxCallbackOptions {
  readonly outbound: Pick<Outbound, 'post'>;
  /** Counts calls by address and in total, for all nodes together. */
  readonly counters: Pick<ReadStore, 'increment'>;
  readonly clock: Clock;
  /** For the limits by client and host: setting the wall clock must not lock anyone out. */
  readonly steady?: Clock;
  readonly logger: Pick<BaseLogger, 'debug'>;
  readonly userAgent: string;
}

/** Creates them. Each process counts clients and hosts by itself, in memory. */
export function createSandboxCallbacks({
  outbound,
  counters,
  clock,
  steady = steadyClock,
  logger,
  userAgent,
}: SandboxCallbackOptions): SandboxCallbacks {
  const ofAddress = createAddressLimit(SANDBOX_CALLBACKS_PER_MINUTE, steady);
  const toHost = createAddressLimit(SANDBOX_CALLBACKS_PER_MINUTE, steady);
  let underway = 0;

  const mayBeSent = ({ url }: SandboxCallback, address: string | null): boolean => {
    if (underway >= MOST_AT_ONCE || parseUrl(url) === null) return false;
    return ofAddress.count(address) === null && toHost.count(hostOf(url)) === null;
  };

  const fits = async (of: string, most: number): Promise<boolean> =>
    (await counters.increment(`sandbox-callbacks ${of}`, 1, most, clock.now(), MINUTE)).allowed;

  const send = async (url: string, deliveryId: string, payload: Promise<string>): Promise<void> => {
    const now = clock.now();
    const body = envelopeOf(Buffer.from(await payload), { deliveryId, createdAt: toInstant(now) });
    if (!(await fits('in all', SANDBOX_CALLBACKS_IN_ALL))) return;
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
      ...signatureHeaders({
        body,
        deliveryId,
        idempotencyKey: deliveryId,
        atSeconds: Math.floor(now / MICROS_PER_SECOND),
        keys: [{ keyId: SANDBOX_KEY_ID, secret: SANDBOX_SECRET }],
      }),
    };
    const admit = (address: string) => fits(`to ${siteOf(address)}`, SANDBOX_CALLBACKS_PER_MINUTE);
    const { responseCode, failureClass, durationMs } = await outbound.post({ url, headers, body, admit });
    logger.debug({ deliveryId, responseCode, failureClass, durationMs }, 'a callback of the sandbox was attempted');
  };

  return {
    push(asked, call, address) {
      const sent = asked.flatMap((callback) => {
        if (!mayBeSent(callback, address)) return [];
        const id = randomUUID();
        underway++;
        // After the answer has left, so that it does not wait for composing, signing and connecting.
        setImmediate(() => {
          send(callback.url, id, callback.payload(call))
            // If storage fails, calls cannot be counted, so they are not sent.
            .catch((error: unknown) => logger.debug({ deliveryId: id, err: error }, 'a callback of the sandbox failed'))
            .finally(() => {
              underway--;
            });
        });
        return [`${callback.result === null ? 'id' : `id-${callback.result}`}="${id}"`];
      });
      if (sent.length === 0) return {};
      const by = (attempts: number) => toInstant(clock.now() + attempts * ATTEMPT_DEADLINE_SECONDS * MICROS_PER_SECOND);
      return {
        [DELIVERY_HEADER]: [...sent, `first_attempt_by="${by(1)}"`, `gives_up_at="${by(2)}"`].join(', '),
      };
    },
  };
}

/** A name is the same with or without the trailing dot of the root. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '');
