/**
 * The feeds of all courts on loopback, in their courts' ways of writing, with what is known to go wrong (rows 30 to 37 of
 * their recorded behaviour). Controls add entries and break feeds. All people and cases are invented.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { courts } from '../../../src/courts/registry.ts';
import { type CourtFeed, feedOf } from '../../../src/sources/rss/addresses.ts';
import { type FeedEntry, feedText } from './dialects.ts';

export interface FeedsOptions {
  /** Microseconds; the system's clock if omitted. */
  readonly clock?: { now(): number };
  readonly port?: number;
}

/** What a feed does instead of answering as it should. */
export type FeedTrouble =
  /** The body ends in the middle of its last items, as a whole answer. */
  | 'cut'
  /** 200 with a page for people. */
  | 'html'
  /** 200 with nothing. */
  | 'empty'
  /** The connection stays open, and nothing comes. */
  | 'slow'
  | 'gone'
  | 'unavailable'
  /** More and more items, without an end. */
  | 'endless'
  /** The connection breaks off. */
  | 'broken'
  | 'unconfigured';

interface Shown {
  readonly entry: FeedEntry;
  /** Milliseconds. */
  readonly addedAt: number;
}

interface CourtState {
  readonly feed: CourtFeed;
  readonly entries: Shown[];
  windowMs: number;
  most: number;
  trouble: FeedTrouble | null;
  /** It is as it was then, milliseconds. */
  frozenAt: number | null;
  wobbles: boolean;
  charset: string | null;
  validators: boolean;
  types: string;
  requests: { at: number; readonly headers: IncomingMessage['headers'] }[];
}

const HOUR_MS = 3_600_000;
const PAGE =
  '<!DOCTYPE html><html><head><title>503 Service Unavailable</title></head><body><h1>The server is busy.</h1></body></html>';

export async function openFeeds(options: FeedsOptions = {}) {
  const clock = options.clock ?? { now: () => Date.now() * 1_000 };
  const nowMs = (): number => Math.floor(clock.now() / 1_000);
  const states = new Map<string, CourtState>();
  for (const court of courts) {
    const feed = feedOf(court);
    if (!feed) continue;
    states.set(court.code, {
      feed,
      entries: [],
      windowMs: 24 * HOUR_MS,
      most: 500,
      trouble: null,
      frozenAt: null,
      wobbles: false,
      charset: null,
      validators: false,
      types: feed.kind === 'appellate' ? 'Docket entries of type: orders, opinions' : 'Docket entries of type: all',
      requests: [],
    });
  }
  const of = (court: string): CourtState => {
    const state = states.get(court);
    if (!state) throw new Error(`${court} has no feed`);
    return state;
  };

  /** A court writes its feed anew every few minutes, whether there is something new or not. */
  function textOf(state: CourtState): string {
    const now = state.frozenAt ?? nowMs();
    const shown = state.entries
      .filter(({ addedAt }) => addedAt <= now && addedAt > now - state.windowMs)
      .slice(-state.most);
    const built = now - (now % 60_000) + (state.wobbles && state.requests.length % 2 === 1 ? 60_000 : 0);
    const text = feedText(state.feed, shown.map(({ entry }) => entry).reverse(), built, state.types);
    return text;
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const code = /^\/([a-z0-9]+)\/rss/.exec(request.url ?? '')?.[1] ?? '';
    const state = states.get(code);
    if (!state) {
      response.writeHead(404, { 'content-type': 'text/html' }).end(PAGE.replaceAll('503', '404'));
      return;
    }
    state.requests.push({ at: clock.now(), headers: request.headers });
    const type = state.charset === null ? 'text/xml' : `text/xml; charset=${state.charset}`;
    const text = textOf(state);
    const send = (body: string): void => {
      response.writeHead(200, { 'content-type': type }).end(Buffer.from(body, 'latin1'));
    };
    switch (state.trouble) {
      case null: {
        const etag = `"${Buffer.from(text).length}-${state.entries.length}"`;
        if (state.validators && request.headers['if-none-match'] === etag) {
          response.writeHead(304, { etag }).end();
          return;
        }
        if (state.validators) response.setHeader('etag', etag);
        send(text);
        return;
      }
      case 'cut':
        send(text.slice(0, text.lastIndexOf('<pubDate>') + 20));
        return;
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
        return;
      case 'empty':
        response.writeHead(200, { 'content-type': 'text/xml', 'content-length': 0 }).end();
        return;
      case 'slow':
        response.writeHead(200, { 'content-type': type }).write('<?xml version="1.0"?>');
        return;
      case 'gone':
        response.writeHead(404, { 'content-type': 'text/html' }).end(PAGE.replaceAll('503', '404'));
        return;
      case 'unavailable':
        response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '900' }).end(PAGE);
        return;
      case 'broken':
        response.writeHead(200, { 'content-type': type, 'content-length': text.length + 1_000 });
        response.write(text, () => response.destroy());
        return;
      case 'unconfigured':
        send(feedText(state.feed, [], nowMs(), 'The RSS feed is not configured for this court.'));
        return;
      case 'endless':
        pour(response, type, text);
    }
  }

  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** The value of `RSS_URL`. */
    url: `http://127.0.0.1:${port}/{court}/rss`,
    port,
    /** An event of an entry appears. Two events of one entry are two calls that differ in the event alone. */
    addItem(court: string, entry: FeedEntry): void {
      of(court).entries.push({ entry, addedAt: entry.at });
    },
    trouble(court: string, trouble: FeedTrouble | null): void {
      of(court).trouble = trouble;
    },
    /** From now on the feed is as it is now, its time of building included, unless that wobbles. */
    freeze(court: string): void {
      of(court).frozenAt = nowMs();
    },
    thaw(court: string): void {
      of(court).frozenAt = null;
    },
    /** The same content is built at times that differ by a minute. */
    wobble(court: string): void {
      of(court).wobbles = true;
    },
    /** How long, and how many, items stay in the feed. */
    window(court: string, hours: number, most = 500): void {
      Object.assign(of(court), { windowMs: hours * HOUR_MS, most });
    },
    /** Labels the answer in its header; feeds do not. */
    charset(court: string, charset: string | null): void {
      of(court).charset = charset;
    },
    /** Sends an `ETag`, as no court was seen to do. */
    validators(court: string): void {
      of(court).validators = true;
    },
    requests: (court: string) => of(court).requests,
    courts: [...states.keys()],
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Feeds = Awaited<ReturnType<typeof openFeeds>>;

/** Sends items until the reader hangs up. */
function pour(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type });
  response.write(text.slice(0, text.indexOf('</channel>')));
  const more = Buffer.from(
    `<item><title>1:26-cv-00001 ${'A'.repeat(2_000)} v. B</title></item>\n`.repeat(50),
    'latin1',
  );
  const write = (): void => {
    while (!response.destroyed) if (!response.write(more)) return;
  };
  response.on('drain', write);
  response.on('error', () => response.destroy());
  write();
}
