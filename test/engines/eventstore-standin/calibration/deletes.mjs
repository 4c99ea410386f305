// Deletion, recreation, tombstones, stream metadata.
import { setTimeout as sleep } from 'node:timers/promises';
import { ANY, BACKWARDS, END, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';

const oneByOne = { credentials: { username: 'admin', password: 'changeit' } };
const fresh = async (kit, name, count = 3) => {
  const stream = kit.stream(name);
  await kit.client.appendToStream(stream, kit.events(`${name}/`, count));
  return stream;
};
/** A node answers the append that recreates a deleted stream a moment before readers see the stream again. */
const undeleted = () => sleep(200);
const remove = (kit, stream, options) =>
  kit.outcome(kit.client.deleteStream(stream, options).then((r) => ({ position: r.position })));
const bury = (kit, stream, options) =>
  kit.outcome(kit.client.tombstoneStream(stream, options).then((r) => ({ position: r.position })));

export const probes = {
  async 'delete, by expectation'(kit) {
    const out = {};
    for (const [label, expectedRevision] of [
      ['default', undefined],
      ['any', ANY],
      ['stream_exists', STREAM_EXISTS],
      ['exact', 2n],
      ['too low', 1n],
      ['too high', 3n],
      ['no_stream', NO_STREAM],
    ]) {
      const stream = await fresh(kit, `del-${label.replace(' ', '-')}`);
      out[label] = {
        answer: await remove(kit, stream, expectedRevision === undefined ? {} : { expectedRevision }),
        read: await kit.readBack(stream),
      };
    }
    return out;
  },
  async 'delete a missing stream'(kit) {
    const out = {};
    for (const [label, expectedRevision] of [
      ['any', ANY],
      ['no_stream', NO_STREAM],
      ['stream_exists', STREAM_EXISTS],
      ['exact', 0n],
    ])
      out[label] = await remove(kit, kit.stream(`never-${label}`), { expectedRevision });
    return out;
  },
  async 'a deleted stream, and again'(kit) {
    const stream = await fresh(kit, 'gone');
    await kit.client.deleteStream(stream);
    return {
      again: await remove(kit, stream),
      exactAgain: await remove(kit, stream, { expectedRevision: 2n }),
      existsAgain: await remove(kit, stream, { expectedRevision: STREAM_EXISTS }),
      forwards: await kit.readBack(stream),
      backwards: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END }),
      metadata: await kit.outcome(
        kit.client.getStreamMetadata(stream).then((m) => ({
          ...m,
          metastreamRevision: m.metastreamRevision === undefined ? undefined : 'a commit position',
        })),
      ),
    };
  },
  async 'recreated streams go on counting'(kit) {
    const out = {};
    for (const [label, expectedRevision] of [
      ['any', ANY],
      ['no_stream', NO_STREAM],
      ['exact', 2n],
      ['stream_exists', STREAM_EXISTS],
      ['wrong', 1n],
    ]) {
      const stream = await fresh(kit, `again-${label}`);
      await kit.client.deleteStream(stream);
      const answer = await kit.append(stream, kit.events(`${label}-new`, 2), { expectedRevision });
      await undeleted();
      out[label] = {
        answer,
        answerByAppend: await kit.append(stream, kit.event(`${label}-newer`), {
          expectedRevision: STREAM_EXISTS,
          ...oneByOne,
        }),
        forwards: await kit.readBack(stream),
        fromZero: await kit.readBack(stream, { fromRevision: 0n, maxCount: 1 }),
        backwards: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END }),
        metadata: await kit.outcome(kit.client.getStreamMetadata(stream).then((m) => m.metadata ?? 'none')),
      };
    }
    return out;
  },
  async tombstones(kit) {
    const stream = await fresh(kit, 'tomb');
    return {
      wrong: await bury(kit, stream, { expectedRevision: 0n }),
      bury: await bury(kit, stream, { expectedRevision: 2n }),
      again: await bury(kit, stream),
      remove: await remove(kit, stream),
      append: await kit.append(stream, kit.event('late')),
      appendNoStream: await kit.append(stream, kit.event('late2'), { expectedRevision: NO_STREAM }),
      appendByAppend: await kit.append(stream, kit.event('late3'), oneByOne),
      forwards: await kit.readBack(stream),
      backwards: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END }),
      metadata: await kit.outcome(kit.client.getStreamMetadata(stream)),
      setMetadata: await kit.outcome(kit.client.setStreamMetadata(stream, { maxCount: 1 })),
      missing: await bury(kit, kit.stream('tomb-missing')),
      missingExists: await bury(kit, kit.stream('tomb-missing2'), { expectedRevision: STREAM_EXISTS }),
      thenAppend: await kit.append(kit.stream('tomb-missing'), kit.event('late4')),
    };
  },
  async 'tombstone of a deleted stream'(kit) {
    const stream = await fresh(kit, 'both');
    await kit.client.deleteStream(stream);
    return { bury: await bury(kit, stream), append: await kit.append(stream, kit.event('both-late')) };
  },
  async 'a tombstone whose name is not ASCII'(kit) {
    const stream = await fresh(kit, 'grab-ü');
    const client = kit.connect();
    const out = {
      bury: await bury(kit, stream),
      append: await kit.append(stream, kit.event('ü-late'), {}, client),
      read: await kit.drain(client.readStream(stream)),
      wrongDelete: await kit.outcome(client.deleteStream(kit.stream('falsch-ü'), { expectedRevision: 5n })),
    };
    await client.dispose();
    return out;
  },
  async 'throwOnAppendFailure=false does not soften a tombstone'(kit) {
    const client = kit.connect('throwOnAppendFailure=false');
    const stream = await fresh(kit, 'soft-tomb');
    await kit.client.tombstoneStream(stream);
    const out = await kit.append(stream, kit.event('st'), {}, client);
    await client.dispose();
    return out;
  },

  async 'metadata: set, get, expectation'(kit) {
    const stream = await fresh(kit, 'meta', 1);
    const get = () =>
      kit.outcome(
        kit.client.getStreamMetadata(stream).then(async (m) => ({
          ...m,
          metastreamRevision:
            m.metastreamRevision === undefined
              ? 'undefined'
              : m.metastreamRevision === (await last(kit, `$$${stream}`)).position.commit
                ? 'the commit position, not a revision'
                : 'something else',
        })),
      );
    return {
      none: await get(),
      first: await kit.outcome(
        kit.client.setStreamMetadata(stream, { maxCount: 10, custom: { x: 1 } }, { expectedRevision: NO_STREAM }),
      ),
      got: await get(),
      second: await kit.outcome(
        kit.client.setStreamMetadata(
          stream,
          { maxAge: 1000, cacheControl: 5, acl: { readRoles: ['$all'] } },
          { expectedRevision: 0n },
        ),
      ),
      gotSecond: await get(),
      wrong: await kit.outcome(kit.client.setStreamMetadata(stream, {}, { expectedRevision: 0n })),
      metastream: await kit.readBack(`$$${stream}`),
      ofMissing: await kit.outcome(kit.client.getStreamMetadata(kit.stream('meta-missing'))),
    };
  },
  async 'metadata before the stream'(kit) {
    const stream = kit.stream('meta-first');
    return {
      set: await kit.outcome(kit.client.setStreamMetadata(stream, { maxCount: 2 })),
      read: await kit.readBack(stream),
      exists: await kit.append(stream, kit.event('mf0'), { expectedRevision: STREAM_EXISTS }),
      noStream: await kit.append(stream, kit.event('mf1'), { expectedRevision: NO_STREAM }),
      more: await kit.append(stream, kit.events('mf', 5)),
      readBack: await kit.readBack(stream),
    };
  },
  async 'delete of a stream that has only metadata'(kit) {
    const stream = kit.stream('meta-only');
    await kit.client.setStreamMetadata(stream, { maxCount: 2 });
    return {
      remove: await remove(kit, stream),
      append: await kit.append(stream, kit.event('mo'), { expectedRevision: NO_STREAM }),
      read: await kit.readBack(stream),
    };
  },
  async 'metadata set on a deleted stream'(kit) {
    const stream = await fresh(kit, 'meta-gone');
    await kit.client.deleteStream(stream);
    const set = await kit.outcome(kit.client.setStreamMetadata(stream, { custom: 1 }));
    await undeleted();
    return {
      set,
      metadata: await kit.outcome(kit.client.getStreamMetadata(stream).then((m) => m.metadata)),
      read: await kit.readBack(stream),
      append: await kit.append(stream, kit.event('meta-gone/new'), { expectedRevision: 2n }),
      readBack: await kit.readBack(stream),
      exists: await kit.append(stream, kit.event('meta-gone/newer'), { expectedRevision: STREAM_EXISTS }),
    };
  },
  async 'deleted, recreated, deleted, recreated'(kit) {
    const stream = await fresh(kit, 'twice');
    const out = [];
    for (let round = 0; round < 2; round++) {
      await kit.client.deleteStream(stream);
      out.push(await kit.append(stream, kit.event(`twice/${round}`), { expectedRevision: NO_STREAM }));
      await undeleted();
      out.push(
        await kit.readBack(stream),
        await kit.outcome(kit.client.getStreamMetadata(stream).then((m) => m.metadata)),
      );
    }
    return out;
  },
  async $maxCount(kit) {
    const stream = await fresh(kit, 'max-count', 40);
    await kit.client.setStreamMetadata(stream, { maxCount: 3 });
    const out = {
      forwards: await kit.readBack(stream),
      fromZero: await kit.readBack(stream, { fromRevision: 0n, maxCount: 2 }),
      from35: await kit.readBack(stream, { fromRevision: 35n }),
      backwards: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END }),
      backwardsFrom5: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: 5n }),
    };
    await kit.client.appendToStream(stream, kit.event('max-count/more'));
    return {
      ...out,
      afterOneMore: await kit.readBack(stream),
      inAll: (await kit.drain(kit.client.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 5 }), () => 1)).ok
        ?.length,
    };
  },
  async $tb(kit) {
    const out = {};
    for (const truncateBefore of [0, 2, 3, 10]) {
      const stream = await fresh(kit, `tb-${truncateBefore}`);
      await kit.client.setStreamMetadata(stream, { truncateBefore });
      out[truncateBefore] = {
        forwards: await kit.readBack(stream),
        backwards: await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END }),
        append: await kit.append(stream, kit.event(`tb-more-${truncateBefore}`), { expectedRevision: 2n }),
        afterwards: await kit.readBack(stream),
      };
    }
    return out;
  },
  async $maxAge(kit) {
    const stream = await fresh(kit, 'max-age');
    await kit.client.setStreamMetadata(stream, { maxAge: 1 });
    await new Promise((r) => setTimeout(r, 1500));
    const old = await kit.readBack(stream);
    const backwards = await kit.readBack(stream, { direction: BACKWARDS, fromRevision: END });
    await kit.client.appendToStream(stream, kit.event('young'));
    return { old, backwards, young: await kit.readBack(stream) };
  },
  async 'metadata that makes no sense'(kit) {
    const out = {};
    for (const [label, data] of [
      ['text instead of a number', { $maxCount: 'two' }],
      ['a fraction', { $maxCount: 1.5 }],
      ['zero', { $maxCount: 0 }],
      ['negative', { $tb: -1 }],
      ['too big', { $tb: 1e19 }],
      ['no object', [1]],
      // biome-ignore lint/correctness/noPrecisionLoss: the number that JSON makes of it is meant
      ['more than a long', { $tb: 9223372036854775807 }],
    ]) {
      const stream = await fresh(kit, `senseless-${label.replaceAll(' ', '-')}`);
      out[label] = [
        await kit.append(`$$${stream}`, kit.event(`m-${label}`, data, { type: '$metadata' })),
        (await kit.readBack(stream)).ok?.length ?? 'not found',
      ];
    }
    return out;
  },
};
const last = async (kit, stream) => {
  let event;
  for await (const r of kit.client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }))
    event = r.event;
  return event;
};
