/**
 * `POST /ingest/courtlistener/{secret}`: CourtListener's webhooks (docs/design/sources.md#webhooks). The sender retries
 * for 54 hours and then ends the whole webhook, so whatever comes is recorded and acknowledged at once.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { record, recordedOf } from '../../commands/handle.ts';
import { webhook } from '../../commands/source/webhook.ts';
import { type Problem, problem } from '../../errors.ts';
import { sourceStream } from '../../events/source.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { readWebhook, type WebhookMessage } from '../../sources/courtlistener/webhook.ts';
import type { EventLog } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { WebhookMetrics } from '../admin/metrics/webhook-metrics.ts';
import { sendInternalError, sendProblem } from '../send-problem.ts';
import { JSON_TYPE } from './push-request.ts';

const WEBHOOK_PATH = '/ingest/courtlistener/:secret';
export const MAX_WEBHOOK_BYTES = 8 * 1024 * 1024;

const SOURCE = 'courtlistener';
/** The sender waits three seconds and repeats a message that failed. */
const REPEATS_MS = [50, 150];

export interface WebhookDependencies {
  /** The last part of the path. */
  readonly secret: string;
  readonly metrics?: WebhookMetrics | undefined;
}

interface Ports extends WebhookDependencies {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
}

/** What became of a message on its arrival; also the label of metrics. */
export type Arrival = 'received' | 'repeated' | 'ignored' | 'unreadable';

/** Opens the endpoint. Without the right secret it answers as any unknown path does, before anything is read. */
export function registerWebhooks(app: FastifyInstance, ports: Ports): void {
  const expected = hashOf(ports.secret);
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.setErrorHandler((error: FastifyError, _request, reply) => refuse(error, reply, ports.metrics));
    scope.route<{ Params: { readonly secret: string } }>({
      method: 'POST',
      url: WEBHOOK_PATH,
      bodyLimit: MAX_WEBHOOK_BYTES,
      config: { isSecret: true },
      onRequest(request, reply, proceed) {
        // Of equal length, whatever was sent.
        if (!timingSafeEqual(hashOf(request.params.secret), expected)) reply.callNotFound();
        else if (isCompressed(request)) refuseType(reply, ports.metrics);
        else proceed();
      },
      async handler(request, reply) {
        const arrival = await receive(ports, request);
        ports.metrics?.webhookArrived(arrival);
        return answer(reply, arrival);
      },
    });
    done();
  });
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const isCompressed = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  (headers['content-encoding']?.trim().toLowerCase() || 'identity') !== 'identity';

/** @throws StorageFailure if it is not known to be recorded; the sender repeats the message */
async function receive({ log, payloads, clock }: Ports, request: FastifyRequest): Promise<Arrival> {
  const { requestId } = request;
  const receivedAt = toInstant(clock.now());
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const message = await readWebhook(body);
  const keyHash = keyHashOf(request, message, body);
  const stream = sourceStream.webhook(SOURCE, keyHash);
  const { content, eventType } = message;
  const sealed =
    content === null ? null : await payloads.seal('pushed', Buffer.from(JSON.stringify({ keyHash, ...content })));
  const outcome = content !== null ? null : message.isReadable ? 'ignored' : 'unreadable';
  const outcomeOfAppend = await record(
    { log, clock },
    {
      decider: webhook,
      stream,
      command: {
        type: 'Receive',
        received: { source: SOURCE, keyHash, eventType, receivedAt, content: sealed?.name ?? null },
        outcome,
      },
      context: { commandId: requestId, requestId, correlationId: requestId, causationId: null, actor: 'http' },
      payloads: sealed === null ? [] : [sealed],
      repeatsMs: REPEATS_MS,
      // Another node may have received the same message at the same moment; then there is nothing left to record.
      decisions: 3,
    },
  );
  if ('rejected' in outcomeOfAppend) throw new Error(`a message cannot be received: ${outcomeOfAppend.rejected}`);
  if (recordedOf(outcomeOfAppend).events.length > 0) return outcome ?? 'received';
  // An append that lost the race may have stored its content all the same.
  if (sealed !== null) await payloads.remove(sealed.name);
  return 'repeated';
}

/** The sender's key is the same in every repetition. Without one, the same message is known by its content. */
function keyHashOf({ headers }: FastifyRequest, message: WebhookMessage, body: Buffer): string {
  const key = String(headers['idempotency-key'] ?? '').trim();
  if (key !== '') return hashOf(`key\n${key}`).toString('hex');
  const canonical = message.canonical();
  const hash = createHash('sha256');
  return (canonical === null ? hash.update('bytes\n').update(body) : hash.update(`content\n${canonical}`)).digest(
    'hex',
  );
}

/** The sender shows its owner the beginning of this. */
function answer(reply: FastifyReply, outcome: Arrival): FastifyReply {
  const { requestId } = reply.request;
  const { clock } = reply.server.answering;
  return reply
    .header('x-request-id', requestId)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ meta: { request_id: requestId, queried_at: toInstant(clock.now()) }, outcome }));
}

function refuse(error: FastifyError, reply: FastifyReply, metrics?: WebhookMetrics): void {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      refuseWith(reply, problem('payload_too_large', { limit: MAX_WEBHOOK_BYTES }), metrics);
      return;
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      refuseType(reply, metrics);
      return;
    default:
      sendInternalError(reply, error);
  }
}

const refuseType = (reply: FastifyReply, metrics?: WebhookMetrics): void =>
  refuseWith(
    reply,
    problem('unsupported_media_type', { hint: 'Send Content-Type: application/json, without Content-Encoding.' }),
    metrics,
  );

function refuseWith(reply: FastifyReply, refusal: Problem, metrics?: WebhookMetrics): void {
  metrics?.webhookArrived('refused');
  sendProblem(reply, refusal);
}
