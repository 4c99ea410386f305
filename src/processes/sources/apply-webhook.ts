/**
 * Applies a received message once (docs/design/sources.md#webhooks): its entries to their case, or what it says about
 * alerts. Every step may be repeated: an ingest that is repeated changes nothing, and `WebhookApplied` comes after it.
 */
import type { BaseLogger } from 'pino';
import { isRejection } from '../../commands/decider.ts';
import type { IngestPorts } from '../../commands/docket/clock.ts';
import { ingestDocket } from '../../commands/docket/ingest.ts';
import { handleWithRetry, load } from '../../commands/handle.ts';
import { alert } from '../../commands/source/alert.ts';
import { type ReceivedWebhook, type WebhookOutcome, webhook } from '../../commands/source/webhook.ts';
import type { Court } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { SourceCaseFound, sourceStream } from '../../events/source.ts';
import { composeDocket, idOf } from '../../sources/courtlistener/courtlistener.ts';
import { contentTime, type WebhookContent } from '../../sources/courtlistener/webhook.ts';
import { readJuriscraperDocket } from '../../sources/juriscraper/juriscraper.ts';
import type { CommandContext, EventLog, RecordedEvent } from '../../storage/event-log.ts';
import { CorruptPayload } from '../../storage/payload-store.ts';

const SOURCE = 'courtlistener';

/** What became of an entry; also the label of metrics. */
export type EntryOutcome = 'ingested' | 'unchanged' | 'unknown_case' | 'unreadable';

export interface ApplyPorts extends IngestPorts {
  readonly logger: Pick<BaseLogger, 'warn' | 'error'>;
  readonly seen?: (outcome: EntryOutcome, entries: number) => void;
}

/** @throws whatever keeps it from being applied now; repeat it then */
export async function applyWebhook(ports: ApplyPorts, { id, stream, metadata }: RecordedEvent): Promise<void> {
  const { log, payloads } = ports;
  const { state } = await load(log, webhook, stream);
  if (state.received === null || state.received.content === null) return;
  const context: CommandContext = {
    commandId: id,
    requestId: metadata.requestId,
    correlationId: metadata.correlationId,
    causationId: id,
    actor: `source:${SOURCE}`,
  };
  if (state.outcome === null) {
    const outcome = await effectOf(ports, state.received, context);
    const command = { type: 'Apply', outcome } as const;
    const applied = await handleWithRetry(ports, webhook, stream, command, context);
    if (isRejection(applied)) throw new Error(`a message cannot be applied: ${applied.rejected}`);
  }
  // Last: after a kill, the next process can still apply it.
  await payloads.remove(state.received.content);
}

async function effectOf(
  ports: ApplyPorts,
  received: ReceivedWebhook,
  context: CommandContext,
): Promise<WebhookOutcome> {
  const content = await contentOf(ports, received);
  if (content === null) return 'unreadable';
  if (content.kind === 'entries') return entriesEffect(ports, content.entries, received, context);
  let outcome: WebhookOutcome = 'ignored';
  for (const { docketId, alertId } of content.ended) {
    const command = { type: 'End', alertId, why: 'disabled_by_source', by: SOURCE } as const;
    const ended = await handleWithRetry(ports, alert, sourceStream.alert(SOURCE, docketId), command, context);
    if (isRejection(ended) || ended.events.length === 0) continue;
    outcome = 'recorded';
    const alarm = 'docket_alert_ended';
    ports.logger.warn(
      { docket: docketId, alarm },
      'CourtListener has ended a docket alert; it is asked for again if the case is watched',
    );
  }
  return outcome;
}

/** Null if it is lost: the next look at the case shows what it said. */
async function contentOf(ports: ApplyPorts, { content, keyHash }: ReceivedWebhook): Promise<WebhookContent | null> {
  try {
    const bytes = content === null ? null : await ports.payloads.get(content);
    if (bytes !== null) return JSON.parse(bytes.toString()) as WebhookContent;
    // Another node that has applied it meanwhile has removed it, too.
    const { state } = await load(ports.log, webhook, sourceStream.webhook(SOURCE, keyHash));
    if (state.outcome !== null) return null;
  } catch (error) {
    if (!(error instanceof CorruptPayload)) throw error;
  }
  const alarm = 'webhook_lost';
  ports.logger.error({ keyHash, blob: content, alarm }, 'the content of a message of CourtListener is lost');
  return null;
}

/** The strongest of several outcomes, should one message ever be about several dockets. */
const STRENGTH: readonly WebhookOutcome[] = ['recorded', 'unchanged', 'ignored', 'unknown_case', 'unreadable'];

async function entriesEffect(
  ports: ApplyPorts,
  entries: readonly JsonObject[],
  received: ReceivedWebhook,
  context: CommandContext,
): Promise<WebhookOutcome> {
  const byDocket = new Map<string | null, JsonObject[]>();
  for (const entry of entries) {
    const docketId = idOf(entry.docket as Json | undefined);
    byDocket.set(docketId, [...(byDocket.get(docketId) ?? []), entry]);
  }
  const outcomes: WebhookOutcome[] = [];
  for (const [docketId, own] of byDocket) {
    if (docketId === null) {
      ports.seen?.('unreadable', own.length);
      outcomes.push('unreadable');
    } else outcomes.push(await docketEffect(ports, docketId, own, received, context));
  }
  return STRENGTH.find((one) => outcomes.includes(one)) ?? 'unreadable';
}

async function docketEffect(
  ports: ApplyPorts,
  docketId: string,
  entries: readonly JsonObject[],
  { receivedAt }: ReceivedWebhook,
  context: CommandContext,
): Promise<WebhookOutcome> {
  const seen = (outcome: EntryOutcome, count = entries.length) => count > 0 && ports.seen?.(outcome, count);
  const known = await caseOf(ports.log, docketId);
  if (known === null) {
    seen('unknown_case');
    return 'unknown_case';
  }
  const { court, caseNumber } = known;
  const docket = { court_id: court.code, docket_number: caseNumber };
  const read = readJuriscraperDocket(composeDocket({ id: docketId, docket, entries, parties: [], attorneys: [] }), {
    askedAt: contentTime(entries, receivedAt),
    complete: false,
    source: SOURCE,
  });
  if ('refused' in read || read.snapshot.entries.length === 0) {
    seen('unreadable');
    return 'unreadable';
  }
  const report = await ingestDocket(ports, read.snapshot, context);
  // Forgotten, or its number has become ambiguous.
  if ('refused' in report) return 'ignored';
  seen(report.changed ? 'ingested' : 'unchanged', read.snapshot.entries.length);
  seen('unreadable', read.skipped.length);
  return report.changed ? 'recorded' : 'unchanged';
}

interface KnownCase {
  readonly court: Court;
  readonly caseNumber: string;
}

/** The case that an id of the source means, also if the source has since merged it into another; null if unknown. */
async function caseOf(log: Pick<EventLog, 'read'>, docketId: string): Promise<KnownCase | null> {
  const found = (await log.read(sourceStream.sourceCase(SOURCE, docketId))).findLast(
    ({ type }) => type === SourceCaseFound.type,
  );
  const of = found?.data ?? (await load(log, alert, sourceStream.alert(SOURCE, docketId))).state.of;
  const court = findCourt(String(of?.court ?? ''));
  return court && of ? { court, caseNumber: String(of.caseNumber) } : null;
}
