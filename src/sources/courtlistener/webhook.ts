/**
 * A message of CourtListener's webhooks (docs/design/sources.md#webhooks): what it is, and as much of it as is used, with
 * personal details masked. Total on any bytes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { maskedText } from '../../dockets/mask.ts';
import { MAX_TEXT } from '../../dockets/text.ts';
import { canonicalJson, isTooDeep } from '../../events/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../events/event.ts';
import {
  type Instant,
  MICROS_PER_SECOND,
  type Micros,
  parseTimestamp,
  toInstant,
  toMicros,
} from '../../runtime/instant.ts';
import { idOf } from './courtlistener.ts';
import { ENTRY_FIELDS } from './kept-rows.ts';

/** What a message is about, as it is stored until it is applied. */
export type WebhookContent =
  /** Entries that are new in their dockets, as in the API. */
  | { readonly kind: 'entries'; readonly entries: readonly JsonObject[] }
  /** Alerts that the sender has ended. */
  | { readonly kind: 'alerts'; readonly ended: readonly AlertOf[] };

export interface AlertOf {
  readonly docketId: string;
  readonly alertId: string;
}

export interface WebhookMessage {
  /** As the sender numbers its events; null if it does not say. */
  readonly eventType: number | null;
  /** Null if the message has no effect. */
  readonly content: WebhookContent | null;
  /** Whether the parts that can be read are in the documented form. */
  readonly isReadable: boolean;
  /** The same text for the same message with its keys in another order; null if it is not JSON. */
  canonical(): string | null;
}

const DOCKET_ALERT = 1;
const OLD_ALERTS = 4;
/** The first version of the format, which only test messages still have. */
const RETIRED_VERSION = 1;

/** Never rejects. Takes breaks while it masks much text. */
export async function readWebhook(body: Buffer): Promise<WebhookMessage> {
  const value = parsed(body);
  if (value === undefined || isTooDeep(value)) return UNREADABLE;
  const canonical = () => canonicalJson(value);
  const head = isJsonObject(value) && isJsonObject(value.webhook) ? value.webhook : null;
  const payload = isJsonObject(value) && isJsonObject(value.payload) ? value.payload : null;
  const eventType =
    typeof head?.event_type === 'number' && Number.isSafeInteger(head.event_type) ? head.event_type : null;
  const known = { eventType, canonical };
  if (eventType === null || payload === null) return { ...known, content: null, isReadable: false };
  if (eventType === OLD_ALERTS) return { ...known, content: alertsIn(payload), isReadable: true };
  if (eventType !== DOCKET_ALERT || head?.version === RETIRED_VERSION)
    return { ...known, content: null, isReadable: true };
  const entries = list(payload.results);
  if (entries.length === 0) return { ...known, content: null, isReadable: false };
  return { ...known, content: { kind: 'entries', entries: await maskedEntries(entries) }, isReadable: true };
}

const UNREADABLE: WebhookMessage = { eventType: null, content: null, isReadable: false, canonical: () => null };

function parsed(body: Buffer): Json | undefined {
  try {
    // JSON is UTF-8; other bytes are not replaced silently.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Json;
  } catch {
    return undefined;
  }
}
const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

function alertsIn({ disabled_alerts: disabled }: JsonObject): WebhookContent | null {
  const ended = list(disabled).flatMap(({ id, docket }) => {
    const [alertId, docketId] = [idOf(id), idOf(docket)];
    return alertId === null || docketId === null ? [] : [{ alertId, docketId }];
  });
  return ended.length === 0 ? null : { kind: 'alerts', ended };
}

/** The sender retries for 55 hours, and for as long again if its owner has switched the webhook on again. */
const LATEST: Micros = 5 * 86_400 * MICROS_PER_SECOND;

/**
 * When all that a message says was certainly true: its newest change. A message may be late, and what was learned of the
 * case since must not be overwritten. One that does not say is as late as messages ever are.
 */
export function contentTime(entries: readonly JsonObject[], receivedAt: Instant): Instant {
  const changes = entries
    .flatMap((entry) => [entry, ...list(entry.recap_documents)])
    .flatMap(({ date_modified: text }) => (typeof text === 'string' ? (parseTimestamp(text) ?? []) : []))
    // The sender writes a year long ago for unknown.
    .filter((time) => time >= '1990');
  const newest = changes.sort().at(-1) ?? toInstant(toMicros(receivedAt) - LATEST);
  return newest < receivedAt ? newest : receivedAt;
}

const DOCUMENT_FIELDS = [
  'id',
  'document_type',
  'document_number',
  'attachment_number',
  'pacer_doc_id',
  'acms_document_guid',
  'description',
  'page_count',
  'is_sealed',
  'is_available',
  'is_free_on_pacer',
  'date_modified',
] as const;

/** A longer value of another field than the text is not one of the sender's. */
const MAX_VALUE = 200;
const WORK_MS = 25;

async function maskedEntries(entries: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const masked: JsonObject[] = [];
  let since = performance.now();
  for (const entry of entries) {
    masked.push({
      ...fieldsOf(entry, ENTRY_FIELDS),
      recap_documents: list(entry.recap_documents).map((document) => fieldsOf(document, DOCUMENT_FIELDS)),
    });
    if (performance.now() - since < WORK_MS) continue;
    // Other requests are answered meanwhile.
    await nextTurn();
    since = performance.now();
  }
  return masked;
}

function fieldsOf(from: JsonObject, names: readonly string[]): JsonObject {
  const fields: Record<string, Json> = {};
  for (const name of names) {
    const value = from[name];
    if (name === 'description' && typeof value === 'string') fields[name] = maskedText(value, MAX_TEXT, 'US');
    else if (typeof value === 'string' ? value.length <= MAX_VALUE : value === null || isPlain(value)) {
      fields[name] = value as Json;
    }
  }
  return fields;
}

const isPlain = (value: Json | undefined): boolean => typeof value === 'number' || typeof value === 'boolean';
