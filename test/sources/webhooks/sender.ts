/**
 * CourtListener's webhooks as they are sent: an idempotency key for each event, three seconds to answer, no redirect
 * followed, seven retries of rising pauses with the keys of the body in another order, and an end of the whole webhook at
 * the eighth failure of one event. The clock is the caller's. All people and cases are invented.
 */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';

export interface SenderOptions {
  /** The address that is set in the sender's panel. */
  readonly url: string;
  /** Microseconds. */
  readonly clock: { now(): number };
  /** For the connection and for the answer; default 3,000. */
  readonly timeoutMs?: number;
}

export interface Attempt {
  readonly at: number;
  /** Null if there was no answer in time. */
  readonly status: number | null;
  /** The first 4 KB of the answer. */
  readonly answer: string;
  readonly ms: number;
}

export interface SentEvent {
  readonly key: string;
  readonly attempts: readonly Attempt[];
  readonly status: 'successful' | 'in_progress' | 'failed';
}

interface Event {
  readonly key: string;
  readonly body: unknown;
  readonly isTest: boolean;
  readonly attempts: Attempt[];
  status: SentEvent['status'];
  /** When it is tried next. */
  dueAt: number;
}

export interface Sending {
  readonly eventType?: number;
  readonly version?: number;
  readonly key?: string;
  /** From the panel: never retried. */
  readonly isTest?: boolean;
}

const MINUTE = 60_000_000;
/** Minutes after the failure before. */
const PAUSES = [3, 9, 27, 81, 243, 729, 2_187];
const MAIL_AT = [2, 6, 8];

export function openSender({ url, clock, timeoutMs = 3_000 }: SenderOptions) {
  const events: Event[] = [];
  const mails: number[] = [];
  let enabled = true;

  async function attempt(event: Event): Promise<void> {
    const body = event.attempts.length === 0 ? event.body : reordered(event.body);
    const began = performance.now();
    const { status, answer } = await post(url, event.key, JSON.stringify(body), timeoutMs);
    event.attempts.push({ at: clock.now(), status, answer, ms: performance.now() - began });
    if (status !== null && status >= 200 && status < 300) {
      event.status = 'successful';
      return;
    }
    const failures = event.attempts.length;
    if (event.isTest) {
      event.status = 'failed';
      return;
    }
    if (MAIL_AT.includes(failures)) mails.push(failures);
    const pause = PAUSES[failures - 1];
    if (pause === undefined) {
      event.status = 'failed';
      enabled = false;
    } else event.dueAt = clock.now() + pause * MINUTE;
  }

  const shown = ({ key, attempts, status }: Event): SentEvent => ({ key, attempts, status });

  return {
    /** Sends an event at once, unless the webhook has ended. */
    async send(
      payload: unknown,
      { eventType = 1, version = 2, key, isTest = false }: Sending = {},
    ): Promise<SentEvent> {
      const webhook = {
        event_type: eventType,
        version,
        date_created: '2026-02-11T19:30:02.440187+00:00',
        deprecation_date: version === 1 ? '2024-11-18T00:00:00+00:00' : null,
      };
      const event: Event = {
        key: key ?? randomUUID(),
        body: { payload, webhook },
        isTest,
        attempts: [],
        status: 'in_progress',
        dueAt: clock.now(),
      };
      events.push(event);
      if (enabled) await attempt(event);
      return shown(event);
    },
    /** Tries again what is due, as the sender does every minute. */
    async retry(): Promise<void> {
      for (const event of events) {
        if (enabled && event.status === 'in_progress' && event.dueAt <= clock.now()) await attempt(event);
      }
    },
    /** When the next retry is due; null if there is none. */
    nextAt(): number | null {
      const due = events.filter(({ status }) => status === 'in_progress').map(({ dueAt }) => dueAt);
      return enabled && due.length > 0 ? Math.min(...due) : null;
    },
    /** Switches the webhook on again: its events start over. */
    enable(): void {
      enabled = true;
      for (const event of events) if (event.status === 'in_progress') event.dueAt = clock.now();
    },
    isEnabled: () => enabled,
    events: (): readonly SentEvent[] => events.map(shown),
    /** The failures of one event at which its owner got a mail. */
    mails: (): readonly number[] => mails,
  };
}

/** The same value with the keys of its objects in another order, as a database returns it. */
export function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, reordered(inner)] as const);
  return Object.fromEntries(members.reverse());
}

function post(
  url: string,
  key: string,
  body: string,
  timeoutMs: number,
): Promise<{ readonly status: number | null; readonly answer: string }> {
  return new Promise((resolve) => {
    const headers = { 'Content-type': 'application/json', 'Idempotency-Key': key };
    // A redirect is an answer like any other: it is not followed.
    const sent = request(url, { method: 'POST', headers, timeout: timeoutMs }, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        answer = (answer + part).slice(0, 4_096);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? null, answer }));
      response.on('error', () => resolve({ status: null, answer }));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve({ status: null, answer: '' }));
    sent.end(body);
  });
}

export interface EntryRow {
  readonly id: number;
  readonly docket: number;
  readonly number?: number | null;
  readonly day?: string;
  /** Court-local. */
  readonly time?: string | null;
  readonly text?: string;
  readonly shortText?: string;
  readonly documentId?: string;
  readonly modified?: string;
}

/** An entry of a docket alert, in the documented shape. */
export function entryRow({
  id,
  docket,
  number = null,
  day = '2026-06-18',
  time = null,
  text = '',
  shortText = '',
  documentId = '',
  modified = '2026-06-18T13:02:11.660428-07:00',
}: EntryRow) {
  return {
    id,
    recap_documents: [
      {
        id: id + 1_000_000,
        absolute_url: number === null ? '' : `/docket/${docket}/${number}/birch-hollow-mill-v-canal-street-salt/`,
        date_created: modified,
        date_modified: modified,
        sha1: '',
        page_count: null,
        file_size: null,
        filepath_local: null,
        filepath_ia: '',
        ia_upload_failure_count: null,
        thumbnail: null,
        thumbnail_status: 0,
        ocr_status: null,
        date_upload: null,
        document_number: number === null ? '' : String(number),
        attachment_number: null,
        pacer_doc_id: documentId,
        is_available: false,
        is_free_on_pacer: null,
        is_sealed: null,
        document_type: 1,
        description: shortText,
        acms_document_guid: '',
      },
    ],
    date_created: modified,
    date_modified: modified,
    date_filed: day,
    time_filed: time,
    entry_number: number,
    recap_sequence_number: `${day}.${String(id % 1_000).padStart(3, '0')}`,
    pacer_sequence_number: id % 1_000,
    description: text,
    docket,
  };
}
