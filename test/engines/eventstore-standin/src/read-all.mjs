// Reads of $all. It contains everything but the epochs: events of users, metadata, tombstones.
import { handlerFailed, unexpected } from './errors.mjs';
import { END, recordAt } from './positions.mjs';
import { Filler } from './record.mjs';

export const inAll = (record) => !(record instanceof Filler) && record.streamName !== '$epoch-information';
const isEvent = (record) => !(record instanceof Filler);

function resolve(database, from) {
  const at = from === END ? { commit: database.endPosition, prepare: database.endPosition } : from;
  if (at.commit < 0 || at.prepare < 0) throw unexpected('ReadAllResult', 'Error');
  return at;
}

/** Events from a position on, including the one there, as far as they are indexed when they are reached. */
export function* forwards(database, from) {
  const at = resolve(database, from);
  if (at.commit > database.indexedPosition) return;
  for (let i = recordAt(database, at.commit); i < database.indexedRecords; i++)
    if (inAll(database.records[i])) yield database.records[i];
}

/** Events that end before a position. */
export function* backwards(database, from) {
  const at = resolve(database, from);
  for (let i = recordAt(database, at.commit) - 1; i >= 0; i--) {
    const record = database.records[i];
    const ends =
      record.endPosition < at.commit || (record.endPosition === at.commit && record.endPosition <= at.prepare);
    if (i < database.indexedRecords && inAll(record) && ends) yield record;
  }
}

/**
 * One page of a filtered read: at most `count` events that pass, found among at most `window` events. `next` is where
 * the next page begins: after the last examined event, with 0 as its prepare position.
 */
export function filteredPage(database, from, { count, window, filter }) {
  const events = [];
  let next = from,
    considered = 0;
  let endOfStream = from.commit > database.indexedPosition;
  for (
    let i = endOfStream ? 0 : recordAt(database, from.commit);
    !endOfStream && events.length < count && considered < window;
    i++
  ) {
    if (i >= database.indexedRecords) {
      endOfStream = true;
      break;
    }
    const record = database.records[i];
    if (!isEvent(record)) continue;
    considered++;
    if (inAll(record) && filter(record)) events.push(record);
    next = { commit: record.endPosition, prepare: 0 };
  }
  return { events, next, considered, endOfStream };
}

/** Where a subscription continues that has seen the event at a position: after the first event at or after it. */
export function after(database, from) {
  if (from.commit > database.indexedPosition) return from;
  let i;
  try {
    i = recordAt(database, from.commit);
  } catch {
    throw handlerFailed();
  }
  for (; i < database.indexedRecords; i++)
    if (inAll(database.records[i])) return { commit: database.records[i].endPosition, prepare: 0 };
  return from;
}
