/**
 * Callbacks of the sandbox (`http-api.md`, Sandbox): one attempt each, signed with the published key and through the
 * same guard as real ones, so that a receiver can be built for free. Nothing of them is kept, and no answer waits.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { envelopeOf } from '../../callbacks/envelope.ts';
import type { Outbound } from '../../callbacks/outbound/outbound.ts';
import { SANDBOX_KEY_ID, SANDBOX_SECRET } from '../../callbacks/sandbox-key.ts';
import { signatureHeaders } from '../../callbacks/signature.ts';
import { ATTEMPT_DEADLINE_SECONDS } from '../../commands/delivery-schedule.ts';
import type { RequestedCallback } from '../../commands/payment-query.ts';
import { type Clock, MICROS_PER_SECOND, toInstant } from '../../instant.ts';
import { createAddressLimit } from '../address-limit.ts';
import { DELIVERY_HEADER } from '../delivery-header.ts';

/** Most in a minute from one client address, and to one host. */
export const SANDBOX_CALLBACKS_PER_MINUTE = 10;
/** Most under way: what is asked for beyond is not sent. */
const MOST_AT_ONCE = 32;

export interface SandboxCallbacks {
  /**
   * Sends what the limits allow, and returns at once.
   * @param body the whole answer, as it is sent
   * @param address of the client; null where only a proxy's is known
   * @returns the headers that tell of what is sent; none where nothing is
   */
  push(asked: readonly RequestedCallback[], body: string, address: string | null): Readonly<Record<string, string>>;
}

export interface SandboxCallbackOptions {
  readonly outbound: Pick<Outbound, 'post'>;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'debug'>;
  readonly userAgent: string;
}

/** Makes them; each process counts for itself. */
export function createSandboxCallbacks({
  outbound,
  clock,
  logger,
  userAgent,
}: SandboxCallbackOptions): SandboxCallbacks {
  const ofAddress = createAddressLimit(SANDBOX_CALLBACKS_PER_MINUTE, clock);
  const toHost = createAddressLimit(SANDBOX_CALLBACKS_PER_MINUTE, clock);
  let underway = 0;

  const mayBeSent = ({ url }: RequestedCallback, address: string | null): boolean => {
    if (underway >= MOST_AT_ONCE || !URL.canParse(url)) return false;
    return ofAddress.count(address) === null && toHost.count(hostOf(url)) === null;
  };

  const send = async (url: string, deliveryId: string, payload: Buffer): Promise<void> => {
    const now = clock.now();
    const body = envelopeOf(payload, { deliveryId, createdAt: toInstant(now) });
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
    const { responseCode, failureClass, durationMs } = await outbound.post({ url, headers, body });
    logger.debug({ deliveryId, responseCode, failureClass, durationMs }, 'a callback of the sandbox was attempted');
  };

  return {
    push(asked, body, address) {
      const sent = asked.flatMap(({ url, result }) => {
        if (!mayBeSent({ url, result }, address)) return [];
        const payload = payloadOf(body, result);
        if (payload === null) return [];
        const id = randomUUID();
        underway++;
        // After the answer has left: signing and connecting are nobody's wait.
        setImmediate(() => {
          send(url, id, payload).finally(() => {
            underway--;
          });
        });
        return [`${result === null ? 'id' : `id-${result}`}="${id}"`];
      });
      if (sent.length === 0) return {};
      const by = (attempts: number) => toInstant(clock.now() + attempts * ATTEMPT_DEADLINE_SECONDS * MICROS_PER_SECOND);
      return {
        [DELIVERY_HEADER]: [...sent, `first_attempt_by="${by(1)}"`, `gives_up_at="${by(2)}"`].join(', '),
      };
    },
  };
}

/** A name is the same with and without the dot of the root. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, '');

/** The whole answer, or the one result of a batch that the callback was asked for with. */
function payloadOf(body: string, result: number | null): Buffer | null {
  if (result === null) return Buffer.from(body);
  const { results } = JSON.parse(body) as { readonly results?: readonly { readonly response?: object }[] };
  const response = results?.[result]?.response;
  return response ? Buffer.from(JSON.stringify(response)) : null;
}
