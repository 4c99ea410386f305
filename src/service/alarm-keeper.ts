/**
 * Keeps the last alarms of this process where `docket status` on any node finds them. In memory first, so that alarms
 * about the storage itself are not lost: they are written once it answers again.
 */
import { hostname } from 'node:os';
import type { KeptAlarm } from '../queries/status-alarms.ts';
import type { RaisedAlarm } from '../runtime/alarms.ts';
import type { Clock, Micros } from '../runtime/instant.ts';
import { MICROS_PER_SECOND, toInstant, toMicros } from '../runtime/instant.ts';
import type { Notices } from '../storage/notices.ts';

const KEPT_FOR: Micros = 7 * 24 * 3_600 * MICROS_PER_SECOND;
/** Names come from the code, so this only bounds memory and is not reached. */
const MOST_NAMES = 200;

export interface AlarmKeeper {
  /** Never throws and never waits. */
  raise(alarm: RaisedAlarm): void;
  /** The alarms of this process, newest first. */
  last(): readonly KeptAlarm[];
  /** Writes what has changed since the last time. A failure leaves it for the next call. */
  write(readStore: Pick<Notices, 'writeNotices'>): Promise<void>;
}

/** @param owner unique for this process: `leaseOwner()` */
export function createAlarmKeeper(owner: string, clock: Clock): AlarmKeeper {
  const alarms = new Map<string, KeptAlarm>();
  const unwritten = new Set<string>();
  const host = hostname();
  return {
    raise({ name, level, at: raisedAt, message, details }) {
      const at = toInstant(raisedAt);
      const known = alarms.get(name);
      if (!known && alarms.size >= MOST_NAMES) return;
      const { count = 0, first = at } = known ?? {};
      alarms.set(name, { name, host, pid: process.pid, level, count: count + 1, first, last: at, message, details });
      unwritten.add(name);
    },
    last: () => [...alarms.values()].toSorted((a, b) => (a.last > b.last ? -1 : 1)),
    async write(readStore) {
      const names = [...unwritten];
      if (names.length === 0) return;
      unwritten.clear();
      try {
        await readStore.writeNotices(
          names.flatMap((name) => {
            const value = alarms.get(name);
            if (!value) return [];
            const at = clock.now();
            return [
              { kind: 'alarm' as const, id: `${owner}/${name}`, value, at, expiresAt: toMicros(value.last) + KEPT_FOR },
            ];
          }),
        );
      } catch (error) {
        for (const name of names) unwritten.add(name);
        throw error;
      }
    },
  };
}
