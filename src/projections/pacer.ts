/** How fast a generation is built beside the one that readers see: as fast as the machine allows while nobody waits. */
import { pause } from '../runtime/pause.ts';
import { LOW_DISK_BYTES } from '../storage/disk-space.ts';
import type { ReadStore } from '../storage/read-store.ts';

export interface Pacer {
  /** Most events in the next portion; undefined for the usual number. */
  portion(): number | undefined;
  /** Rests after a portion. */
  rest(events: number, tookMs: number, signal: AbortSignal): Promise<void>;
}

export interface PacerOptions {
  readonly readStore: Pick<ReadStore, 'cell'>;
  readonly projection: string;
  /** How busy the thread is that serves callers, 0 to 1; never busy if omitted. */
  readonly load?: (() => number) | undefined;
  /** Whether the operator's `--max-rate` applies: to a rebuild, and not to a generation that is kept. True if omitted. */
  readonly isLimited?: boolean;
  /** Space on the disk that it fills; null if that is unknown. It waits while there is little. */
  readonly freeBytes?: (() => Promise<number | null>) | undefined;
}

/** Below this load, the rebuild has the rest of the machine. */
const IDLE = 0.15;
const BUSY = 0.5;
/** Rest after each portion at full load, in times of the portion. */
const MOST_REST = 4;
/** Short commits, because SQLite has one writer. */
const PORTION_BESIDE_LOAD = 32;
const LOOK_EVERY_MS = 500;
const LONGEST_REST_MS = 1_000;

const paceCell = (projection: string): string => `projection-pace/${projection}`;

/** Events a second; null without a limit. */
export async function readPace(readStore: Pick<ReadStore, 'cell'>, projection: string): Promise<number | null> {
  const { value } = await readStore.cell(paceCell(projection));
  return typeof value?.maxRate === 'number' && value.maxRate > 0 ? value.maxRate : null;
}

export async function writePace(
  readStore: Pick<ReadStore, 'cell' | 'compareAndSet'>,
  projection: string,
  maxRate: number | null,
): Promise<void> {
  for (;;) {
    const { version, value } = await readStore.cell(paceCell(projection));
    if ((value?.maxRate ?? null) === maxRate) return;
    if (await readStore.compareAndSet(paceCell(projection), version, { maxRate })) return;
  }
}

export function createPacer(options: PacerOptions): Pacer {
  const { readStore, projection, load = () => 0, isLimited = true, freeBytes = async () => null } = options;
  let maxRate: number | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** When the events so far are due at the highest rate. */
  let dueAt = 0;
  return {
    portion: () => (load() > IDLE ? PORTION_BESIDE_LOAD : maxRate === null ? undefined : Math.max(1, maxRate)),
    async rest(events, tookMs, signal) {
      if (performance.now() - lookedAt > LOOK_EVERY_MS) {
        if (isLimited) maxRate = await readPace(readStore, projection);
        while (!signal.aborted && ((await freeBytes()) ?? LOW_DISK_BYTES) < LOW_DISK_BYTES) {
          await pause(LONGEST_REST_MS, signal);
        }
        lookedAt = performance.now();
      }
      const now = performance.now();
      const yielding = tookMs * MOST_REST * Math.min(1, Math.max(0, (load() - IDLE) / (BUSY - IDLE)));
      dueAt = maxRate === null ? now : Math.max(now - tookMs, dueAt) + (events / maxRate) * 1000;
      let restMs = Math.max(yielding, dueAt - now);
      // In parts, so that a stop is not delayed and a new pace counts soon.
      for (; restMs >= 1 && !signal.aborted; restMs -= LONGEST_REST_MS) {
        await pause(Math.min(restMs, LONGEST_REST_MS), signal);
      }
    },
  };
}
