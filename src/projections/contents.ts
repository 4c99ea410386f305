/** Fetches the content that events refer to, and distinguishes content removed by an event from missing content. */
import { ContentRedacted, contentStream } from '../events/content.ts';
import type { DomainEvent } from '../events/event.ts';
import { type Clock, Instant, toInstant } from '../runtime/instant.ts';
import type { EventLog, RecordedEvent } from '../storage/event-log.ts';
import type { BlobName, PayloadStore } from '../storage/payload-store.ts';
import type { Content, ProjectedEvent, Projection } from './projection.ts';

export interface ContentSources {
  readonly payloads: PayloadStore;
  readonly log: EventLog;
  readonly clock: Clock;
}

/** An event refers to content that is neither stored nor removed by an event. */
class MissingContent extends Error {
  readonly code = 'missing_content';
  constructor(
    readonly blob: BlobName,
    recorded: RecordedEvent,
  ) {
    super(`${recorded.type} ${recorded.revision} of ${recorded.stream} refers to missing content:  ${blob}`);
    this.name = 'MissingContent';
  }
}

export interface DecodedEvent {
  readonly event: DomainEvent;
  readonly recorded: RecordedEvent;
}

const NO_CONTENTS: ReadonlyMap<BlobName, Content> = new Map();
/** How many redactions of redactions are followed. */
const MOST_REDACTIONS = 32;

/**
 * Adds to each event the content that its fold needs.
 * @throws MissingContent
 * @throws CorruptPayload
 */
export async function withContents(
  projection: Projection,
  decoded: readonly DecodedEvent[],
  sources: ContentSources,
): Promise<readonly ProjectedEvent[]> {
  const namesOf = decoded.map(({ event }) => projection.contentOf?.(event) ?? []);
  const names = [...new Set(namesOf.flat())];
  const resolved = names.length === 0 ? null : await sources.payloads.resolve(names);
  const projected: ProjectedEvent[] = [];
  for (const [index, { event, recorded }] of decoded.entries()) {
    const wanted = namesOf[index] ?? [];
    if (!resolved || wanted.length === 0) {
      projected.push({ event, recorded, contents: NO_CONTENTS });
      continue;
    }
    const contents = new Map<BlobName, Content>();
    for (const name of wanted) {
      const found = resolved.get(name);
      const content = found
        ? { bytes: found.content, redacted: found.replaced }
        : await absentByRecord(name, sources, MOST_REDACTIONS);
      if (content) contents.set(name, content);
      else if (!hasExpired(recorded, sources.clock)) throw new MissingContent(name, recorded);
    }
    projected.push({ event, recorded, contents });
  }
  return projected;
}

/** What replaces redacted content; null if no redaction is recorded. */
async function absentByRecord(name: BlobName, sources: ContentSources, depth: number): Promise<Content | null> {
  const redaction = (await sources.log.read(contentStream(name)))
    .filter(({ type }) => type === ContentRedacted.type)
    .at(-1);
  if (!redaction || depth === 0) return null;
  const { replacement } = redaction.data;
  if (typeof replacement !== 'string') return { bytes: Buffer.alloc(0), redacted: true };
  const bytes = await sources.payloads.get(replacement);
  return bytes ? { bytes, redacted: true } : absentByRecord(replacement, sources, depth - 1);
}

/**
 * Some content is stored only for a time; the event that refers to it says until when
 * (docs/design/architecture.md#content-outside-events).
 */
function hasExpired({ data }: RecordedEvent, clock: Clock): boolean {
  const keepUntil = Instant.safeParse(data.keepUntil);
  return keepUntil.success && keepUntil.data < toInstant(clock.now());
}
