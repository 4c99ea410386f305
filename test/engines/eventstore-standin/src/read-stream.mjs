// Reads of one stream, as its metadata lets readers see it.
import { streamDeleted, unexpected } from './errors.mjs';

export const MISSING = Symbol('stream not found');

/** Events from a revision on, or MISSING. */
export function forwards(database, name, from) {
  if (from < 0) throw unexpected('ReadStreamResult', 'Error');
  const view = visible(database, name);
  return view === MISSING ? MISSING : walk(view, Math.max(from, view.first), () => view.last, 1);
}

/** Events from a revision (-1: the last one) back to the first, or MISSING. */
export function backwards(database, name, from) {
  const view = visible(database, name);
  return view === MISSING
    ? MISSING
    : walk(view, from < 0 ? view.last : Math.min(from, view.last), () => view.first, -1);
}

/** What readers can see of a stream, or MISSING. */
function visible(database, name) {
  const view = database.view(name);
  if (view.tombstoned) throw streamDeleted(name);
  return view.softDeleted || view.last < 0 ? MISSING : view;
}

function* walk({ events, oldest }, from, end, step) {
  for (let revision = from; step > 0 ? revision <= end() : revision >= end(); revision += step) {
    const event = events[revision];
    if (oldest === undefined || event.created >= oldest) yield event;
  }
}
