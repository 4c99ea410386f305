/** Notes on a docket that a feed may have lost entries of it (docs/design/sources.md#feeds). Safe to repeat. */
import type { Instant } from '../../runtime/instant.ts';
import type { CommandContext } from '../../storage/event-log.ts';
import { handleWithRetry, type RecordPorts } from '../handle.ts';
import { docket } from './docket.ts';
import type { Gap } from './fold.ts';

export interface NotedGap {
  /** The docket's stream. */
  readonly stream: string;
  readonly source: string;
  /** When the feed was read that showed the gap. */
  readonly askedAt: Instant;
  readonly gap: Gap;
}

/** @throws StorageFailure, RevisionConflict if others keep writing; repeat it then */
export async function noteGap(
  ports: RecordPorts,
  { stream, ...noted }: NotedGap,
  context: CommandContext,
): Promise<void> {
  await handleWithRetry(ports, docket, stream, { type: 'NoteGap', ...noted }, context);
}
