/**
 * `POST /ingest/dockets`: sources with a token push what `docket import` reads (docs/design/dockets.md#sources-that-push).
 * Nothing of a body is read before its token is known.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IngestPorts } from '../../commands/docket/clock.ts';
import { importItems } from '../../commands/docket/import.ts';
import { isSourceToken, sourceTokenHash } from '../../commands/source-token/token.ts';
import type { DocketSnapshot } from '../../dockets/snapshot.ts';
import { isProblem, type Problem, problem } from '../../errors.ts';
import type { OperatorActs, PushSource } from '../../processes/operator-acts.ts';
import { cases } from '../../projections/cases.ts';
import type { ProjectionRunner } from '../../projections/runner.ts';
import { untilProjected } from '../../projections/until-projected.ts';
import { lastPushCell } from '../../queries/sources.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import { makeFolder } from '../../runtime/make-folder.ts';
import type { RawDocketItem, UnreadableItem } from '../../sources/files/docket-files.ts';
import { bodyFile, readPushedBody } from '../../sources/push/read-body.ts';
import type { EventLog, Position } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { clientOf, createMinuteLimit } from '../address-limit.ts';
import type { PushMetrics, PushOutcome } from '../admin/metrics/push-metrics.ts';
import type { ClientAddresses } from '../client-address.ts';
import { sendProblem } from '../send-problem.ts';
import { sweepLeftBehind } from './left-behind.ts';
import { createPushLimits, MAX_PUSH_BYTES, type PushLimits } from './push-limits.ts';
import { createPushReport, type PushReport } from './push-report.ts';
import { type PushRequest, readPushRequest } from './push-request.ts';
import { receiveBody } from './receive-body.ts';

const PUSH_PATH = '/ingest/dockets';

/** The most dockets of one body, which bounds the report. */
export const MOST_DOCKETS = 10_000;
/** How long one body is worked on; below the time after which a silent connection is closed. */
const WORK_MS = 90_000;
/** How long to wait until answers show what was recorded. */
const VISIBLE_WITHIN_MS = 10_000;

export interface PushDependencies {
  readonly sources: Pick<OperatorActs, 'sourceOf' | 'areKnown'>;
  /** A private folder for bodies while they are worked on. */
  readonly folder: string;
  /** Requests without a valid token that one address may send in a minute; null for any number. */
  readonly unknownTokensPerMinute: number | null;
  readonly steadyClock: Clock;
  readonly metrics?: PushMetrics | undefined;
}

interface Ports extends PushDependencies {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly runner: Pick<ProjectionRunner, 'waitFor'>;
  readonly clientAddresses: ClientAddresses;
}

/** Opens the endpoint. */
export function registerPush(app: FastifyInstance, ports: Ports): void {
  app.register(async (scope) => {
    const sweeping = await sweepLeftBehind(ports.folder);
    const limits = createPushLimits(ports.readStore, ports.clock);
    const refuseUnknown = unknownTokens(ports);
    const pushing = new WeakMap<FastifyRequest, PushSource>();
    const stopping = new AbortController();
    scope.addHook('preClose', (done) => {
      stopping.abort();
      sweeping.end();
      done();
    });
    scope.removeAllContentTypeParsers();
    // The route reads the body itself, once it knows who sends it.
    scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
    scope.route({
      method: 'POST',
      url: PUSH_PATH,
      onRequest(request, reply, done) {
        const source = sourceOf(request, ports.sources);
        if (source) {
          pushing.set(request, source);
          done();
        } else if (ports.sources.areKnown) refuseUnknown(request, reply);
        // A valid token may only not be known yet.
        else sendProblem(reply, problem('service_unavailable', { component: 'read_store', retry_after: 2 }));
      },
      async handler(request, reply) {
        const source = pushing.get(request);
        if (!source) throw new Error('a push passes only with a token');
        const answer = await push(ports, limits, source, request, stopping.signal);
        return isProblem(answer) ? sendProblem(reply, answer) : sendReport(reply, source, answer);
      },
    });
  });
}

/** @returns null without a valid token */
function sourceOf({ headers }: FastifyRequest, sources: PushDependencies['sources']): PushSource | null {
  const token = /^bearer +(\S+)$/i.exec(headers.authorization?.trim() ?? '')?.[1] ?? '';
  return isSourceToken(token) ? sources.sourceOf(sourceTokenHash(token)) : null;
}

/** Answers requests without a valid token; beyond the limit of an address, without saying more. */
function unknownTokens({ unknownTokensPerMinute: limit, steadyClock, clientAddresses }: Ports) {
  const windows =
    limit === null
      ? null
      : createMinuteLimit(limit, steadyClock, (retry_after) =>
          problem(
            'rate_limit_exceeded',
            { retry_after, limit, window: 'address', hint: 'Send a valid token; it is never limited by address.' },
            `At most ${limit} requests a minute without a valid token are answered from one address.`,
          ),
        );
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const address = clientAddresses.of(request.raw);
    const refusal = address === null ? null : (windows?.count(clientOf(address)) ?? null);
    const invalid = request.headers.authorization === undefined ? '' : ', error="invalid_token"';
    if (refusal === null) reply.header('www-authenticate', `Bearer realm="dockets"${invalid}`);
    sendProblem(reply, refusal ?? problem('source_token_required'));
  };
}

interface Pushed {
  readonly report: PushReport;
  /** Whether answers show everything that was recorded. */
  readonly visible: boolean;
}

async function push(
  ports: Ports,
  limits: PushLimits,
  source: PushSource,
  request: FastifyRequest,
  stopping: AbortSignal,
): Promise<Pushed | Problem> {
  const asked = readPushRequest(request, source, ports.clock.now());
  if (isProblem(asked)) return asked;
  const entered = await limits.enter(source.name);
  if (isProblem(entered)) return entered;
  try {
    makeFolder(ports.folder);
    const folder = await mkdtemp(join(ports.folder, 'push-'));
    try {
      const path = join(folder, bodyFile(asked.form));
      const { isCompressed } = asked;
      const body = await receiveBody(request.raw, { path, isCompressed, maxBytes: MAX_PUSH_BYTES });
      await limits.countBytes(source.name, body.bytes);
      if (body.refusal) return body.refusal;
      if (body.isGone) return problem('invalid_parameter', { issues: [] }, 'The body was not sent in full.');
      const endsAt = performance.now() + WORK_MS;
      return await limits.inTurn(body.bytes, () => record(ports, { source, asked, request, folder, endsAt, stopping }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    entered.leave();
  }
}

/** Failures of which a repetition of the push records the rest. */
const REPEATABLE: ReadonlySet<unknown> = new Set(['docket_contended', 'projection_behind', 'append_outcome_unknown']);

interface Recording {
  readonly source: PushSource;
  readonly asked: PushRequest;
  readonly request: FastifyRequest;
  /** Holds the body. */
  readonly folder: string;
  readonly endsAt: number;
  readonly stopping: AbortSignal;
}

async function record(
  ports: Ports,
  { source, asked, request, folder, endsAt, stopping }: Recording,
): Promise<Pushed | Problem> {
  const { log, payloads, readStore, clock, runner } = ports;
  const { requestId } = request;
  const ingestPorts: IngestPorts = {
    log,
    payloads,
    readStore,
    clock,
    newId: randomUUID,
    sleep: (ms) => delay(ms),
    waitUntilProjected: untilProjected(runner),
  };
  const context = {
    commandId: requestId,
    requestId,
    correlationId: requestId,
    causationId: null,
    actor: `source:${source.name}`,
  };
  const report = createPushReport();
  const whyStop = (): string | null => {
    if (stopping.aborted) return 'this node stops: send the body again for the rest';
    if (request.raw.socket.destroyed) return 'the caller has left: send the body again for the rest';
    return performance.now() > endsAt ? 'it took too long: send the body again for the rest, or smaller bodies' : null;
  };
  let newest: Position | null;
  try {
    newest = await importItems(
      ingestPorts,
      bounded(readPushedBody(folder, asked.form), whyStop),
      {
        askedAt: asked.askedAt ?? toInstant(clock.now()),
        isLook: asked.askedAt !== null,
        complete: !asked.partial,
        source: source.name,
        refuses: (snapshot) => whyRefused(snapshot, source, asked.court),
      },
      context,
      (item) => report.add(item),
    );
  } catch (error) {
    if (!REPEATABLE.has((error as { readonly code?: unknown }).code)) throw error;
    request.log.warn({ err: error, source: source.name, requestId }, 'a push was not recorded in full');
    const hint = 'Send the same body again: what is recorded already changes nothing.';
    return problem('service_unavailable', { component: 'storage', retry_after: 5, hint });
  } finally {
    const { recorded, unchanged, refused } = report.totals;
    for (const [outcome, count] of Object.entries({ recorded, unchanged, refused })) {
      if (count > 0) ports.metrics?.docketsPushed(outcome as PushOutcome, count);
    }
  }
  await noteLastPush(ports, source, report);
  return { report, visible: newest === null || (await runner.waitFor(cases.name, newest, VISIBLE_WITHIN_MS)) };
}

/** For `docket sources list`. A push at the same time may be shown instead. */
async function noteLastPush({ readStore, clock }: Ports, { name }: PushSource, { totals }: PushReport): Promise<void> {
  const { recorded, unchanged, refused } = totals;
  const { version } = await readStore.cell(lastPushCell(name));
  const at = toInstant(clock.now());
  await readStore.compareAndSet(lastPushCell(name), version, { at, recorded, unchanged, refused });
}

/** Ends early with a reason, which is reported as that of a docket. */
async function* bounded(items: AsyncIterable<RawDocketItem | UnreadableItem>, whyStop: () => string | null) {
  let count = 0;
  for await (const item of items) {
    const why =
      count === MOST_DOCKETS ? `not read from here on: a body has at most ${MOST_DOCKETS} dockets` : whyStop();
    yield why === null ? item : { where: item.where, why };
    if (why !== null) return;
    count++;
  }
}

function whyRefused({ court }: DocketSnapshot, { courts }: PushSource, only: string | null): string | null {
  if (only !== null && court.code !== only) return `is of ${court.code}, but the request says ${only}`;
  if (courts === null || courts.has(court.code)) return null;
  return `this token may not push dockets of ${court.code}, only of ${[...courts].slice(0, 20).join(', ')}`;
}

function sendReport(reply: FastifyReply, source: PushSource, { report, visible }: Pushed): FastifyReply {
  const { requestId } = reply.request;
  const body = {
    meta: { request_id: requestId, queried_at: toInstant(reply.server.answering.clock.now()) },
    source: source.name,
    visible,
    ...report.totals,
    results: report.rows,
  };
  return reply
    .header('x-request-id', requestId)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}
