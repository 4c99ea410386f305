/** `GET /v2/status`: court coverage and health, free for every caller (docs/design/interface.md#4.4). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Court } from '../../courts/court.ts';
import { type CourtSource, courtNow, type StatusCourt, statusCourts } from '../../courts/status-courts.ts';
import type { CourtStandings, StandingsReader } from '../../queries/court-standings.ts';
import { type Clock, type Instant, MICROS_PER_SECOND, toInstant } from '../../runtime/instant.ts';
import { type Health, operationalStatus } from '../admin/health.ts';
import { commonHeaders } from '../common-headers.ts';
import { chooseCoding, matchingTag } from '../content-coding.ts';
import { compressedBefore, type EndedVariants } from '../ended-body.ts';
import { countHosts } from '../host-header.ts';
import { metaOf } from '../meta.ts';
import { type AnsweringService, newRequestId } from '../send-problem.ts';
import type { EarlyAnswer } from '../server.ts';

/** The release of the API (docs/design/interface.md#9). */
export const API_VERSION = '2.0.1';

export interface StatusDependencies {
  readonly service: AnsweringService;
  readonly courts: readonly Court[];
  /** What provides the dockets of a court on this service. */
  readonly sourceOf: (court: Court) => CourtSource;
  /** Seconds between two looks at a court's source; null, as if left out: it is not looked at regularly. */
  readonly cadenceOf?: (court: Court) => number | null;
  readonly health: () => Health;
  /** What is known about the cases of each court. */
  readonly standings: StandingsReader;
}

/** How one version of the API shows its status. */
export interface StatusVersion {
  readonly path: string;
  readonly apiVersion: string;
  /** The members that differ in each answer. They come last, so that everything before them is compressed once. */
  ending(requestId: string, queriedAt: Instant): object;
  court(court: StatusCourt): object;
  /** Headers beyond those of every answer; `publicUrl` has no trailing slash. */
  headers(publicUrl: string): Readonly<Record<string, string>>;
}

const V2: StatusVersion = {
  path: '/v2/status',
  apiVersion: API_VERSION,
  ending: (requestId, queriedAt) => ({ meta: metaOf({ request_id: requestId, queried_at: queriedAt }) }),
  court: (court) => court,
  headers: () => ({}),
};

/** The body is rebuilt at most this often, and only if something in it changed. */
const REBUILD_EVERY = MICROS_PER_SECOND;

export interface StatusEndpoint {
  /** Answers plain status requests from ready bytes, without routing. */
  readonly answerEarly: EarlyAnswer;
  /** Adds the route, for every other form of the request. */
  register(app: FastifyInstance): void;
}

/** The first request builds the first body, so that it does not delay the start. */
export function statusEndpoint(dependencies: StatusDependencies, version: StatusVersion = V2): StatusEndpoint {
  const { publicUrl, clock } = dependencies.service;
  const { path } = version;
  const endingOf = endings(version, clock);
  const answers = statusAnswers(dependencies, version);
  const headers = answerHeaders(publicUrl, version.headers(publicUrl));
  return {
    answerEarly(request, response) {
      if (request.url !== path || request.method !== 'GET' || countHosts(request) !== 1) return false;
      const variants = answers.current();
      if (variants instanceof Promise) return false;
      const requestId = newRequestId();
      send(request, response, { requestId, variants, headers, endingOf });
      return true;
    },
    register(app) {
      app.route({
        method: ['GET', 'HEAD'],
        url: path,
        handler: async (request, reply) => {
          const variants = await answers.current();
          reply.hijack();
          send(request.raw, reply.raw, { requestId: request.requestId, variants, headers, endingOf });
        },
      });
    },
  };
}

/** The number of known cases of a court, and when a source last provided one; null while unknown. */
function standingOf(code: string, known: CourtStandings | null) {
  const { casesKnown, lastSuccessAt } = known?.get(code) ?? { casesKnown: known ? 0 : null, lastSuccessAt: null };
  return { cases_known: casesKnown, last_success_at: lastSuccessAt };
}

const ID = '\u0001id';
const AT = '\u0001at';

/** The ending of each answer, written from a template, which is cheaper than JSON. */
function endings({ ending }: StatusVersion, clock: Clock): (requestId: string) => string {
  const text = `,${JSON.stringify(ending(ID, AT)).slice(1)}`;
  const pieces = text.split(/(\\u0001id|\\u0001at)/);
  let lookedAt = Number.NaN;
  let instant = '';
  return (requestId) => {
    const now = clock.now();
    if (now !== lookedAt) {
      lookedAt = now;
      instant = toInstant(now);
    }
    let written = '';
    for (const piece of pieces) written += piece === '\\u0001id' ? requestId : piece === '\\u0001at' ? instant : piece;
    return written;
  };
}

/** A court's text. It makes up nearly all of the body, so it is written again only if the court has changed. */
function courtText(listed: StatusCourt, shown: StatusVersion['court']): (known: CourtStandings | null) => string {
  const textFor = (court: StatusCourt): string => JSON.stringify(shown(court)).slice(0, -1);
  let [now, text] = [listed, textFor(listed)];
  return (known) => {
    const next = courtNow(listed, known?.get(listed.court_code));
    if (next.status !== now.status || next.source !== now.source) [now, text] = [next, textFor(next)];
    return `${text},${JSON.stringify(standingOf(listed.court_code, known)).slice(1)}`;
  };
}

interface StatusAnswers {
  /** A promise only until the first body is compressed. */
  current(): EndedVariants | Promise<EndedVariants>;
}

function statusAnswers(
  { service, courts, sourceOf, cadenceOf, health, standings }: StatusDependencies,
  { apiVersion, court }: StatusVersion,
): StatusAnswers {
  const listed = statusCourts(courts, sourceOf, cadenceOf);
  const courtTexts = listed.courts.map((each) => courtText(each, court));
  const summary = JSON.stringify(listed.coverage_summary);
  let variants: EndedVariants | null = null;
  let building: Promise<EndedVariants> | null = null;
  let builtFrom = '';
  let countedFrom: CourtStandings | null = null;
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
  /** Everything before the ending. */
  const textOf = (head: object, known: CourtStandings | null): string => {
    const listedNow = courtTexts.map((textOfCourt) => textOfCourt(known));
    return `${JSON.stringify(head).slice(0, -1)},"courts":[${listedNow.join(',')}],"coverage_summary":${summary}`;
  };
  const build = async (head: object): Promise<EndedVariants> => {
    // Only the first body waits for the case counts.
    countedFrom = variants === null ? await standings.first() : standings.latest();
    variants = await compressedBefore(Buffer.from(textOf(head, countedFrom)));
    return variants;
  };
  return {
    current() {
      const now = service.clock.now();
      if (building === null && Math.abs(now - lookedAt) >= REBUILD_EVERY) {
        lookedAt = now;
        const head = changing();
        const from = JSON.stringify(head);
        if (from !== builtFrom || standings.latest() !== countedFrom) {
          builtFrom = from;
          building = build(head).finally(() => {
            building = null;
          });
          // If the body cannot be rebuilt, the last one stays; the next change tries again.
          building.catch(() => {
            builtFrom = '';
          });
        }
      }
      // While a newer body is being compressed, the previous one is served.
      return variants ?? building ?? Promise.reject(new Error('the status could not be built'));
    },
  };
}

interface AnswerHeaders {
  /** Headers of a full answer and of a 304, as alternating names and values. */
  readonly whole: readonly string[];
  readonly unchanged: readonly string[];
}

/** Caches keep it but revalidate each time, which costs a 304. */
const CACHING = { 'cache-control': 'no-cache', vary: 'Accept-Encoding' };

function answerHeaders(publicUrl: string, own: Readonly<Record<string, string>>): AnswerHeaders {
  const common = commonHeaders('everybody', publicUrl);
  return {
    whole: Object.entries({ ...common, ...CACHING, ...own }).flat(),
    // Headers that the cached answer does not have, and the one that lets scripts of any page read this one.
    unchanged: Object.entries({ 'access-control-allow-origin': '*', ...CACHING, ...own }).flat(),
  };
}

interface StatusAnswer {
  readonly requestId: string;
  readonly variants: EndedVariants;
  readonly headers: AnswerHeaders;
  endingOf(requestId: string): string;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, variants, headers: { whole, unchanged }, endingOf }: StatusAnswer,
): void {
  const coding = chooseCoding(request.headers['accept-encoding']?.toString());
  const known = matchingTag(request.headers['if-none-match'], variants, coding);
  if (known !== null) {
    response.writeHead(304, [...unchanged, 'x-request-id', requestId, 'etag', known]);
    response.end();
    return;
  }
  const { body, etag, ending } = variants[coding];
  const last = ending(endingOf(requestId));
  const headers = [...whole, 'x-request-id', requestId, 'etag', etag];
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length + last.length));
  if (coding !== 'identity') headers.push('content-encoding', coding);
  response.writeHead(200, headers);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.write(body);
  response.end(last);
}
