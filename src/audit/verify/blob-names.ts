/** Which content an event names, and until when it must be there. */
import { ANSWER_RETENTION } from '../../commands/payment/answer.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { type Instant, plus } from '../../runtime/instant.ts';
import type { BlobName } from '../../storage/payload-store.ts';
import type { JudgedEvent } from '../judging.ts';

export interface NamedBlob {
  readonly name: BlobName;
  /** After this it may be missing without a record; null: never. */
  readonly keepUntil: Instant | null;
  /** Whether it may be missing once its callback was acknowledged some time ago. */
  readonly isEnvelope?: true;
  /** Whether it may be missing once its message was applied. */
  readonly isPushed?: true;
}

type Names = (data: JsonObject, event: JudgedEvent) => readonly NamedBlob[];

const named = (name: Json | undefined, keepUntil: Json | null = null): readonly NamedBlob[] =>
  typeof name === 'string' ? [{ name, keepUntil: keepUntil as Instant | null }] : [];

const content: Names = (data) => named(data.content);

const NAMES: Readonly<Record<string, Names>> = {
  QueryAnswered: ({ answer, keepUntil = null, callbacks }) => [
    ...named(answer, keepUntil),
    ...(callbacks as readonly JsonObject[]).flatMap(({ target }) => named(target, keepUntil)),
  ],
  DeliveryScheduled: ({ target, envelope, keepUntil = null }) => [
    ...named(target, keepUntil),
    ...named(envelope, keepUntil).map((one) => ({ ...one, isEnvelope: true as const })),
  ],
  ForgetOrdered: ({ subject }) => named((subject as JsonObject).target),
  WebhookReceived: ({ content }) => named(content).map((one) => ({ ...one, isPushed: true as const })),
  DocketDetailsChanged: content,
  FilingsRecorded: content,
  FilingRevised: content,
  // A replaced answer is kept as long as an answer is; all other replacements as long as what they replace.
  ContentRedacted: ({ replacement, stream }, { metadata }) =>
    named(replacement, String(stream).startsWith('payment-') ? plus(metadata.recordedAt, ANSWER_RETENTION) : null),
};

export const blobsNamedBy = (event: JudgedEvent): readonly NamedBlob[] => NAMES[event.type]?.(event.data, event) ?? [];
