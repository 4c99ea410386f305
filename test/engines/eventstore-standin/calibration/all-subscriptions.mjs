// Catch-up subscriptions to $all, without a filter.
import { END } from '@eventstore/db-client';
import { Watch } from './watch.mjs';

const mine = (kit) => (resolved) =>
  resolved.event.streamId.includes(kit.run) ? kit.brief(resolved) : `other@ ${resolved.event.type}`;
const isEvent = (entry) => typeof entry === 'string' && entry.includes('@');

export const probes = {
  async 'from the position of an event: exclusive'(kit) {
    const stream = kit.stream('all-from');
    await kit.client.appendToStream(stream, kit.events('af', 4));
    const watch = new Watch(
      kit,
      kit.client.subscribeToAll({ fromPosition: await kit.positionOf(stream, 1) }),
      mine(kit),
    );
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.event('af-live'));
    await watch.untilEvents(3);
    await watch.stop();
    return watch.result();
  },
  async 'from the end, and metadata events'(kit) {
    const stream = kit.stream('all-end');
    const watch = new Watch(kit, kit.client.subscribeToAll({ fromPosition: END }), mine(kit));
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.events('ae', 2));
    await kit.client.setStreamMetadata(stream, { maxCount: 9 });
    await kit.client.deleteStream(stream);
    await watch.untilEvents(4);
    await watch.stop();
    return watch.result();
  },
  async 'from the start, is everything once and in order'(kit) {
    const stream = kit.stream('all-start');
    await kit.client.appendToStream(stream, kit.event('as'));
    let last = -1n,
      inOrder = true;
    const watch = new Watch(kit, kit.client.subscribeToAll(), (r) => {
      inOrder &&= r.event.position.commit > last;
      last = r.event.position.commit;
      return mine(kit)(r);
    });
    await watch.until((log) => log.includes('caughtUp'), 15000);
    await watch.stop();
    let total = 0;
    for await (const _ of kit.client.readAll()) total++;
    return { inOrder, same: watch.log.filter(isEvent).length === total, signals: watch.log.filter((e) => !isEvent(e)) };
  },
  async 'from a position that is none'(kit) {
    const stream = kit.stream('all-bad');
    await kit.client.appendToStream(stream, kit.events('ab', 2));
    const at = await kit.positionOf(stream, 0);
    const out = {};
    for (const [label, fromPosition] of [
      ['inside a record', { commit: at.commit + 1n, prepare: at.commit + 1n }],
      ['prepare beyond commit', { commit: at.commit, prepare: at.commit + 1n }],
      ['{commit, prepare 0}', { commit: at.commit, prepare: 0n }],
      ['beyond the end', { commit: at.commit + 10_000_000n, prepare: at.commit + 10_000_000n }],
    ]) {
      const watch = new Watch(kit, kit.client.subscribeToAll({ fromPosition }), mine(kit));
      await watch.until((log) => log.some((e) => e.threw || e === 'caughtUp'), 3000);
      await watch.stop();
      out[label] = watch.result();
    }
    return out;
  },
};
