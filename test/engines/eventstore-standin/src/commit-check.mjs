// Decides whether an append or a deletion may be written: the expected revision, and whether it repeats an earlier
// write.
import { ANY, NO_STREAM, STREAM_EXISTS } from './limits.mjs';

const OK = { decision: 'ok' };
const WRONG = { decision: 'wrong expected version' };
const DELETED = { decision: 'deleted' };
const repeated = (first, last, indexed) => ({
  decision: last <= indexed ? 'repeated' : 'repeated, not yet indexed',
  first,
  last,
});

/**
 * `stream` describes the stream as the writer knows it: `last` (revision, -1 when there is none), `tombstoned`,
 * `softDeleted`, `hasMetadata`, `indexed` (last revision that readers can see), `recent(id)` (revision of a recently
 * written id in this stream), `idAt(revision)`. `ids` are those of the events.
 */
export function checkCommit(stream, expected, ids) {
  if (stream.tombstoned) return DELETED;
  if (expected === STREAM_EXISTS) {
    if (stream.softDeleted) return DELETED;
    if (stream.last < 0 && !stream.hasMetadata) return WRONG;
  }
  if (expected === ANY || expected === STREAM_EXISTS) return anyRevision(stream, ids);
  if (expected < stream.last) return earlierRevision(stream, expected, ids);
  return expected > stream.last ? WRONG : OK;
}

/**
 * A repetition when every id is among the recent ones of the stream, at any revision; wrong when the first is and
 * another is not.
 */
function anyRevision(stream, ids) {
  if (ids.length === 0) return OK;
  const revisions = ids.map((id) => stream.recent(id));
  if (revisions[0] === undefined) return OK;
  if (revisions.includes(undefined)) return WRONG;
  return repeated(revisions[0], revisions.at(-1), stream.indexed);
}

/**
 * A repetition when the stream holds exactly these ids after the expected revision. This depends only on the stream, so
 * it does not expire.
 */
function earlierRevision(stream, expected, ids) {
  if (ids.length === 0) return WRONG;
  const mismatch = ids.findIndex((id, i) => stream.idAt(expected + 1 + i) !== id);
  if (mismatch === -1) return repeated(expected + 1, expected + ids.length, stream.indexed);
  return mismatch === 0 && expected === NO_STREAM && stream.softDeleted ? OK : WRONG;
}
