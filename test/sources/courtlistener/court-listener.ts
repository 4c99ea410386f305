/**
 * CourtListener's REST API v4 on loopback, as the rows 1 to 23 of its recorded behaviour have it: filters, orderings, both kinds of
 * pages, rates in rolling windows, and its errors. Controls change its data and its health. All people and cases are invented.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEndpoints } from './imitation/endpoints.ts';
import { type Answer, answerList } from './imitation/query.ts';
import { createRateWindows, type ImitatedRate, nameOf } from './imitation/rates.ts';
import { createRows, type Fields } from './imitation/rows.ts';
import { createShapes, select } from './imitation/shapes.ts';

export interface CourtListenerOptions {
  /** Microseconds; the system's clock if omitted. */
  readonly clock?: { now(): number };
  /** Those of a free account by default; none: unlimited. */
  readonly rates?: readonly ImitatedRate[];
  readonly token?: string;
  /** How many docket alerts the account may have. */
  readonly alerts?: number;
  readonly port?: number;
}

export interface SeenRequest {
  readonly method: string;
  /** Path and query below the API's address. */
  readonly url: string;
  readonly status: number;
  readonly at: number;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
}

/** What the next requests get instead of an answer. */
export interface Failure {
  /** Only requests whose path and query contain this. */
  readonly path?: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body: unknown;
  /** Default 1. */
  readonly times?: number;
}

export const FREE_RATES: readonly ImitatedRate[] = [
  { requests: 5, micros: 60_000_000 },
  { requests: 50, micros: 3_600_000_000 },
  { requests: 125, micros: 86_400_000_000 },
];

const PREFIX = '/api/rest/v4/';
const MAINTENANCE = '<!DOCTYPE html><html><head><title>Maintenance</title></head><body>We will be back.</body></html>';
const OPEN_TO_ALL = /^(?:courts|search)\//;
const NOT_PACER = /^(?:scotus|tax|armfor|bap\d*)$/;

export async function openCourtListener(options: CourtListenerOptions = {}) {
  const { token = 'imitation-token', alerts: mostAlerts = 5, rates = FREE_RATES } = options;
  const clock = options.clock ?? { now: () => Date.now() * 1_000 };
  const rows = createRows(() => clock.now());
  let windows = createRateWindows(rates);
  const requests: SeenRequest[] = [];
  let failures: { readonly failure: Failure; left: number }[] = [];
  const health = { maintenance: false, blocked: false, searchDown: false, entriesGranted: true };
  let search: 'answers' | 'hangs' | 'drops' = 'answers';
  const watchers: ((seen: SeenRequest) => void)[] = [];
  let instead: ((url: string) => Answer) | null = null;

  const server = createServer((request, response) => {
    if (search !== 'answers' && request.url?.startsWith(`${PREFIX}search/`)) {
      if (search === 'drops') request.socket.destroy();
      return;
    }
    answer(request).then(
      (made) => send(request, response, made),
      (error: unknown) => send(request, response, { status: 500, body: { detail: String(error) } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`;
  const shapes = createShapes(base, rows);
  const endpoints = createEndpoints(rows, shapes);

  function send(request: IncomingMessage, response: ServerResponse, { status, body, headers }: Answer): void {
    const isText = typeof body === 'string';
    const url = (request.url ?? '').replace(PREFIX, '');
    const { authorization, 'user-agent': userAgent } = request.headers;
    const seen = { method: request.method ?? 'GET', url, status, at: clock.now(), authorization, userAgent };
    requests.push(seen);
    response.writeHead(status, { 'Content-Type': isText ? 'text/html' : 'application/json', ...headers });
    response.end(status === 204 ? undefined : isText ? body : JSON.stringify(body));
    for (const watcher of watchers) watcher(seen);
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const body = await bodyOf(request);
    const url = new URL(request.url ?? '/', base);
    const path = url.pathname.startsWith(PREFIX) ? url.pathname.slice(PREFIX.length) : null;
    if (instead) return instead(request.url?.replace(PREFIX, '') ?? '');
    const failed = failures.find(({ failure }) => failure.path === undefined || request.url?.includes(failure.path));
    if (failed) {
      failed.left--;
      failures = failures.filter(({ left }) => left > 0);
      return failed.failure;
    }
    if (health.maintenance) return { status: 503, body: MAINTENANCE };
    if (path === null || !path.endsWith('/')) return { status: 404, body: '<h1>Page not found</h1>' };
    const { authorization } = request.headers;
    if (authorization !== `Token ${token}` && !OPEN_TO_ALL.test(path)) return unauthorised(authorization);
    const limited = path === 'api-usage/' ? null : limit();
    if (limited) return limited;
    const method = request.method ?? 'GET';
    if (path.startsWith('docket-alerts/')) return alertsAnswer(method, path, body);
    if (method !== 'GET') return { status: 405, body: { detail: `Method "${method}" not allowed.` } };
    if (path === 'api-usage/') return usage();
    if (path === 'search/' && health.searchDown) {
      const detail = 'Internal Server Error. Please try again later or review your query.';
      return { status: 500, body: { detail } };
    }
    const entries = /^(?:docket-entries|recap-documents)\//.test(path);
    if (entries && !health.entriesGranted) {
      return { status: 403, body: { detail: 'You do not have permission to perform this action.' } };
    }
    return shown(get(path, url.searchParams), url.searchParams);
  }

  function get(path: string, query: URLSearchParams): Answer {
    const [, name = '', id] = /^([a-z-]+)\/(?:([a-z0-9]+)\/)?$/.exec(path) ?? [];
    if (id !== undefined) {
      const one = endpoints.one(name, id, query);
      return one ? { status: 200, body: one } : { status: 404, body: { detail: endpoints.missing(name) } };
    }
    if (name === 'search') return endpoints.search(query);
    const list = endpoints.list(name, query);
    return list ? answerList(list, base, query) : { status: 404, body: { detail: 'Not found.' } };
  }

  function shown(made: Answer, query: URLSearchParams): Answer {
    const names = (key: string): string[] => (query.get(key) ?? '').split(',').filter((name) => name !== '');
    const [fields, omit] = [names('fields'), names('omit')];
    if (made.status !== 200 || fields.length + omit.length === 0) return made;
    const body = made.body as Fields;
    const chosen = (one: unknown): Fields => select(one as Fields, fields, omit);
    return {
      ...made,
      body: Array.isArray(body.results) ? { ...body, results: body.results.map(chosen) } : chosen(body),
    };
  }

  function limit(): Answer | null {
    if (health.blocked) {
      const detail = 'Request was throttled. Your account is currently blocked from making API requests.';
      return { status: 429, body: { detail } };
    }
    const over = windows.take(clock.now());
    if (!over) return null;
    const { rate, seconds } = over;
    const when = `${seconds} second${seconds === 1 ? '' : 's'}`;
    const detail = `Request was throttled. Rate limit exceeded: ${nameOf(rate)}. Expected available in ${when}.`;
    return { status: 429, body: { detail }, headers: { 'Retry-After': String(seconds) } };
  }

  const usage = (): Answer => ({
    status: 200,
    body: windows.usage(clock.now()).map(({ micros, ...one }) => ({
      scope: 'user',
      ...one,
      window_seconds: micros / 1_000_000,
      reset_at: null,
      blocked: health.blocked,
    })),
  });

  function alertsAnswer(method: string, path: string, body: Fields): Answer {
    const id = Number(/^docket-alerts\/(\d+)\/$/.exec(path)?.[1] ?? 0);
    const known = rows.alerts.get(id);
    if (path !== 'docket-alerts/') {
      if (!known) return { status: 404, body: { detail: 'No DocketAlert matches the given query.' } };
      if (method === 'DELETE') {
        rows.alerts.delete(id);
        return { status: 204, body: '' };
      }
      if (method === 'PATCH') {
        const type = Number(body.alert_type);
        if (type !== 0 && type !== 1) return { status: 400, body: { alert_type: ['This is not a valid choice.'] } };
        rows.changeAlert(id, { alert_type: type });
      }
      return { status: 200, body: shapes.alert(known) };
    }
    if (method !== 'POST') return { status: 200, body: endpoints.alerts() };
    const docket = rows.dockets.get(Number(/(\d+)\/?$/.exec(String(body.docket ?? ''))?.[1] ?? 0));
    if (!docket) return { status: 400, body: { docket: ['Invalid pk - object does not exist.'] } };
    if (NOT_PACER.test(String(docket.fields.court_id))) {
      return { status: 400, body: { docket: ['Alerts are only for dockets of PACER courts.'] } };
    }
    if ([...rows.alerts.values()].some((one) => one.docket === docket.id)) {
      return { status: 400, body: { non_field_errors: ['The fields docket, user must make a unique set.'] } };
    }
    if (rows.alerts.size >= mostAlerts) {
      return {
        status: 400,
        body: { non_field_errors: [`You have reached the limit of ${mostAlerts} docket alerts.`] },
      };
    }
    return { status: 201, body: shapes.alert(rows.addAlert(docket.id)) };
  }

  const { addDocket, addEntry, addParty, alsoIn, addDocument, changeDocket, changeEntry, changeDocument } = rows;
  return {
    /** The API's address, with a slash at its end. */
    url: base,
    token,
    clock,
    requests,
    health,
    rows,
    addDocket,
    addEntry,
    addParty,
    alsoIn,
    addDocument,
    changeDocket,
    changeEntry,
    changeDocument,
    sealDocument: rows.seal,
    doubleEntry: rows.doubleEntry,
    deleteEntry: rows.deleteEntry,
    deleteDocket: rows.deleteDocket,
    alerts: () => [...rows.alerts.values()].map((alert) => shapes.alert(alert)),
    /** An alert that CourtListener itself has ended. */
    endAlert: (id: number): void => rows.changeAlert(id, { alert_type: 0 }),
    failNext: (failure: Failure): void => {
      failures.push({ failure, left: failure.times ?? 1 });
    },
    /** `hangs`: it never answers; `drops`: it ends the connection. */
    setSearch: (to: typeof search): void => {
      search = to;
    },
    forgetFailures: (): void => {
      failures = [];
    },
    /** Answers everything so, whatever it is; null: as usual again. */
    answerWith: (answerer: ((url: string) => Answer) | null): void => {
      instead = answerer;
    },
    setRates: (next: readonly ImitatedRate[]): void => {
      windows = createRateWindows(next);
    },
    /** Called after each answer, before the client has it. */
    onAnswer: (watcher: (seen: SeenRequest) => void): void => {
      watchers.push(watcher);
    },
    /** The body of a docket alert's webhook: the docket as a number, no addresses of resources. */
    webhookBody: (entryIds: readonly number[], { version = 2 }: { version?: number } = {}): Fields => ({
      webhook: {
        event_type: 1,
        version,
        date_created: new Date(Math.floor(clock.now() / 1_000)).toISOString().replace('Z', '+00:00'),
        deprecation_date: null,
      },
      payload: {
        results: entryIds.flatMap((id) => {
          const row = rows.entries.get(id);
          if (!row) return [];
          const { resource_uri: _, tags: __, recap_documents: documents, ...entry } = shapes.entry(row);
          const plain = (documents as Fields[]).map(({ resource_uri, tags, plain_text, ...document }) => document);
          return [{ ...entry, docket: row.docket, recap_documents: plain }];
        }),
      },
    }),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type CourtListenerImitation = Awaited<ReturnType<typeof openCourtListener>>;

function unauthorised(authorization: string | undefined): Answer {
  const named = /^Token ./.test(authorization ?? '');
  const detail = named ? 'Invalid token.' : 'Authentication credentials were not provided.';
  return { status: 401, body: { detail }, headers: { 'WWW-Authenticate': 'Bearer realm="api"' } };
}

async function bodyOf(request: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  if (text === '') return {};
  if (/json/.test(request.headers['content-type'] ?? '')) {
    try {
      return JSON.parse(text) as Fields;
    } catch {
      return {};
    }
  }
  return Object.fromEntries(new URLSearchParams(text));
}
