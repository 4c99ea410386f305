/** `GET /v2/status`: court coverage and health, free for everybody (specification 4.4). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Court } from '../../courts/court.ts';
import { type CourtSource, statusCourts } from '../../courts/status-courts.ts';
import { MICROS_PER_SECOND, toInstant } from '../../instant.ts';
import { commonHeaders } from '../common-headers.ts';
import { chooseCoding, compressed, matchingTag, type Variants } from '../content-coding.ts';
import { type Health, operationalStatus } from '../health.ts';
import { metaOf } from '../meta.ts';
import { type AnsweringService, newRequestId } from '../send-problem.ts';
import type { EarlyAnswer } from '../server.ts';

/** The release of the API (specification 9). */
export const API_VERSION = '2.0.1';

export interface StatusDependencies {
  readonly service: AnsweringService;
  readonly courts: readonly Court[];
  /** What can fill a court here and now. */
  readonly sourceOf: (court: Court) => CourtSource;
  readonly health: () => Health;
}

const PATH = '/v2/status';

/** The body is made anew at most this often, and only when something in it changed. */
const REBUILD_EVERY = MICROS_PER_SECOND;

export interface StatusEndpoint {
  /** Answers what asks for the status and nothing else; its bytes lie ready, so no route needs to be looked up. */
  readonly answerEarly: EarlyAnswer;
  /** Adds the route, for every other way to ask. */
  register(app: FastifyInstance): void;
}

/** The first body is made for the first request, so that it delays no start. */
export function statusEndpoint(dependencies: StatusDependencies): StatusEndpoint {
  const { service } = dependencies;
  const answers = statusAnswers(dependencies);
  return {
    answerEarly(request, response) {
      if (request.url !== PATH || request.method !== 'GET' || request.headers.host === undefined) return false;
      const variants = answers.current();
      if (variants instanceof Promise) return false;
      send(request, response, newRequestId(), variants, service.publicUrl);
      return true;
    },
    register(app) {
      app.route({
        method: ['GET', 'HEAD'],
        url: PATH,
        handler: async (request, reply) => {
          const variants = await answers.current();
          reply.hijack();
          send(request.raw, reply.raw, request.requestId, variants, service.publicUrl);
        },
      });
    },
  };
}

interface StatusAnswers {
  /** Only before the first body is compressed a promise. */
  current(): Variants | Promise<Variants>;
}

function statusAnswers({ service, courts, sourceOf, health }: StatusDependencies): StatusAnswers {
  // Courts do not change while the service runs, and they are nearly all of the body.
  const courtsText = JSON.stringify(statusCourts(courts, sourceOf)).slice(1);
  let variants: Variants | null = null;
  let building: Promise<Variants> | null = null;
  let builtFrom = '';
  let lookedAt = Number.NEGATIVE_INFINITY;

  const changing = () => {
    const parts = health();
    const components = Object.fromEntries(
      Object.entries(parts).map(([name, { status, since }]) => [name, { status, since }]),
    );
    return {
      api_version: API_VERSION,
      changelog_url: `${service.publicUrl}/docs#changelog`,
      operational_status: operationalStatus(parts),
      components,
    };
  };
  const build = (head: object): Promise<Variants> => {
    const meta = metaOf({ request_id: newRequestId(), queried_at: toInstant(service.clock.now()) });
    const text = `${JSON.stringify({ meta, ...head }).slice(0, -1)},${courtsText}`;
    return compressed(Buffer.from(text)).then((made) => {
      variants = made;
      return made;
    });
  };
  return {
    current() {
      const now = service.clock.now();
      if (building === null && Math.abs(now - lookedAt) >= REBUILD_EVERY) {
        lookedAt = now;
        const head = changing();
        const from = JSON.stringify(head);
        if (from !== builtFrom) {
          builtFrom = from;
          building = build(head).finally(() => {
            building = null;
          });
          // A body that could not be made anew leaves the last one in its place; the next change tries again.
          building.catch(() => {
            builtFrom = '';
          });
        }
      }
      // While a newer body is being compressed, the one that is there is served.
      return variants ?? building ?? Promise.reject(new Error('the status could not be built'));
    },
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  variants: Variants,
  publicUrl: string,
): void {
  const coding = chooseCoding(request.headers['accept-encoding']?.toString());
  const known = matchingTag(request.headers['if-none-match'], variants, coding);
  if (known !== null) {
    response.writeHead(304, [...UNCHANGED_HEADERS, 'x-request-id', requestId, 'etag', known]);
    response.end();
    return;
  }
  const { body, etag } = variants[coding];
  const headers = [...sharedHeaders(publicUrl), 'x-request-id', requestId, 'etag', etag];
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length));
  if (coding !== 'identity') headers.push('content-encoding', coding);
  response.writeHead(200, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Kept by caches, and asked about each time, which costs a 304. */
const CACHING = { 'cache-control': 'no-cache', vary: 'Accept-Encoding' };

/** What the cached answer does not say already, and what lets a script of any page read this one. */
const UNCHANGED_HEADERS = Object.entries({ 'access-control-allow-origin': '*', ...CACHING }).flat();

const flatHeaders = new WeakMap<object, readonly string[]>();

function sharedHeaders(publicUrl: string): readonly string[] {
  const common = commonHeaders('everybody', publicUrl);
  const flat = flatHeaders.get(common) ?? Object.entries({ ...common, ...CACHING }).flat();
  flatHeaders.set(common, flat);
  return flat;
}
