/** The checkpoint of a verification: what it must hold to go on, and whether the log still is the one it is of. */
import type { Json } from '../../events/event.ts';
import { LOG_HEAD_STREAM, LogHeadRecorded } from '../../events/log-head.ts';
import { LOG_IDENTITY_STREAM, LogFounded } from '../../events/log-identity.ts';
import type { HeadClaim } from '../../events/log-note.ts';
import type { Instant } from '../../runtime/instant.ts';
import type { EventMark, Position } from '../../storage/event-log.ts';
import type { RawEvent, RawEventLog } from '../../storage/raw-events.ts';
import type { LogTimeState } from '../log-time.ts';
import type { Heads, HeadsState } from './heads.ts';
import type { PayloadCounts } from './payloads.ts';
import type { PositionsState } from './positions.ts';
import { CHECKPOINT_FORMAT } from './scratch.ts';
import { storedHash } from './stored-json.ts';

export interface Checkpoint {
  readonly format: number;
  readonly logId: string | null;
  /** The newest event, with its stored hash, null if that cannot be read; null in an empty log. */
  readonly last: (EventMark & { readonly hash: string | null }) | null;
  readonly upTo: Position | null;
  readonly until: Instant | null;
  readonly events: number;
  readonly streams: number;
  readonly commandNamed: boolean;
  readonly logTainted: boolean;
  readonly heads: HeadsState;
  readonly positions: PositionsState;
  readonly logRules: readonly Json[];
  readonly payloads: PayloadCounts | null;
  readonly logTime: LogTimeState;
}

/** The checkpoint does not belong to this log, or this program cannot go on from it. */
export class CheckpointMismatch extends Error {
  readonly code = 'checkpoint_mismatch';
  constructor(
    message: string,
    readonly hint: string,
    /** Whether the log itself is another than it was, which is a breach. */
    readonly isChanged = false,
  ) {
    super(message);
    this.name = 'CheckpointMismatch';
  }
}

/** What to do about a checkpoint that cannot be used. */
export const ANEW = 'Verify the whole log with another --checkpoint file, or without one.';
const CHANGED = `The log was changed, cut or restored since. ${ANEW}`;

interface Asked {
  readonly log: RawEventLog;
  readonly kept: HeadClaim | null;
  /** As restored from the checkpoint. */
  readonly heads: Heads;
  readonly comparesContent: boolean;
}

/**
 * Compares a checkpoint with the log: its id, its last event, and the newest head that it was proven by. Older events
 * are not read again.
 * @throws CheckpointMismatch
 */
export async function assertSameLog(
  checkpoint: Checkpoint,
  { log, kept, heads, comparesContent }: Asked,
): Promise<void> {
  if (checkpoint.format !== CHECKPOINT_FORMAT) {
    throw new CheckpointMismatch('The checkpoint was written by another version of this program.', ANEW);
  }
  const founded = dataOf(await log.find(LOG_IDENTITY_STREAM, 0), LogFounded.type);
  const logId = typeof founded?.logId === 'string' ? founded.logId : null;
  if (checkpoint.logId !== null && logId !== checkpoint.logId) {
    const found = logId === null ? 'a log without an id' : `log ${logId}`;
    throw new CheckpointMismatch(`The checkpoint is of log ${checkpoint.logId}, and this is ${found}.`, ANEW);
  }
  await assertLast(checkpoint, log);
  await assertHead(checkpoint, log);
  const head = await log.head();
  if (checkpoint.upTo !== null && (head === null || head < checkpoint.upTo)) {
    throw new CheckpointMismatch('The log ends before what the checkpoint has verified.', CHANGED, true);
  }
  if (comparesContent && checkpoint.payloads === null && checkpoint.events > 0) {
    throw new CheckpointMismatch(
      'The checkpoint was made without comparing content.',
      `Give --no-payloads again. Or: ${ANEW}`,
    );
  }
  if (kept && heads.keptIsUnknown) {
    throw new CheckpointMismatch(
      `The checkpoint covers ${checkpoint.events} events, and does not know the root of the first ${kept.size}.`,
      'Verify the whole log to compare it with this head.',
    );
  }
}

async function assertLast({ last, events }: Checkpoint, log: RawEventLog): Promise<void> {
  if (last === null) return;
  const found = await log.find(last.stream, last.revision);
  const same = found?.position === last.position && found.id === last.id && storedHash(found.metadata) === last.hash;
  if (same) return;
  throw new CheckpointMismatch(
    `The log no longer holds what the checkpoint has verified: ${last.stream} ${last.revision}, event ${events}, is ${found ? 'another' : 'missing'}.`,
    CHANGED,
    true,
  );
}

/** The newest head that the checkpoint was proven by: a root over everything before it. */
async function assertHead({ heads: { proven } }: Checkpoint, log: RawEventLog): Promise<void> {
  if (proven === null) return;
  const head = dataOf(await log.find(LOG_HEAD_STREAM, proven.revision), LogHeadRecorded.type);
  if (head?.size === proven.size && head.root === proven.root) return;
  throw new CheckpointMismatch(
    `The log no longer holds the head of ${proven.size} events with root ${proven.root}, which the checkpoint has verified.`,
    CHANGED,
    true,
  );
}

function dataOf(event: RawEvent | null, type: string): { readonly [name: string]: Json } | null {
  if (event?.type !== type) return null;
  try {
    return JSON.parse(event.data) as { readonly [name: string]: Json };
  } catch {
    return null;
  }
}
