/**
 * Receives callbacks: verifies each, acknowledges it at once, and processes each delivery once. Standard library only.
 *
 *   SIGNING_KEYS='KEY_ID:SECRET' node receiver.ts          Node 22.18 or later; on Node 20: npx tsx receiver.ts
 *   node receiver.ts check vectors.json                    checks the published test vectors
 *
 * POST /v2/wallet/keys returned KEY_ID and SECRET. During a rotation, name both keys: 'NEW_ID:NEW,OLD_ID:OLD'.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';

const TOLERANCE_SECONDS = 300;
const MOST_BYTES = 16 * 1024 * 1024;
/** Retries of one delivery continue for 18 hours, and the operator of the service may redeliver later. */
const REMEMBERED_MS = 7 * 24 * 3600 * 1000;

/** Secrets by the id of their key. */
export type Keys = ReadonlyMap<string, string>;
export type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Returns why a delivery must not be trusted, or null if it is valid. `body` is the bytes from the wire, because JSON
 * that was parsed and serialized again has other bytes. Checks `webhook-signature` if it is present, since it also
 * covers the time and carries a signature by either key during a rotation; otherwise `X-Service-Signature`, which
 * covers only the body.
 */
export function distrust(headers: Headers, body: Buffer, keys: Keys, nowSeconds: number): string | null {
  const standard = headers['webhook-signature'] !== undefined;
  const time = headers[standard ? 'webhook-timestamp' : 'x-service-timestamp'] ?? '';
  if (!/^\d+$/.test(time) || Math.abs(nowSeconds - Number(time)) > TOLERANCE_SECONDS) return 'stale';
  const authentic = standard ? standardMatches(headers, time, body, keys) : serviceMatches(headers, body, keys);
  if (!authentic) return 'signature';
  // The header is not signed, but the body is: the deduplication key must be the same in both.
  const key = idempotencyKeyIn(body);
  return typeof key === 'string' && key === headers['idempotency-key'] ? null : 'idempotency_key';
}

/** The secret's 64 hexadecimal characters are the key themselves: do not decode them. */
const hmac = (secret: string, ...parts: (string | Buffer)[]): Buffer => {
  const digest = createHmac('sha256', secret);
  for (const part of parts) digest.update(part);
  return digest.digest();
};

/** Compares in constant time, so that the duration does not reveal where two values differ. */
const same = (a: string, b: string): boolean => {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
};

function serviceMatches(headers: Headers, body: Buffer, keys: Keys): boolean {
  const secret = keys.get(headers['x-service-signature-key-id'] ?? '');
  if (secret === undefined) return false;
  return same(headers['x-service-signature'] ?? '', `sha256=${hmac(secret, body).toString('hex')}`);
}

function standardMatches(headers: Headers, time: string, body: Buffer, keys: Keys): boolean {
  const signatures = (headers['webhook-signature'] ?? '').split(' ');
  return [...keys.values()].some((secret) => {
    const expected = `v1,${hmac(secret, `${headers['webhook-id']}.${time}.`, body).toString('base64')}`;
    return signatures.some((signature) => same(signature, expected));
  });
}

function idempotencyKeyIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')).webhook.idempotency_key;
  } catch {
    return undefined;
  }
}

export interface ReceiverOptions {
  readonly keys: Keys;
  readonly host: string;
  readonly port: number;
  /** The work: called once for each delivery, after it has been acknowledged. */
  readonly take: (delivery: {
    readonly payload: unknown;
    readonly webhook: { readonly idempotency_key: string };
  }) => void;
}

export function startReceiver({ keys, host, port, take }: ReceiverOptions): Promise<Server> {
  // Memory is enough for an example. In production, write the key and the work in one database transaction and
  // acknowledge only after it: an acknowledged delivery is not sent again.
  const taken = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const answer = (status: number, text = '') => response.writeHead(status).end(text);
    if (request.method !== 'POST') return answer(405);
    const body = await rawBody(request).catch(() => null);
    if (body === null) return answer(413);
    const reason = distrust(request.headers as Headers, body, keys, Date.now() / 1000);
    if (reason !== null) return answer(401, reason);
    const delivery = JSON.parse(body.toString('utf8'));
    const key: string = delivery.webhook.idempotency_key;
    forgetOld(taken);
    const again = taken.has(key);
    taken.set(key, Date.now());
    answer(204);
    if (!again) setImmediate(() => take(delivery));
  });
  return new Promise((resolve) => server.listen(port, host, () => resolve(server)));
}

async function rawBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MOST_BYTES) throw new Error('the body is too large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Keys are in order of arrival. */
function forgetOld(taken: Map<string, number>): void {
  for (const [key, at] of taken) {
    if (Date.now() - at < REMEMBERED_MS) return;
    taken.delete(key);
  }
}

export function readKeys(text: string): Keys {
  return new Map(
    text.split(',').map((pair) => {
      const [id = '', secret = ''] = pair.trim().split(':');
      if (!id || !/^[0-9a-f]{64}$/.test(secret)) throw new Error('SIGNING_KEYS is KEY_ID:SECRET[,KEY_ID:SECRET]');
      return [id, secret];
    }),
  );
}

/** Checks the published vectors; returns how many give an unexpected result. */
export function checkVectors(file: string): number {
  const { vectors } = JSON.parse(readFileSync(file, 'utf8'));
  let wrong = 0;
  for (const { name, now, keys, headers, body, refused } of vectors) {
    const reason = distrust(headers, Buffer.from(body), new Map(Object.entries(keys)), now);
    const right = reason === refused;
    if (!right) wrong++;
    process.stdout.write(`${right ? 'ok' : 'WRONG'} ${name}: ${reason ?? 'accepted'}\n`);
  }
  return wrong;
}

if (process.argv[1]?.match(/receiver\.[jt]s$/)) {
  if (process.argv[2] === 'check') {
    process.exitCode = checkVectors(process.argv[3] ?? 'vectors.json') === 0 ? 0 : 1;
  } else {
    const [host, port] = [process.env.HOST ?? '127.0.0.1', Number(process.env.PORT ?? 9000)];
    const take: ReceiverOptions['take'] = ({ webhook }) => process.stdout.write(`took ${webhook.idempotency_key}\n`);
    const server = await startReceiver({ keys: readKeys(process.env.SIGNING_KEYS ?? ''), host, port, take });
    const address = server.address();
    process.stdout.write(`listening on ${host}:${typeof address === 'object' ? address?.port : port}\n`);
  }
}
