/**
 * Masks stored content again after the rules have changed, and records each replacement as for a court order. Safe to
 * kill at any point and to run on several nodes at once (docs/design/dockets.md#masking).
 */
import type { Logger } from 'pino';
import type { Decider } from '../commands/decider.ts';
import { finishRedaction, redactions } from '../commands/docket/redaction.ts';
import { isWritten, type Loaded, load, record } from '../commands/handle.ts';
import { findCourt } from '../courts/registry.ts';
import { MASKING_VERSION } from '../dockets/mask.ts';
import { remaskBlob } from '../dockets/remask.ts';
import { decodeEvent } from '../events/codec.ts';
import { contentStream } from '../events/content.ts';
import { DocketDetailsChanged, type DocketEvent, FilingRevised, FilingsRecorded } from '../events/docket.ts';
import type { EventOf } from '../events/event.ts';
import { MASKING_SUBJECT, MaskingApplied, operatorStream } from '../events/operator.ts';
import type { Clock } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import type { CommandContext, EventLog, Position, RecordedEvent } from '../storage/event-log.ts';
import type { BlobName, PayloadStore } from '../storage/payload-store.ts';
import { Trouble } from '../storage/trouble.ts';

export interface RemaskingPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The version of the rules that stored content must have; the code's version if omitted. */
  readonly version?: number;
}

type VersionedPorts = RemaskingPorts & { readonly version: number };

export interface RemaskingReport {
  /** Contents that were masked by older rules. */
  readonly examined: number;
  /** Contents in which the current rules mask more. */
  readonly replaced: number;
  readonly filings: number;
  /** Contents that could not be read; the next start retries them. */
  readonly failed: number;
}

const CONTENT_TYPES = [FilingsRecorded.type, FilingRevised.type, DocketDetailsChanged.type];
const ACTOR = 'remasking';
const PROGRESS_EVERY = 1_000;
const RETRY_AFTER_MS = 10_000;

type ContentEvent = Extract<
  DocketEvent,
  { readonly type: 'FilingsRecorded' | 'FilingRevised' | 'DocketDetailsChanged' }
>;

/**
 * Masks all content that older rules masked. Resolves when everything is done or the signal aborts.
 * @throws the errors of the storage
 */
export async function remaskContent(given: RemaskingPorts, signal?: AbortSignal): Promise<RemaskingReport> {
  const ports = { ...given, version: given.version ?? MASKING_VERSION };
  const { version } = ports;
  const report = { examined: 0, replaced: 0, filings: 0, failed: 0 };
  const { log, logger } = ports;
  const applied = await load(log, masking, operatorStream(MASKING_SUBJECT));
  const { through } = applied.state;
  // A log that came from another engine has other positions.
  const isOfThisLog = through !== null && through.length === (await log.head())?.length;
  const from = applied.state.version >= version && isOfThisLog ? through : null;
  let position: Position | null = null;
  let first = from === null;
  for await (const batch of log.readAll(from, { by: 'types', types: CONTENT_TYPES })) {
    for (const recorded of batch.events) {
      if (signal?.aborted) return report;
      const { data } = decodeEvent(recorded) as ContentEvent;
      const current = (data.masking ?? 1) >= version;
      // A log that starts with the current rules contains nothing older.
      if (first && current) return report;
      first = false;
      if (current) continue;
      report.examined++;
      try {
        const filings = await remaskOne(ports, recorded, data.content);
        if (filings !== null) report.replaced++;
        report.filings += filings ?? 0;
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'corrupt_payload') throw error;
        report.failed++;
        logger.error(
          { blob: data.content, alarm: 'payload_damaged' },
          'stored content is damaged and was not masked again',
        );
      }
      if (report.examined % PROGRESS_EVERY === 0)
        logger.info({ ...report, masking: version }, 'masking stored content again');
    }
    position = batch.position;
  }
  if (report.examined > 0 && report.failed === 0 && position !== null) {
    await recordApplied(ports, applied, position, report);
    logger.info({ ...report, masking: version }, 'stored content is masked by the current rules');
  }
  return report;
}

/** The number of changed filings; null if nothing more is masked. */
async function remaskOne(ports: VersionedPorts, recorded: RecordedEvent, name: BlobName): Promise<number | null> {
  const { payloads, log, clock, version } = ports;
  const found = (await payloads.resolve([name])).get(name);
  if (!found) return null;
  const masked = remaskBlob(found.content, countryOf(recorded.stream));
  if (masked === null && !found.replaced) return null;
  const stream = contentStream(name);
  const history = await load(log, redactions, stream);
  if (await finishRedaction(payloads, name, history.state)) return remaskOne(ports, recorded, name);
  if (masked === null) return null;
  const replacement = await payloads.put('docket', masked.content);
  const redaction = {
    name,
    replacement,
    stream: recorded.stream,
    revision: recorded.revision,
    filingIds: [...masked.filingIds],
    reason: `masking rules version ${version}`,
    by: ACTOR,
    masking: version,
  };
  const outcome = await record(
    { log, clock },
    {
      decider: redactions,
      stream,
      command: { type: 'Redact', redaction },
      context: contextOf(recorded, version, replacement),
      known: history,
    },
  );
  if (!isWritten(outcome)) {
    // Another node was first, perhaps with older rules. Its replacement stays, and nothing names ours.
    await payloads.remove(replacement);
    return remaskOne(ports, recorded, name);
  }
  await finishRedaction(payloads, name, (await load(log, redactions, stream)).state);
  return masked.filingIds.length;
}

function countryOf(stream: string) {
  const [, court = ''] = stream.split('-', 2);
  return findCourt(court)?.country ?? 'US';
}

interface Applied {
  readonly version: number;
  readonly through: Position | null;
}

type AppliedEvent = EventOf<typeof MaskingApplied>;

interface Apply {
  readonly type: 'Apply';
  readonly applied: AppliedEvent['data'];
}

/** Up to which position the rules of which version have been applied. */
const masking: Decider<Applied, Apply, AppliedEvent> = {
  initialState: { version: 1, through: null },
  decide: (_state, { applied }) => [MaskingApplied.of(applied)],
  evolve: (_state, { data: { version, through } }) => ({ version, through }),
};

async function recordApplied(
  { log, clock, version }: VersionedPorts,
  known: Loaded<Applied>,
  through: Position,
  { examined, replaced, filings }: RemaskingReport,
): Promise<void> {
  const commandId = `masking-${version}-${through}`;
  const context: CommandContext = {
    commandId,
    requestId: null,
    correlationId: commandId,
    causationId: null,
    actor: ACTOR,
  };
  const applied = { version, through, examined, replaced, filings };
  const stream = operatorStream(MASKING_SUBJECT);
  const command = { type: 'Apply', applied } as const;
  // If it was not written, another node has recorded the same.
  isWritten(await record({ log, clock }, { decider: masking, stream, command, context, known }));
}

/** Includes the replacement's name: two nodes create different replacements, and only one may be recorded. */
const contextOf = (recorded: RecordedEvent, version: number, replacement: BlobName): CommandContext => ({
  commandId: `masking-${version}-${recorded.id}-${replacement}`,
  requestId: null,
  correlationId: recorded.metadata.correlationId,
  causationId: recorded.id,
  actor: ACTOR,
});

/** Runs in the background of a service until everything is done. Retries if the storage fails. */
export function startRemasking(ports: RemaskingPorts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const trouble = new Trouble(ports.logger, { process: ACTOR });
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await remaskContent(ports, stopping.signal);
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        trouble.failed(error, 'masking stored content again was interrupted; retrying');
        await pause(RETRY_AFTER_MS, stopping.signal);
      }
    }
  };
  const done = run();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
