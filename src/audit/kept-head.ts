/** Checks a head that somebody kept outside the service: is it of this log, and does the log still lead to it? */
import { keysBefore, loadNewestHeads } from '../commands/log-head/newest-heads.ts';
import { isNoteKey, type ParsedNote, verifyHeadSignature } from '../events/log-note.ts';
import { LogTree, leafOf } from '../events/log-tree.ts';
import { UnreadableEvent } from '../events/unreadable-event.ts';
import type { EventLog } from '../storage/event-log.ts';
import { StreamChains } from './replay/stream-chains.ts';

export type KeptHeadCheck =
  | { readonly holds: true; readonly masterVersion: number }
  | {
      readonly holds: false;
      readonly reason:
        | 'another_log'
        /** No key that the log introduced signed this note. */
        | 'unknown_key'
        /** The log has fewer events than the head covers. */
        | 'events_missing'
        /** The log's first events have another root. */
        | 'root_differs'
        /** The content of an event that the head covers does not have its hash, or its stream has a gap before it. */
        | 'content_differs'
        /** An event that the head covers cannot be read. */
        | 'unreadable_event';
      readonly found: string;
    };

/**
 * Reads the log up to the head's size, and recomputes each hash: a root of stored hashes would prove no content.
 * @throws the errors of the log
 */
export async function checkKeptHead(
  log: Pick<EventLog, 'read' | 'readAll'>,
  logId: string,
  note: ParsedNote,
): Promise<KeptHeadCheck> {
  const differs = (reason: Exclude<KeptHeadCheck, { holds: true }>['reason'], found: string): KeptHeadCheck => ({
    holds: false,
    reason,
    found,
  });
  if (note.logId !== logId) return differs('another_log', `this log is ${logId}, and the head is of ${note.logId}`);
  const masterVersion = await signerOf(log, note);
  if (masterVersion === null) return differs('unknown_key', 'no key of this log signed the head');
  const tree = new LogTree();
  const chains = new StreamChains(log);
  let changed: string | null = null;
  try {
    for await (const { events } of log.readAll(null, { by: 'all' })) {
      for (const event of events) {
        if (tree.size === note.size) break;
        const { stream, revision, metadata } = event;
        const problem = await chains.check(event);
        if (problem !== null) changed ??= `${stream} ${revision}: ${problem}`;
        tree.add(leafOf({ stream, revision, hash: metadata.hash }));
      }
      if (tree.size === note.size) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    return differs('unreadable_event', error.message);
  }
  if (tree.size < note.size) return differs('events_missing', `the log has only ${tree.size} events`);
  const root = tree.root().toString('hex');
  if (root !== note.root) return differs('root_differs', `the log's first ${note.size} events have root ${root}`);
  if (changed !== null) return differs('content_differs', changed);
  return { holds: true, masterVersion };
}

/** The version of the master key whose key signed a note; null if none that the log introduced did. */
async function signerOf(log: Pick<EventLog, 'read'>, note: ParsedNote): Promise<number | null> {
  const { head } = await loadNewestHeads(log);
  for await (const { masterVersion, publicKey } of keysBefore(log, head.revision)) {
    if (isNoteKey(note, publicKey) && verifyHeadSignature(note, note.logId, publicKey)) return masterVersion;
  }
  return null;
}
