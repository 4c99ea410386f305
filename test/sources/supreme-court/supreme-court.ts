/**
 * An imitation of the Supreme Court's files of cases, as real HTTP on loopback: ETag, Last-Modified and
 * `max-age=120`; the three ways to say that there is no such case; refusals; edits in place. All cases are invented.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One item of `ProceedingsandOrder`. */
export interface Proceeding {
  readonly Date: string;
  readonly Text: string;
  readonly Links?: readonly {
    readonly Description: string;
    readonly File: string;
    readonly DocumentUrl: string;
  }[];
}

export type CourtFile = { CaseNumber: string; ProceedingsandOrder: readonly Proceeding[] } & Record<string, unknown>;

/** How it says that there is no such case. */
export type Miss = '404' | 'empty' | 'html';

/** What it does instead of answering. */
export type Fault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** The connection ends in the middle of the body. */
  | 'cut'
  /** It accepts the request, and answers when it is released. */
  | 'hang';

export interface SeenRequest {
  readonly number: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
  /** Milliseconds, by this process's clock. */
  readonly at: number;
}

export interface SupremeCourt {
  /** With `{number}`: for `SCOTUS_URL`. */
  readonly url: string;
  /** `host:port`, for `SOURCES_ALLOW_PRIVATE`. */
  readonly address: string;
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Puts a file, or replaces it. */
  put(file: CourtFile): void;
  /** Changes the proceedings of a case. */
  edit(number: string, change: (proceedings: readonly Proceeding[]) => readonly Proceeding[]): void;
  remove(number: string): void;
  misses: Miss;
  /** Null: it answers. */
  fault: Fault | null;
  /** Forgets the requests that have come. */
  forget(): void;
  /** Resolves once this many requests have come. */
  asked(count: number): Promise<void>;
  /** Answers what hangs, and hangs no longer. */
  release(): void;
  close(): Promise<void>;
}

const PAGE =
  '<!DOCTYPE html>\n<html><head><title>Supreme Court of the United States</title></head><body>Page not found</body></html>';

export async function openSupremeCourt({
  files = [],
  misses = '404',
  port = 0,
}: {
  readonly files?: readonly CourtFile[];
  readonly misses?: Miss;
  readonly port?: number;
} = {}): Promise<SupremeCourt> {
  const kept = new Map<string, { readonly file: CourtFile; readonly modified: string }>();
  const requests: SeenRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const hanging: (() => void)[] = [];
  let arrived = 0;
  let edits = 0;
  const keyOf = (number: string): string => number.split('*', 1)[0]!.trim();
  const put = (file: CourtFile): void => {
    // Each edit is a second later, so that If-Modified-Since alone sees it.
    const modified = new Date(Date.UTC(2026, 5, 18, 12, 0, edits++)).toUTCString();
    kept.set(keyOf(file.CaseNumber), { file: structuredClone(file), modified });
  };
  for (const file of files) put(file);

  const server = createServer(async (request, response) => {
    const number = decodeURIComponent(/^\/RSS\/Cases\/JSON\/([^/]+)\.json$/.exec(request.url ?? '')?.[1] ?? '');
    arrived++;
    for (const one of waiting.filter(({ count }) => count <= arrived)) one.resolve();
    const send = (status: number, headers: Record<string, string>, body: string): void => {
      requests.push({ number, headers: request.headers, status, at: Date.now() });
      response.writeHead(status, headers).end(body);
    };
    if (court.fault === 'hang') {
      await new Promise<void>((resolve) => {
        hanging.push(resolve);
        request.once('close', resolve);
      });
      if (response.destroyed) {
        requests.push({ number, headers: request.headers, status: 0, at: Date.now() });
        return;
      }
    }
    if (court.fault !== null && typeof court.fault === 'object') {
      return send(court.fault.status, { ...court.fault.headers }, court.fault.body ?? '');
    }
    const found = kept.get(number);
    if (!found) {
      if (court.misses === '404') return send(404, { 'content-type': 'text/html' }, PAGE);
      return court.misses === 'empty'
        ? send(200, { 'content-type': 'application/json' }, '')
        : send(200, { 'content-type': 'text/html; charset=utf-8' }, PAGE);
    }
    const body = JSON.stringify(found.file);
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    const headers = { etag, 'last-modified': found.modified, 'cache-control': 'max-age=120' };
    const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = request.headers;
    const isSame =
      ifNoneMatch !== undefined
        ? ifNoneMatch === etag
        : ifModifiedSince !== undefined && Date.parse(ifModifiedSince) >= Date.parse(found.modified);
    if (isSame) return send(304, headers, '');
    if (court.fault === 'cut') {
      requests.push({ number, headers: request.headers, status: 200, at: Date.now() });
      response.writeHead(200, {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(body.length),
      });
      response.write(body.slice(0, body.length / 2), () => response.destroy());
      return;
    }
    send(200, { ...headers, 'content-type': 'application/json' }, body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const court: SupremeCourt = {
    url: `http://${address}/RSS/Cases/JSON/{number}.json`,
    address,
    requests,
    put,
    edit(number, change) {
      const found = kept.get(number);
      if (!found) throw new Error(`no file of ${number}`);
      put({ ...found.file, ProceedingsandOrder: change(found.file.ProceedingsandOrder) });
    },
    remove: (number) => void kept.delete(number),
    misses,
    fault: null,
    forget() {
      requests.length = 0;
      arrived = 0;
    },
    asked: (count) =>
      arrived >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    release() {
      court.fault = null;
      for (const resolve of hanging.splice(0)) resolve();
    },
    async close() {
      for (const resolve of hanging.splice(0)) resolve();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return court;
}
