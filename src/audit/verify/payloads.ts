/**
 * Compares the content that events name with what is stored. Content may be absent only by record: it was redacted, its
 * payment failed, its callback was acknowledged, its message was applied, or its time was over.
 */
import { ACKNOWLEDGED_RETENTION } from '../../commands/delivery/retention.ts';
import { ContentRedacted, contentStream } from '../../events/content.ts';
import { DeliveryAttemptFinished, DeliveryScheduled } from '../../events/delivery.ts';
import type { EventOf, JsonObject } from '../../events/event.ts';
import { FORGET_STREAM, ForgetCompleted } from '../../events/forget.ts';
import { PaymentFailed, paymentOf } from '../../events/payment.ts';
import { WebhookApplied } from '../../events/source.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import { type BlobName, CorruptPayload, type PayloadStore } from '../../storage/payload-store.ts';
import type { RawEvent, RawEventLog } from '../../storage/raw-events.ts';
import type { JudgedEvent } from '../judging.ts';
import type { RuleName } from '../rules/catalogue.ts';
import { blobsNamedBy, type NamedBlob } from './blob-names.ts';
import { pushedFault } from './pushed-bytes.ts';
import { namesCommand } from './stored-json.ts';

const AT_ONCE = 64;

interface Named extends NamedBlob {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
}

export interface PayloadCounts {
  /** Names in events. */
  named: number;
  intact: number;
  /** Replaced by other content, as recorded. */
  replaced: number;
  /** Absent as recorded: redacted, or its payment failed. */
  removed: number;
  /** Absent because its time was over, or that after its callback was acknowledged, or because its message was applied. */
  expired: number;
}

type Place = Pick<Named, 'stream' | 'revision' | 'position'>;
export type PayloadBreach = (rule: RuleName, at: Place, expected: string, found: string) => void;

export class Payloads {
  readonly #store: Pick<PayloadStore, 'getEncoded' | 'resolve'>;
  readonly #log: Pick<RawEventLog, 'find'>;
  readonly #clock: Clock;
  readonly counts: PayloadCounts;
  #waiting: Named[] = [];
  #scheduled: JudgedEvent[] = [];
  #forgotten: JudgedEvent[] = [];

  constructor(
    store: Pick<PayloadStore, 'getEncoded' | 'resolve'>,
    log: Pick<RawEventLog, 'find'>,
    clock: Clock,
    counts: PayloadCounts | null,
  ) {
    this.#store = store;
    this.#log = log;
    this.#clock = clock;
    this.counts = counts ?? { named: 0, intact: 0, replaced: 0, removed: 0, expired: 0 };
  }

  /** Notes what an event names, for the next `check`. */
  note(event: JudgedEvent): void {
    const { stream, revision, position } = event;
    for (const blob of blobsNamedBy(event)) this.#waiting.push({ ...blob, stream, revision, position });
    if (event.type === DeliveryScheduled.type) this.#scheduled.push(event);
    if (event.type === ContentRedacted.type && event.data.forget) this.#forgotten.push(event);
  }

  /** Compares everything noted. @throws StorageFailure if the store cannot be read */
  async check(breach: PayloadBreach): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += AT_ONCE) {
      await Promise.all(waiting.slice(start, start + AT_ONCE).map((named) => this.#checkOne(named, breach)));
    }
    const scheduled = this.#scheduled;
    this.#scheduled = [];
    for (let start = 0; start < scheduled.length; start += AT_ONCE) {
      await Promise.all(scheduled.slice(start, start + AT_ONCE).map((event) => this.#checkPushed(event, breach)));
    }
    const forgotten = this.#forgotten;
    this.#forgotten = [];
    for (let start = 0; start < forgotten.length; start += AT_ONCE) {
      await Promise.all(forgotten.slice(start, start + AT_ONCE).map((event) => this.#checkForgotten(event, breach)));
    }
  }

  async #checkForgotten(event: JudgedEvent, breach: PayloadBreach): Promise<void> {
    const { name, replacement, forget } = event.data as EventOf<typeof ContentRedacted>['data'];
    const holder = await this.#store.getEncoded(name).then(
      (found) => found?.name ?? null,
      // Damaged or in an unknown encoding: the bytes are there.
      () => name,
    );
    if (holder === null || (replacement !== null && holder !== name)) return;
    if (!(await this.#isCompleted(forget?.forgetId))) return;
    breach('forgotten_not_stored', event, `nothing of ${name}`, 'its bytes');
  }

  async #isCompleted(forgetId: string | undefined): Promise<boolean> {
    for (let at = 0; ; at++) {
      const event = await this.#log.find(FORGET_STREAM, at);
      if (event === null) return false;
      if (dataOf(event, ForgetCompleted.type)?.forgetId === forgetId) return true;
    }
  }

  async #checkPushed(event: JudgedEvent, breach: PayloadBreach): Promise<void> {
    const scheduled = event.data as EventOf<typeof DeliveryScheduled>['data'];
    const found = await pushedFault({ log: this.#log, payloads: this.#store }, scheduled);
    if (found !== null) breach('pushed_as_answered', event, 'the bytes of the answer that promised it', found);
  }

  async #checkOne(named: Named, breach: PayloadBreach): Promise<void> {
    const { name, keepUntil } = named;
    const { counts } = this;
    counts.named++;
    try {
      const found = await this.#store.getEncoded(name);
      if (found?.name === name) {
        counts.intact++;
      } else if (found) {
        if (await this.#isRedacted(named, found.name)) counts.replaced++;
        else breach('redaction_recorded', named, `${name} itself`, `${found.name} in its place, without a record`);
      } else if (keepUntil !== null && keepUntil < toInstant(this.#clock.now())) {
        counts.expired++;
      } else if ((await this.#isDelivered(named)) || (await this.#isApplied(named))) {
        counts.expired++;
      } else if ((await this.#isRedacted(named, null)) || (await this.#isUnpaid(named))) {
        counts.removed++;
      } else {
        breach('payload_stored', named, `${name}`, 'nothing is stored under this name, and no record says why');
      }
    } catch (error) {
      if (error instanceof CorruptPayload) {
        const found = error.blob === name ? 'other bytes' : `other bytes under ${error.blob}, which replaces it`;
        return breach('payload_intact', named, `the bytes that ${name} is the hash of`, found);
      }
      // A codec that does not exist: the bytes are those of the name, so nobody changed them.
      if (!(error instanceof Error) || !/encoding that this version does not support/.test(error.message)) throw error;
      breach('payload_intact', named, `content in a known encoding under ${name}`, 'an unknown encoding');
    }
  }

  /**
   * Whether the removal is recorded.
   * @param holder what is stored in its place; null for nothing
   */
  async #isRedacted({ name, stream, revision }: Named, holder: BlobName | null): Promise<boolean> {
    // A replacement that was itself replaced is recorded by the next event about the same content.
    const own = stream.startsWith(contentStream(''));
    const [records, first] = own ? [stream, revision + 1] : [contentStream(name), 0];
    let recorded = false;
    for (let at = first; ; at++) {
      const data = dataOf(await this.#log.find(records, at), ContentRedacted.type);
      if (data === null) return recorded;
      if (!own && data.name !== name) continue;
      if (holder === null || data.replacement === holder) recorded = true;
    }
  }

  /** Whether it is the envelope of a callback whose acknowledgement ended the time for which it is kept. */
  async #isDelivered({ stream, revision, isEnvelope }: Named): Promise<boolean> {
    if (!isEnvelope) return false;
    const before = toInstant(this.#clock.now() - ACKNOWLEDGED_RETENTION);
    for (let at = revision + 1; ; at++) {
      const event = await this.#log.find(stream, at);
      if (event === null) return false;
      const data = dataOf(event, DeliveryAttemptFinished.type);
      if (data?.outcome === 'acknowledged') return String(data.finishedAt) < before;
    }
  }

  /** Whether it is a message that was applied. */
  async #isApplied({ stream, revision, isPushed }: Named): Promise<boolean> {
    if (!isPushed) return false;
    const event = await this.#log.find(stream, revision + 1);
    return event?.type === WebhookApplied.type;
  }

  /**
   * Whether the content belongs to a payment that failed: nothing of it was ever owed. Only earlier versions, whose
   * events do not name their command, removed such content without a record.
   */
  async #isUnpaid({ stream, revision }: Named): Promise<boolean> {
    if (paymentOf(stream) === null) return false;
    for (let at = revision + 1; ; at++) {
      const event = await this.#log.find(stream, at);
      if (event === null) return false;
      if (event.type === PaymentFailed.type) return !namesCommand(event.metadata);
    }
  }
}

/** The data of an event of a type; null for no event, for any other event, and for one that cannot be read. */
function dataOf(event: RawEvent | null, type: string): JsonObject | null {
  if (event?.type !== type) return null;
  try {
    return JSON.parse(event.data) as JsonObject;
  } catch {
    return null;
  }
}
