// Catch-up subscriptions: first past events, then a `caughtUp`, then live events.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { streamDeleted } from './errors.mjs';
import { MISSING_STREAM_POLL_MS, READ_BATCH_SIZE } from './limits.mjs';
import { resolveLink } from './links.mjs';
import { END, START } from './positions.mjs';
import { after, forwards as allForwards, filteredPage, inAll } from './read-all.mjs';
import { MISSING, forwards as streamForwards } from './read-stream.mjs';
import { caughtUp, checkpoint, confirmation } from './wire.mjs';

const TOMBSTONE_TYPE = '$streamDeleted';

/** `from`: the last revision that the subscriber has seen, `undefined` for the start, -1 for the end. */
export async function subscribeToStream(database, delivery, { name, from, resolveLinks }) {
  const confirm = confirmOnce(delivery);
  let seen = from ?? -1;
  const show = (record) => {
    if (record.revision <= seen) return undefined;
    seen = record.revision;
    return resolveLinks ? resolveLink(database, record) : record.wire;
  };

  for (let next = seen + 1; from !== -1; ) {
    const { last } = database.view(name);
    const events = streamForwards(database, name, next);
    await confirm();
    if (events === MISSING) await sleep(MISSING_STREAM_POLL_MS);
    else {
      for (const record of events) {
        const wire = show(record);
        if (wire) await delivery.send(wire);
        if (record.type === TOMBSTONE_TYPE) throw streamDeleted(name);
      }
      next = Math.max(next, last + 1);
      if (database.view(name).last < next) break;
    }
    if (delivery.over) return;
  }

  const { last, tombstoned } = database.view(name);
  if (tombstoned && from !== -1) throw streamDeleted(name);
  live(database, delivery, (record) => {
    if (record.streamName !== name || tombstoned || record.revision <= last) return;
    const wire = show(record);
    if (wire) delivery.push(wire);
    if (record.type === TOMBSTONE_TYPE) delivery.fail(streamDeleted(name));
  });
  await confirm();
  delivery.push(caughtUp());
}

/** `from`: the position of the last event that the subscriber has seen, `undefined` for the start, END. */
export async function subscribeToAll(
  database,
  delivery,
  { from, resolveLinks, filter, window = READ_BATCH_SIZE, checkpointInterval },
) {
  const confirm = confirmOnce(delivery);
  const show = (record) => (resolveLinks ? resolveLink(database, record) : record.wire);
  const interval = filter ? checkpointInterval * window : Infinity;
  let considered = 0;

  let next = from === undefined ? START : from;
  if (next !== END && !(next.commit === 0 && next.prepare === 0)) next = after(database, next);
  if (next !== END) {
    for (;;) {
      const page = filter
        ? filteredPage(database, next, { count: READ_BATCH_SIZE, window, filter })
        : unfilteredPage(database, next);
      await confirm();
      let reached = next;
      for (const record of page.events) {
        await delivery.send(show(record));
        if (delivery.over) return;
        reached = { commit: record.position, prepare: record.position };
      }
      considered += page.considered;
      next = page.next;
      if (page.endOfStream) break;
      if (considered >= interval) {
        considered %= interval;
        await delivery.send(checkpoint(reached));
      }
      if (delivery.over) return;
    }
  }
  live(database, delivery, (record) => {
    if (inAll(record) && (!filter || filter(record))) delivery.push(show(record));
    if (++considered >= interval) {
      considered = 0;
      delivery.push(checkpoint({ commit: record.position, prepare: record.position }));
    }
  });
  await confirm();
  delivery.push(caughtUp());
}

function unfilteredPage(database, from) {
  const events = [];
  let next = from;
  for (const record of allForwards(database, from)) {
    events.push(record);
    next = { commit: record.endPosition, prepare: 0 };
    if (events.length === READ_BATCH_SIZE) break;
  }
  return { events, next, considered: 0, endOfStream: events.length < READ_BATCH_SIZE };
}

function live(database, delivery, listener) {
  delivery.whenOver(database.listen(listener));
}

function confirmOnce(delivery) {
  let confirmed = false;
  return async () => {
    if (!confirmed) {
      confirmed = true;
      await delivery.send(confirmation(randomUUID()));
    }
  };
}
