/** Which alerts are in force, as the log says now: begun with the read model, and brought up to date from the log. */
import type { Subscription } from '../../commands/source/alert.ts';
import { AlertEnded, AlertSubscribed, sourceStream } from '../../events/source.ts';
import { SOURCE_RECORDS } from '../../projections/source-records.ts';
import { alertsOfSource } from '../../queries/live-sources.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { EventLog, Position, RecordedEvent } from '../../storage/event-log.ts';
import type { ReadStore } from '../../storage/read-store.ts';

const SOURCE = 'courtlistener';

/** `since` is when it was last subscribed to or renewed. */
export type AlertInForce = Subscription & { readonly since: Instant };

export interface AlertBook {
  /** By the source's id of the case. */
  readonly inForce: ReadonlyMap<string, AlertInForce>;
  /** Ended by the source, and not asked for again since. */
  readonly lost: ReadonlyMap<string, Subscription>;
  /** Ended by an operator. The read model does not have those from before its start: their streams do. */
  readonly unsubscribed: ReadonlySet<string>;
  catchUp(): Promise<void>;
  /** Begins again at the next call. */
  forget(): void;
}

interface Ports {
  readonly log: Pick<EventLog, 'readAll' | 'head'>;
  readonly readStore: Pick<ReadStore, 'find' | 'checkpoint' | 'activeGeneration'>;
}

const FILTER = { by: 'types', types: [AlertSubscribed.type, AlertEnded.type] } as const;

export function createAlertBook({ log, readStore }: Ports): AlertBook {
  const inForce = new Map<string, AlertInForce>();
  const lost = new Map<string, Subscription>();
  const unsubscribed = new Set<string>();
  let reached: Position | null | undefined;

  async function begin(): Promise<Position | null> {
    for (const known of [inForce, lost, unsubscribed]) known.clear();
    const generation = await readStore.activeGeneration(SOURCE_RECORDS);
    // Read before the documents, which may be newer; then some events are seen twice.
    const position = await readStore.checkpoint(SOURCE_RECORDS, generation);
    for (const { since, renewedAt, ...subscription } of await alertsOfSource(readStore, SOURCE)) {
      const own = { ...(subscription as Subscription), since: renewedAt ?? since };
      inForce.set(own.sourceCaseId, own);
    }
    const head = await log.head();
    return position !== null && head !== null && position <= head ? position : null;
  }

  function apply({ type, data, stream, metadata }: RecordedEvent): void {
    const { sourceCaseId } = data;
    // Another program may write events of this name into streams of its own.
    if (typeof sourceCaseId !== 'string' || stream !== sourceStream.alert(SOURCE, sourceCaseId)) return;
    if (type === AlertSubscribed.type) {
      const { renewed: _, ...subscription } = data;
      inForce.set(sourceCaseId, { ...(subscription as unknown as Subscription), since: metadata.recordedAt });
      lost.delete(sourceCaseId);
      unsubscribed.delete(sourceCaseId);
      return;
    }
    const own = inForce.get(sourceCaseId);
    inForce.delete(sourceCaseId);
    if (data.why === 'unsubscribed') unsubscribed.add(sourceCaseId);
    else if (data.why === 'disabled_by_source' && own) lost.set(sourceCaseId, own);
  }

  return {
    inForce,
    lost,
    unsubscribed,
    async catchUp() {
      reached ??= await begin();
      for await (const { events, position } of log.readAll(reached, FILTER)) {
        for (const event of events) apply(event);
        reached = position;
      }
    },
    forget() {
      reached = undefined;
    },
  };
}
