/**
 * The Supreme Court of the United States (docs/design/sources.md#supreme-court): one public file for each case, which is
 * always the whole docket. It is asked for conditionally, and no faster than the Court's manners allow.
 */

import { createHash } from 'node:crypto';
import type { Court } from '../../courts/court.ts';
import { UNKNOWN_HEADER } from '../../dockets/snapshot.ts';
import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros, toInstant } from '../../runtime/instant.ts';
import { parsedJson } from '../../runtime/parsed-json.ts';
import { pause } from '../../runtime/pause.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import type { Rate, SourceBudget } from '../budget.ts';
import type { SourceHttp, SourceResponse } from '../http/source-http.ts';
import type { AskableSource, AskedCase, Asking, Fault, Look, SourceFault } from '../source.ts';
import { readSupremeCourtFile, SCOTUS } from './docket.ts';

/** Over all nodes. */
export const SCOTUS_RATES: readonly Rate[] = [{ requests: 60, micros: 60 * MICROS_PER_SECOND }];
/** Between two requests of one node. */
const SCOTUS_SPACING: Micros = MICROS_PER_SECOND;

const SCOTUS_FILES = 'https://www.supremecourt.gov/RSS/Cases/JSON/{number}.json';

const MAX_BYTES = 8 * 1024 * 1024;
const TOTAL_MS = 30_000;
/** Longest wait for a turn; a longer one means that the source is held, or that too much is waiting already. */
const MAX_TURN: Micros = 30 * MICROS_PER_SECOND;
/** Raised whenever the same file is read into another docket: then a file that has not changed is read again. */
const READER = 1;
const MAX_VALIDATOR = 500;

export interface SupremeCourtOptions {
  readonly http: Pick<SourceHttp, 'send'>;
  readonly budget: SourceBudget;
  readonly readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>;
  readonly clock: Clock;
  /** With `{number}`; null: the Court's own address. */
  readonly url: string | null;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Between two requests of this node; one second if left out. */
  readonly spacing?: Micros;
}

export function createSupremeCourt(options: SupremeCourtOptions): AskableSource {
  const spaced = createSpacing(options);
  return {
    name: SCOTUS,
    covers: (court) => isSupremeCourt(court),
    ask: (asked, asking) => ask(options, spaced, asked, asking),
  };
}

const isSupremeCourt = ({ code }: Court): boolean => code === 'scotus';

async function ask(options: SupremeCourtOptions, spaced: Spacing, asked: AskedCase, asking: Asking): Promise<Look> {
  const { http, clock, url } = options;
  const failed = (because: Fault): Look => ({ look: 'failed', because });
  const held = (await spaced(asking)) ?? (await turn(options, asking));
  if (held) return failed(held);
  const validators = await readValidators(options, asked);
  const askedAt = toInstant(clock.now());
  const response = await http.send({
    url: (url ?? SCOTUS_FILES).replaceAll('{number}', encodeURIComponent(asked.caseNumber)),
    headers: { accept: 'application/json', ...headersOf(validators) },
    maxBytes: MAX_BYTES,
    totalMs: TOTAL_MS,
    signal: asking.signal,
  });
  if ('fault' in response) return failed(response);
  const { status } = response;
  if (status === 404) return { look: 'not_found' };
  if (status === 304 && validators !== null && asked.known !== null) {
    // The whole docket was seen: it is what it was when it was recorded.
    return recorded(await asking.ingest(unchanged(asked, askedAt)), 'unchanged');
  }
  if (status !== 200) {
    const because = faultOf(response, clock.now());
    // No node asks before then.
    if (because.fault === 'throttled' && because.retryAt !== null) await options.budget.hold(because.retryAt);
    return failed(because);
  }
  const text = response.body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '' || isPage(response, text)) return { look: 'not_found' };
  const file = readSupremeCourtFile(parsedJson(text), { court: asked.court, caseNumber: asked.caseNumber, askedAt });
  if ('refused' in file) return failed(fault('unreadable', file.refused));
  const look = recorded(await asking.ingest(file.snapshot), 'complete');
  // After the ingest: if it fails, the file counts as unseen.
  if (look.look === 'complete') await keepValidators(options, asked, response, file.snapshot.askedAt);
  return look;
}

const fault = (of: SourceFault, reason: string, retryAt: Micros | null = null): Fault => ({
  fault: of,
  reason,
  retryAt,
});

function recorded(outcome: Awaited<ReturnType<Asking['ingest']>>, look: 'complete' | 'unchanged'): Look {
  if ('refused' in outcome) return { look: 'failed', because: fault('unreadable', outcome.refused) };
  return { look, stream: outcome.stream };
}

/** Waits until the request before has been a second ago. A fault if too many wait already. */
type Spacing = (asking: Asking) => Promise<Fault | null>;

function createSpacing({ clock, sleep = pause, spacing = SCOTUS_SPACING }: SupremeCourtOptions): Spacing {
  let next: Micros = 0;
  return async (asking) => {
    const now = clock.now();
    // A clock that was set back must not close the source.
    const at = next > now + MAX_TURN + spacing ? now : Math.max(now, next);
    if (at - now > MAX_TURN) return fault('budget', 'too many requests wait for their turn', at);
    next = at + spacing;
    if (at > now) await sleep(Math.ceil((at - now) / MICROS_PER_MS), asking.signal);
    return null;
  };
}

/** Waits for this request's turn. A fault if it does not come in time. */
async function turn({ budget, clock, sleep = pause }: SupremeCourtOptions, asking: Asking): Promise<Fault | null> {
  for (;;) {
    if (asking.signal.aborted) return fault('interrupted', 'the look was ended before its request');
    const taken = await budget.take(asking.priority);
    if (taken.taken) return null;
    const wait = taken.retryAt - clock.now();
    if (wait > MAX_TURN) return fault('budget', 'the budget of this source is spent', taken.retryAt);
    await sleep(Math.max(1, Math.ceil(wait / MICROS_PER_MS)), asking.signal);
  }
}

/** A page for people instead of the file: how this site says that there is none. */
const isPage = ({ headers }: SourceResponse, text: string): boolean =>
  text.startsWith('<') || /^text\/html\b/i.test(headers['content-type'] ?? '');

function faultOf({ status, headers }: SourceResponse, now: Micros): Fault {
  const reason = `HTTP ${status}`;
  const retryAt = retryAfter(headers['retry-after'], now);
  if (status === 401) return fault('unauthorised', reason);
  if (status === 403) return fault('forbidden', reason);
  if (status === 429) return retryAt === null ? fault('blocked', reason) : fault('throttled', reason, retryAt);
  if (status >= 500) return fault('unavailable', reason, retryAt);
  return fault(status === 400 ? 'bad_request' : 'unreadable', reason);
}

const MAX_RETRY_AFTER = 86_400;

function retryAfter(sent: string | undefined, now: Micros): Micros | null {
  if (sent === undefined) return null;
  const seconds = /^\d{1,9}$/.test(sent.trim())
    ? Number(sent)
    : (Date.parse(sent) * MICROS_PER_MS - now) / MICROS_PER_SECOND;
  return Number.isFinite(seconds)
    ? now + Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_AFTER) * MICROS_PER_SECOND
    : null;
}

/** A complete docket with nothing new in it: recorded as a look, and changes nothing. */
const unchanged = ({ court, caseNumber }: AskedCase, askedAt: string) => ({
  court,
  caseNumber,
  aliases: [],
  header: UNKNOWN_HEADER,
  parties: [],
  crossReferences: [],
  entries: [],
  complete: true,
  askedAt,
  source: SCOTUS,
});

interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Named by a hash: an id of a cell has a limited length, an address of an imitation has none. */
const cellOf = ({ url }: SupremeCourtOptions, { caseNumber }: AskedCase): string =>
  `source-scotus-${createHash('sha256').update(`${url}\n${caseNumber}`).digest('hex').slice(0, 32)}`;

/**
 * What the Court said of the file that was recorded last. Null unless that file is still in the log: it may be
 * missing in a restored log.
 */
async function readValidators(options: SupremeCourtOptions, asked: AskedCase): Promise<Validators | null> {
  const since = asked.known?.completeSince ?? null;
  if (since === null) return null;
  const { value } = await options.readStore.cell(cellOf(options, asked));
  if (value === null || value.reader !== READER) return null;
  const { askedAt, etag, lastModified } = value as Record<string, unknown>;
  if (typeof askedAt !== 'string' || askedAt > since) return null;
  const kept = { etag: textOf(etag), lastModified: textOf(lastModified) };
  return kept.etag === null && kept.lastModified === null ? null : kept;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const headersOf = (validators: Validators | null): Record<string, string> => ({
  ...(validators?.etag ? { 'if-none-match': validators.etag } : {}),
  ...(validators?.lastModified ? { 'if-modified-since': validators.lastModified } : {}),
});

async function keepValidators(
  options: SupremeCourtOptions,
  asked: AskedCase,
  { headers }: SourceResponse,
  askedAt: string,
): Promise<void> {
  const kept = (value: string | undefined): string | null =>
    value !== undefined && value.length <= MAX_VALIDATOR && /^[\x20-\x7e]+$/.test(value) ? value : null;
  const id = cellOf(options, asked);
  const { version } = await options.readStore.cell(id);
  await options.readStore.compareAndSet(id, version, {
    reader: READER,
    askedAt,
    etag: kept(headers.etag),
    lastModified: kept(headers['last-modified']),
  });
}
