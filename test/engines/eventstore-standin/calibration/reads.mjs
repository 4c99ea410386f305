// Reads of one stream and of $all, at their edges.
import { BACKWARDS, END, FORWARDS, START } from '@eventstore/db-client';

const LAST_LONG = 9223372036854775807n;

export const probes = {
  async 'every field of a JSON event'(kit) {
    const stream = kit.stream('fields');
    await kit.client.appendToStream(stream, [
      kit.event('with metadata', { a: [1, null, 'ü'] }, { metadata: { requestId: 'r' } }),
      kit.event('without metadata', { b: true }),
    ]);
    return kit.drain(kit.client.readStream(stream), (r) => kit.full(r));
  },
  async 'missing stream'(kit) {
    const stream = kit.stream('nothing');
    return {
      forwards: await kit.readBack(stream),
      backwards: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END }),
      fromFive: await kit.readBack(stream, { fromRevision: 5n }),
    };
  },
  async 'from and to everywhere in a stream of 70'(kit) {
    const stream = kit.stream('seventy');
    await kit.client.appendToStream(stream, kit.events('s', 70));
    const read = (options) =>
      kit
        .drain(kit.client.readStream(stream, options), ({ event }) => Number(event.revision))
        .then((r) =>
          r.ok
            ? r.ok.length > 4
              ? {
                  count: r.ok.length,
                  first: r.ok[0],
                  last: r.ok.at(-1),
                  steady: r.ok.every((v, i) => v === r.ok[0] + (options.direction === BACKWARDS ? -i : i)),
                }
              : r.ok
            : r,
        );
    const out = {};
    for (const direction of [FORWARDS, BACKWARDS])
      for (const fromRevision of [
        START,
        END,
        0n,
        1n,
        31n,
        32n,
        69n,
        70n,
        1000n,
        LAST_LONG - 1n,
        LAST_LONG,
        LAST_LONG + 1n,
        18446744073709551615n,
      ])
        for (const maxCount of [undefined, 1, 33])
          out[`${direction} from ${fromRevision}${maxCount ? `, at most ${maxCount}` : ''}`] = await read({
            direction,
            fromRevision,
            ...(maxCount ? { maxCount } : {}),
          });
    return out;
  },
  async 'arguments that make no sense'(kit) {
    const stream = kit.stream('odd');
    await kit.client.appendToStream(stream, kit.event('odd'));
    const negative = await kit.outcome(
      Promise.resolve().then(() => kit.client.readStream(stream, { fromRevision: -1n })),
    );
    return {
      maxCount0: await kit.readBack(stream, { maxCount: 0 }),
      negative,
      emptyName: await kit.readBack(''),
      all: await kit.readBack('$all', { maxCount: 1 }),
    };
  },
  async '$all from the position of an event'(kit) {
    const stream = kit.stream('in-all');
    await kit.client.appendToStream(stream, kit.events('ia', 40));
    const at = [];
    for await (const { event } of kit.client.readStream(stream)) at.push(event.position);
    const read = (options) =>
      kit
        .drain(kit.client.readAll(options), ({ event }) => Number(event.revision))
        .then((r) => (r.ok ? (r.ok.length ? `${r.ok[0]}…${r.ok.at(-1)} (${r.ok.length})` : 'nothing') : r));
    const out = {
      'forwards from 10, at most 3': await read({ fromPosition: at[10], maxCount: 3 }),
      'forwards from 3, at most 35': await read({ fromPosition: at[3], maxCount: 35 }),
      'backwards from 10, at most 3': await read({ fromPosition: at[10], maxCount: 3, direction: BACKWARDS }),
      'backwards from 39, at most 35': await read({ fromPosition: at[39], maxCount: 35, direction: BACKWARDS }),
      'forwards from {commit of 10, prepare 0}': await read({
        fromPosition: { commit: at[10].commit, prepare: 0n },
        maxCount: 2,
      }),
      'backwards from {commit of 10, prepare 0}': await read({
        fromPosition: { commit: at[10].commit, prepare: 0n },
        maxCount: 2,
        direction: BACKWARDS,
      }),
      'forwards from {commit of 10, prepare of 9}': await read({
        fromPosition: { commit: at[10].commit, prepare: at[9].prepare },
        maxCount: 2,
      }),
      'positions of $all and of the stream agree': undefined,
    };
    const inAll = [];
    for await (const { event, commitPosition } of kit.client.readAll({ fromPosition: at[0], maxCount: 40 }))
      inAll.push(event.position.commit === commitPosition && event.position.commit);
    out['positions of $all and of the stream agree'] = inAll.every((commit, i) => commit === at[i].commit);
    return out;
  },
  async '$all at its ends'(kit) {
    const read = (options) => kit.drain(kit.client.readAll(options), () => 1).then((r) => (r.ok ? r.ok.length : r));
    return {
      'forwards from end': await read({ fromPosition: END }),
      'backwards from start': await read({ fromPosition: START, direction: BACKWARDS }),
      'forwards from start, at most 1': await read({ maxCount: 1 }),
      'backwards from end, at most 1': await read({ fromPosition: END, direction: BACKWARDS, maxCount: 1 }),
      'forwards from 0/0, at most 1': await read({ fromPosition: { commit: 0n, prepare: 0n }, maxCount: 1 }),
      'backwards from 0/0': await read({ fromPosition: { commit: 0n, prepare: 0n }, direction: BACKWARDS }),
    };
  },
  async '$all from positions that are no position'(kit) {
    const stream = kit.stream('between');
    await kit.client.appendToStream(stream, kit.events('b', 2));
    const at = await kit.positionOf(stream, 0);
    const read = (options) => kit.drain(kit.client.readAll({ maxCount: 1, ...options }), (r) => kit.brief(r), 2500);
    const out = {};
    for (const direction of [FORWARDS, BACKWARDS]) {
      out[`${direction}, inside a record`] = await read({
        direction,
        fromPosition: { commit: at.commit + 1n, prepare: at.commit + 1n },
      });
      out[`${direction}, prepare beyond commit`] = await read({
        direction,
        fromPosition: { commit: at.commit, prepare: at.commit + 1n },
      });
      out[`${direction}, far beyond the end`] = await read({
        direction,
        fromPosition: { commit: at.commit + 10_000_000n, prepare: at.commit + 10_000_000n },
      });
      out[`${direction}, 2^63`] = await read({
        direction,
        fromPosition: { commit: LAST_LONG + 1n, prepare: LAST_LONG + 1n },
      });
    }
    return out;
  },
  async '$all with maxCount 0 never ends'(kit) {
    return kit.drain(kit.client.readAll({ maxCount: 0 }), () => 1, 1500);
  },
  async '$all holds metadata and deletions too, epochs not'(kit) {
    const stream = kit.stream('meta-in-all');
    await kit.client.appendToStream(stream, kit.event('m'));
    const from = await kit.positionOf(stream, 0);
    await kit.client.setStreamMetadata(stream, { maxCount: 5 });
    await kit.client.deleteStream(stream);
    await kit.client.tombstoneStream(stream);
    const seen = await kit.drain(kit.client.readAll({ fromPosition: from }), ({ event }) =>
      event.streamId.includes(kit.run)
        ? `${event.streamId}@${event.revision} ${event.type} json ${event.isJson} data ${JSON.stringify(event.data)}`
        : 'other',
    );
    const first = [];
    for await (const { event } of kit.client.readAll({ maxCount: 1 })) first.push(`${event.streamId} ${event.type}`);
    return { seen: seen.ok?.filter((line) => line !== 'other'), first };
  },
  async links(kit) {
    const [target, links] = [kit.stream('target'), kit.stream('links')];
    await kit.client.appendToStream(target, kit.events('t', 2));
    await kit.client.appendToStream(
      links,
      [`1@${target}`, `7@${target}`, `0@${target}-missing`, 'nonsense'].map((data, i) => ({
        id: kit.id(`link${i}`),
        contentType: 'application/octet-stream',
        type: '$>',
        data: Buffer.from(data),
      })),
    );
    return {
      resolved: await kit.drain(kit.client.readStream(links, { resolveLinkTos: true }), (r) => kit.full(r)),
      unresolved: await kit.readBack(links),
    };
  },
};
