/** `GET /v2/status`: court coverage and health, free for everybody (specification 4.4). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Court } from '../../courts/court.ts';
import { type CourtSource, type StatusCourt, statusCourts } from '../../courts/status-courts.ts';
import { type Instant, MICROS_PER_SECOND, toInstant } from '../../instant.ts';
import { commonHeaders } from '../common-headers.ts';
import { chooseCoding, compressed, matchingTag, type Variants } from '../content-coding.ts';
import { type Health, operationalStatus } from '../health.ts';
import { countHosts } from '../host-header.ts';
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

/** What one version of the API says of its status, and how. */
export interface StatusVersion {
  readonly path: string;
  readonly apiVersion: string;
  /** The members that stand before all others. */
  opening(queriedAt: Instant): object;
  court(court: StatusCourt): object;
  /** Beside the headers that every answer carries; `publicUrl` has no slash at the end. */
  headers(publicUrl: string): Readonly<Record<string, string>>;
}

const V2: StatusVersion = {
  path: '/v2/status',
  apiVersion: API_VERSION,
  opening: (queriedAt) => ({ meta: metaOf({ request_id: newRequestId(), queried_at: queriedAt }) }),
  court: (court) => court,
  headers: () => ({}),
};

/** The body is made anew at most this often, and only when something in it changed. */
const REBUILD_EVERY = MICROS_PER_SECOND;

export interface StatusEndpoint {
  /** Answers what asks for the status and nothing else; its bytes lie ready, so no route needs to be looked up. */
  readonly answerEarly: EarlyAnswer;
  /** Adds the route, for every other way to ask. */
  register(app: FastifyInstance): void;
}

/** The first body is made for the first request, so that it delays no start. */
export function statusEndpoint(dependencies: StatusDependencies, version: StatusVersion = V2): StatusEndpoint {
  const { publicUrl } = dependencies.service;
  const { path } = version;
  const answers = statusAnswers(dependencies, version);
  const headers = answerHeaders(publicUrl, version.headers(publicUrl));
  return {
    answerEarly(request, response) {
      if (request.url !== path || request.method !== 'GET' || countHosts(request) !== 1) return false;
      const variants = answers.current();
      if (variants instanceof Promise) return false;
      send(request, response, newRequestId(), variants, headers);
      return true;
    },
    register(app) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        handler: async (request, reply) => {
          const variants = await answers.current();
          reply.hijack();
          send(request.raw, reply.raw, request.requestId, variants, headers);
        },
      });
    },
  };
}

interface StatusAnswers {
  /** Only before the first body is compressed a promise. */
  current(): Variants | Promise<Variants>;
}

function statusAnswers(
  { service, courts, sourceOf, health }: StatusDependencies,
  { apiVersion, opening, court }: StatusVersion,
): StatusAnswers {
  // Courts do not change while the service runs, and they are nearly all of the body.
  const listed = statusCourts(courts, sourceOf);
  const courtsText = JSON.stringify({ ...listed, courts: listed.courts.map(court) }).slice(1);
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
      api_version: apiVersion,
      changelog_url: `${service.publicUrl}/docs#changelog`,
      operational_status: operationalStatus(parts),
      components,
    };
  };
  const build = (head: object): Promise<Variants> => {
    const opened = opening(toInstant(service.clock.now()));
    const text = `${JSON.stringify({ ...opened, ...head }).slice(0, -1)},${courtsText}`;
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

interface AnswerHeaders {
  /** Of the whole answer, and of one that says only that nothing changed: names and values in turn. */
  readonly whole: readonly string[];
  readonly unchanged: readonly string[];
}

/** Kept by caches, and asked about each time, which costs a 304. */
const CACHING = { 'cache-control': 'no-cache', vary: 'Accept-Encoding' };

function answerHeaders(publicUrl: string, own: Readonly<Record<string, string>>): AnswerHeaders {
  const common = commonHeaders('everybody', publicUrl);
  return {
    whole: Object.entries({ ...common, ...CACHING, ...own }).flat(),
    // What the cached answer does not say already, and what lets a script of any page read this one.
    unchanged: Object.entries({ 'access-control-allow-origin': '*', ...CACHING, ...own }).flat(),
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  variants: Variants,
  { whole, unchanged }: AnswerHeaders,
): void {
  const coding = chooseCoding(request.headers['accept-encoding']?.toString());
  const known = matchingTag(request.headers['if-none-match'], variants, coding);
  if (known !== null) {
    response.writeHead(304, [...unchanged, 'x-request-id', requestId, 'etag', known]);
    response.end();
    return;
  }
  const { body, etag } = variants[coding];
  const headers = [...whole, 'x-request-id', requestId, 'etag', etag];
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length));
  if (coding !== 'identity') headers.push('content-encoding', coding);
  response.writeHead(200, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}
