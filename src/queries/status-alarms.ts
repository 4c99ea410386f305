/** The last alarms of all nodes (docs/design/operations.md#status). */
import { z } from 'zod';
import { Instant, latest, type Micros } from '../runtime/instant.ts';
import type { Notices } from '../storage/notices.ts';

/** One alarm of one process, as its notice: equal alarms are one, with their number and the newest occurrence. */
export const KeptAlarm = z.object({
  name: z.string(),
  host: z.string(),
  pid: z.int(),
  level: z.enum(['info', 'warn', 'error', 'fatal']),
  count: z.int().positive(),
  first: Instant,
  last: Instant,
  message: z.string(),
  details: z.record(z.string(), z.string()),
});
export type KeptAlarm = z.infer<typeof KeptAlarm>;

/** The alarms of all processes, newest first; those of one name on one host are one, across restarts. */
export async function lastAlarms(readStore: Pick<Notices, 'notices'>, now: Micros): Promise<readonly KeptAlarm[]> {
  const kept = (await readStore.notices('alarm', now)).flatMap(({ value }) => KeptAlarm.safeParse(value).data ?? []);
  return joinAlarms(kept);
}

function joinAlarms(kept: readonly KeptAlarm[]): readonly KeptAlarm[] {
  const joined = new Map<string, KeptAlarm>();
  for (const alarm of kept) {
    const key = `${alarm.name} ${alarm.host}`;
    const known = joined.get(key);
    joined.set(key, known ? together(known, alarm) : alarm);
  }
  return [...joined.values()].toSorted((a, b) => (a.last > b.last ? -1 : 1));
}

function together(a: KeptAlarm, b: KeptAlarm): KeptAlarm {
  const newest = b.last > a.last ? b : a;
  const first = latest(a.first, b.first) === a.first ? b.first : a.first;
  return { ...newest, count: a.count + b.count, first };
}
