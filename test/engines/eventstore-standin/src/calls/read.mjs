// Streams.Read: reads and subscriptions.
import { Delivery } from '../delivery.mjs';
import { handlerFailed, notInStandin, unexpected } from '../errors.mjs';
import { eventFilter } from '../event-filter.mjs';
import { READ_BATCH_SIZE } from '../limits.mjs';
import { resolveLink } from '../links.mjs';
import { END, position, START, signed } from '../positions.mjs';
import * as all from '../read-all.mjs';
import * as stream from '../read-stream.mjs';
import { subscribeToAll, subscribeToStream } from '../subscriptions.mjs';
import { streamNotFound } from '../wire.mjs';
import { streamName } from './requests.mjs';

export const read =
  ({ database, faults, hold }) =>
  async (call) => {
    const delivery = new Delivery(call, hold, (wire) => faults.shown(wire));
    try {
      const options = call.request.getOptions();
      const subscription = options.hasSubscription();
      await faults.enter(call, 'read');
      if (!options.getUuidOption()?.hasString()) throw notInStandin('UUIDs in any form but text');
      if (!subscription) return await readOnce(database, delivery, options);
      if (options.getReadDirection() !== 0) throw handlerFailed();
      faults.subscribed(delivery);
      await subscribe(database, delivery, options);
    } catch (error) {
      delivery.fail(error);
    }
  };

async function readOnce(database, delivery, options) {
  if (options.hasFilter()) throw notInStandin('filtered reads; filtered subscriptions work');
  const count = BigInt(options.getCount());
  const events = options.hasStream() ? ofStream(database, options, count) : ofAll(database, options);
  if (events === stream.MISSING) await delivery.send(streamNotFound(streamName(options.getStream())));
  else {
    if (count === 0n && options.hasAll()) return; // a node keeps reading empty pages
    let left = count;
    for (const record of events) {
      await delivery.send(options.getResolveLinks() ? resolveLink(database, record) : record.wire);
      if (--left === 0n || delivery.over) break;
    }
  }
  delivery.end();
}

function ofStream(database, options, count) {
  const request = options.getStream();
  const name = streamName(request);
  const from = revision(request) ?? 0;
  if (count === 0n) throw unexpected('ReadStreamResult', 'Error');
  return (forwards(options) ? stream.forwards : stream.backwards)(database, name, from);
}

function ofAll(database, options) {
  return (forwards(options) ? all.forwards : all.backwards)(database, allPosition(options.getAll()) ?? START);
}

const forwards = (options) => options.getReadDirection() === 0;
/** `undefined` for the start, -1 for the end. */
const revision = (request) =>
  request.hasRevision() ? signed(request.getRevision()) : request.hasEnd() ? -1 : undefined;
const allPosition = (request) =>
  request.hasPosition() ? position(request.getPosition()) : request.hasEnd() ? END : undefined;

function subscribe(database, delivery, options) {
  const resolveLinks = options.getResolveLinks();
  if (options.hasStream())
    return subscribeToStream(database, delivery, {
      name: streamName(options.getStream()),
      from: revision(options.getStream()),
      resolveLinks,
    });
  const from = allPosition(options.getAll());
  if (!options.hasFilter()) return subscribeToAll(database, delivery, { from, resolveLinks });
  const request = options.getFilter();
  const checkpointInterval = request.getCheckpointintervalmultiplier();
  if (checkpointInterval === 0) throw handlerFailed();
  return subscribeToAll(database, delivery, {
    from,
    resolveLinks,
    filter: eventFilter(request),
    window: request.hasMax() ? request.getMax() : READ_BATCH_SIZE,
    checkpointInterval,
  });
}
