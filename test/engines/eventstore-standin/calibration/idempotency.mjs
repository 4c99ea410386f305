// Repeated appends: which are recognized as the same write, and what they answer.
import { ANY, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';

/** Writes [a, b, c] and then `later`, repeats `names` with `expected`, and returns the result. */
const repeat =
  (first, names, expected, { later = [], setup } = {}) =>
  async (kit) => {
    const stream = kit.stream(`idem-${kit.serial++}`);
    const event = (name) => kit.event(`${stream}/${name}`, { name });
    const original = await kit.client.appendToStream(stream, ['a', 'b', 'c'].map(event), { expectedRevision: first });
    const positions = new Map();
    for await (const e of kit.client.readStream(stream))
      positions.set(e.event.position.commit, Number(e.event.revision));
    for (const name of later) await kit.client.appendToStream(stream, event(name));
    await setup?.(kit, stream);
    const answer = await kit.outcome(
      kit.client.appendToStream(stream, names.map(event), { expectedRevision: expected }).then((ok) => ({
        ...ok,
        position: undefined,
        at: ok.position
          ? ok.position.commit === original.position.commit
            ? 'position of the original answer'
            : positions.has(ok.position.commit)
              ? `position of event ${positions.get(ok.position.commit)}`
              : 'a new position'
          : 'no position',
      })),
    );
    let length = 0;
    const read = await kit.drain(kit.client.readStream(stream), () => length++);
    return { answer, lengthAfterwards: read.error ? read.error.class : length };
  };

export const probes = {
  'no_stream, the whole append': repeat(NO_STREAM, ['a', 'b', 'c'], NO_STREAM),
  'no_stream, the whole append, after more events': repeat(NO_STREAM, ['a', 'b', 'c'], NO_STREAM, {
    later: ['d', 'e'],
  }),
  'no_stream, its beginning': repeat(NO_STREAM, ['a', 'b'], NO_STREAM),
  'no_stream, more than it': repeat(NO_STREAM, ['a', 'b', 'c', 'd'], NO_STREAM),
  'no_stream, more than it, all of which exists': repeat(NO_STREAM, ['a', 'b', 'c', 'd'], NO_STREAM, { later: ['d'] }),
  'no_stream, another order': repeat(NO_STREAM, ['b', 'a'], NO_STREAM),
  'no_stream, half of it new': repeat(NO_STREAM, ['a', 'x'], NO_STREAM),
  'no_stream, all new': repeat(NO_STREAM, ['x'], NO_STREAM),
  'exact 0, its end': repeat(NO_STREAM, ['b', 'c'], 0n),
  'exact 0, its middle, after more events': repeat(NO_STREAM, ['b'], 0n, { later: ['d'] }),
  'exact 2 (the present revision), the whole append: written again': repeat(NO_STREAM, ['a', 'b', 'c'], 2n),
  'exact 1, its beginning': repeat(NO_STREAM, ['a'], 1n),
  'exact 7 (beyond the end), the whole append': repeat(NO_STREAM, ['a', 'b', 'c'], 7n),
  'any, the whole append': repeat(ANY, ['a', 'b', 'c'], ANY),
  'any, the whole append, after more events': repeat(ANY, ['a', 'b', 'c'], ANY, { later: ['d', 'e'] }),
  'any, its end': repeat(ANY, ['c'], ANY),
  'any, more than it': repeat(ANY, ['a', 'b', 'c', 'd'], ANY),
  'any, a new one first': repeat(ANY, ['x', 'a'], ANY),
  'any, two in reverse': repeat(ANY, ['b', 'a'], ANY),
  'any, three in reverse: never answered': repeat(ANY, ['c', 'b', 'a'], ANY),
  'any, with a gap': repeat(ANY, ['a', 'c'], ANY),
  'stream_exists, the whole append': repeat(ANY, ['a', 'b', 'c'], STREAM_EXISTS),
  'stream_exists, more than it': repeat(ANY, ['a', 'b', 'c', 'd'], STREAM_EXISTS),
  'no_stream first, repeated with any': repeat(NO_STREAM, ['a', 'b', 'c'], ANY),
  'any first, repeated with no_stream': repeat(ANY, ['a', 'b', 'c'], NO_STREAM),
  'no_stream, truncated in between': repeat(NO_STREAM, ['a', 'b', 'c'], NO_STREAM, {
    later: ['d', 'e'],
    setup: (kit, stream) => kit.client.setStreamMetadata(stream, { truncateBefore: 4 }),
  }),
  'any, truncated in between': repeat(ANY, ['a', 'b', 'c'], ANY, {
    later: ['d', 'e'],
    setup: (kit, stream) => kit.client.setStreamMetadata(stream, { maxCount: 1 }),
  }),
  'no_stream, deleted in between': repeat(NO_STREAM, ['a', 'b', 'c'], NO_STREAM, {
    setup: (kit, stream) => kit.client.deleteStream(stream),
  }),
  'any, deleted in between': repeat(ANY, ['a', 'b', 'c'], ANY, {
    setup: (kit, stream) => kit.client.deleteStream(stream),
  }),
  'no_stream, tombstoned in between': repeat(NO_STREAM, ['a', 'b', 'c'], NO_STREAM, {
    setup: (kit, stream) => kit.client.tombstoneStream(stream),
  }),

  async 'the same id with other data counts as the same event'(kit) {
    const stream = kit.stream('same-id');
    const first = await kit.append(stream, kit.event('same', { version: 1 }), { expectedRevision: NO_STREAM });
    const again = await kit.append(
      stream,
      kit.event('same', { version: 2 }, { type: 'OtherType', metadata: { other: true } }),
      {
        expectedRevision: NO_STREAM,
      },
    );
    return {
      first,
      again,
      read: await kit.drain(kit.client.readStream(stream), ({ event }) => [event.type, event.data]),
    };
  },
  async 'the same id in another stream is another event, and any no longer recognises it there'(kit) {
    const [one, two] = [kit.stream('owner'), kit.stream('copy')];
    await kit.client.appendToStream(one, kit.event('shared'));
    const out = {
      copy: await kit.append(two, kit.event('shared')),
      copyAgainAny: await kit.append(two, kit.event('shared')),
      copyAgainNoStream: await kit.append(two, kit.event('shared'), { expectedRevision: NO_STREAM }),
      ownerAgain: await kit.append(one, kit.event('shared')),
    };
    return { ...out, copies: (await kit.readBack(two)).ok.length };
  },
  async 'a concurrent repetition'(kit) {
    const stream = kit.stream('echo');
    const other = kit.connect();
    const answers = await Promise.all([
      kit.append(stream, kit.event('echo'), { expectedRevision: NO_STREAM }),
      kit.append(stream, kit.event('echo'), { expectedRevision: NO_STREAM }, other),
    ]);
    await other.dispose();
    // the second is recognized, or dropped while the first is in flight: then it times out
    return {
      answers: answers.every((a) => a.ok?.nextExpectedRevision === '0n' || a.error?.class === 'DeadlineExceededError')
        ? 'revision 0, or a timeout'
        : answers,
      length: (await kit.readBack(stream)).ok.length,
    };
  },
};
