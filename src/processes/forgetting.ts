/** Completes orders to forget whose command was killed: the running service does so, or the next start. */
import { carryOut, openOrders } from '../commands/forget/forget.ts';
import { QUERY_DEADLINE_MS } from '../commands/purchase/query-run.ts';
import { cases } from '../projections/cases.ts';
import type { Clock } from '../runtime/instant.ts';
import { pause } from '../runtime/pause.ts';
import type { EventLog, Position } from '../storage/event-log.ts';
import type { PayloadStore } from '../storage/payload-store.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface ForgettingProcessPorts {
  readonly log: EventLog;
  readonly payloads: PayloadStore;
  readonly readStore: Pick<ReadStore, 'activeGeneration' | 'checkpoint' | 'cell' | 'compareAndSet'>;
  readonly clock: Clock;
  readonly scrub?: (() => Promise<boolean>) | undefined;
}

/** How long after its deadline a query's answer may still be stored. */
const GRACE_MS = 5_000;
/** How long a query's answer may still be composed of what the read model has just removed. */
export const QUERIES_END_WITHIN_MS = QUERY_DEADLINE_MS + GRACE_MS;
const POLL_MS = 100;
/** How long the read model of cases may take to show what was removed. */
const SHOWN_WITHIN_MS = 60_000;

/**
 * @returns how many orders were completed
 * @throws the first error of an order, after all others were tried: of the storage, or that the read model does not catch
 *   up; the next call continues
 */
export async function completeOrders(ports: ForgettingProcessPorts, signal?: AbortSignal): Promise<number> {
  const { readStore, scrub } = ports;
  let completed = 0;
  const failures: unknown[] = [];
  for (const { order } of await openOrders(ports.log)) {
    try {
      await carryOut({ ...ports, untilQueriesEnded, signal }, order);
    } catch (error) {
      // At a stop: the next start continues.
      if (signal?.aborted) return completed;
      failures.push(error);
      continue;
    }
    completed++;
    await scrub?.();
  }
  if (failures.length > 0) throw failures[0];
  return completed;

  async function untilQueriesEnded(upTo: Position): Promise<void> {
    for (let waited = 0; ; waited += POLL_MS) {
      signal?.throwIfAborted();
      const shown = await readStore.checkpoint(cases.name, await readStore.activeGeneration(cases.name));
      if (shown !== null && shown >= upTo) break;
      if (waited >= SHOWN_WITHIN_MS) throw new Error('the read model of cases does not show the removal yet');
      await pause(POLL_MS, signal);
    }
    await pause(QUERIES_END_WITHIN_MS, signal);
    signal?.throwIfAborted();
  }
}
