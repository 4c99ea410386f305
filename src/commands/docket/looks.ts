/** What the log says of looks at a docket: what the desk of sources needs before and after it asks. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { Court } from '../../courts/court.ts';
import { DocketChecked, DocketForgotten } from '../../events/docket.ts';
import type { LiveSourceName } from '../../events/source.ts';
import { type Clock, type Instant, toInstant } from '../../runtime/instant.ts';
import type { CommandContext, EventLog } from '../../storage/event-log.ts';
import { record } from '../handle.ts';
import { knownStreamOf } from './alias.ts';
import { docket } from './docket.ts';

export interface DocketLook {
  readonly source: string;
  readonly askedAt: Instant;
  readonly complete: boolean;
  readonly outcome: string;
  readonly revision: number;
}

export interface LookedAt {
  readonly stream: string;
  /** In the order of the stream. */
  readonly looks: readonly DocketLook[];
  readonly isForgotten: boolean;
}

/** The looks at a case; null if no docket has its number. */
export async function looksAt(log: Pick<EventLog, 'read'>, court: Court, caseNumber: string): Promise<LookedAt | null> {
  const number = parseCaseNumber(court, caseNumber);
  const stream = number && (await knownStreamOf(log, court, number));
  if (stream === null) return null;
  const events = await log.read(stream);
  const looks = events.flatMap(({ type, data, revision }) => {
    const read = type === DocketChecked.type ? DocketChecked.schema.safeParse(data) : null;
    return read?.success ? [{ ...read.data, revision }] : [];
  });
  return { stream, looks, isForgotten: events.some(({ type }) => type === DocketForgotten.type) };
}

/** When a look of a source that showed the whole docket was last begun. */
export const completeSince = ({ looks }: LookedAt, source: LiveSourceName): Instant | null =>
  looks.reduce(
    (newest: Instant | null, look) =>
      look.source === source && look.complete && (newest === null || look.askedAt > newest) ? look.askedAt : newest,
    null,
  );

/** Records that a look failed, unless another failed within the hour. @throws the errors of the log */
export async function recordFailedLook(
  { log, clock }: { readonly log: Pick<EventLog, 'append' | 'read'>; readonly clock: Clock },
  stream: string,
  source: LiveSourceName,
  context: CommandContext,
): Promise<void> {
  const outcome = await record(
    { log, clock },
    {
      decider: docket,
      stream,
      command: (now) => ({ type: 'RecordFailedLook', source, askedAt: toInstant(now) }) as const,
      context,
      decisions: 5,
    },
  );
  // Another writer has just looked at the docket: then the age needs no failed look.
  if ('unwritten' in outcome && outcome.unwritten === 'failed') throw outcome.error;
}
