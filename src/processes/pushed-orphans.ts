/**
 * Removes the content of pushed messages that is not needed: its append was not made, or its message was applied and
 * the process died before it removed the content.
 */
import { load } from '../commands/handle.ts';
import { webhook } from '../commands/source/webhook.ts';
import { sourceStream } from '../events/source.ts';
import { MICROS_PER_SECOND, type Micros, toInstant } from '../runtime/instant.ts';
import type { EventLog } from '../storage/event-log.ts';
import { CorruptPayload, type PayloadStore } from '../storage/payload-store.ts';

/** Longer than an append takes, and than the process that applies messages needs to remove what it has applied. */
const YOUNG: Micros = 3_600 * MICROS_PER_SECOND;
/** Most contents examined per round. */
const MOST = 2_000;

/**
 * @param now the latest possible time
 * @returns how many were removed
 */
export async function removePushedOrphans(
  { log, payloads }: { readonly log: Pick<EventLog, 'read'>; readonly payloads: PayloadStore },
  now: Micros,
  signal?: AbortSignal,
): Promise<number> {
  let [examined, removed] = [0, 0];
  for await (const { name } of payloads.list('pushed', toInstant(now - YOUNG))) {
    if (signal?.aborted || examined++ >= MOST) break;
    const keyHash = await keyHashIn(payloads, name);
    if (keyHash === null) continue;
    const { state } = await load(log, webhook, sourceStream.webhook('courtlistener', keyHash));
    if (state.received?.content === name && state.outcome === null) continue;
    await payloads.remove(name);
    removed++;
  }
  return removed;
}

/** Null if it cannot be read: the process that applies its message reports that. */
async function keyHashIn(payloads: PayloadStore, name: string): Promise<string | null> {
  try {
    const { keyHash } = JSON.parse(String(await payloads.get(name))) as { readonly keyHash?: unknown };
    return typeof keyHash === 'string' ? keyHash : null;
  } catch (error) {
    if (error instanceof CorruptPayload || error instanceof SyntaxError) return null;
    throw error;
  }
}
