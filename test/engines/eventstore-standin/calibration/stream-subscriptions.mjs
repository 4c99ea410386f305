// Catch-up subscriptions to one stream.
import { END } from '@eventstore/db-client';
import { sleep } from './kit.mjs';
import { Watch } from './watch.mjs';

const isEvent = (entry) => typeof entry === 'string' && entry.includes('@');

export const probes = {
  async 'from the start: past, caught up, live'(kit) {
    const stream = kit.stream('sub');
    await kit.client.appendToStream(stream, kit.events('sub', 3));
    const watch = new Watch(kit, kit.client.subscribeToStream(stream));
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.events('sub-live', 2));
    await watch.untilEvents(5);
    const stopped = await watch.stop();
    return { log: watch.result(), stopped };
  },
  async 'from the end'(kit) {
    const stream = kit.stream('sub-end');
    await kit.client.appendToStream(stream, kit.events('se', 3));
    const watch = new Watch(kit, kit.client.subscribeToStream(stream, { fromRevision: END }));
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.event('se-live'));
    await watch.untilEvents(1);
    await watch.stop();
    return watch.result();
  },
  async 'from a revision: exclusive'(kit) {
    const stream = kit.stream('sub-from');
    await kit.client.appendToStream(stream, kit.events('sf', 3));
    const out = {};
    for (const fromRevision of [0n, 1n, 2n]) {
      const watch = new Watch(kit, kit.client.subscribeToStream(stream, { fromRevision }));
      await watch.until((log) => log.includes('caughtUp'));
      await watch.stop();
      out[fromRevision] = watch.result();
    }
    return out;
  },
  async 'from a revision that does not exist yet: the events below it never come'(kit) {
    const stream = kit.stream('sub-ahead');
    await kit.client.appendToStream(stream, kit.event('ahead'));
    const watch = new Watch(kit, kit.client.subscribeToStream(stream, { fromRevision: 3n }));
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.events('ahead-live', 5));
    await watch.untilEvents(2);
    await watch.stop();
    return watch.result();
  },
  async 'stream that does not exist yet: no caughtUp until it does'(kit) {
    const stream = kit.stream('sub-new');
    const watch = new Watch(kit, kit.client.subscribeToStream(stream));
    await watch.until((log) => log.includes('confirmation'));
    await sleep(300);
    const before = watch.result();
    await kit.client.appendToStream(stream, kit.events('sn', 2));
    await watch.until((log) => log.includes('caughtUp'));
    await watch.stop();
    return { before, after: watch.result() };
  },
  async 'stream that does not exist yet, from the end'(kit) {
    const stream = kit.stream('sub-new-end');
    const watch = new Watch(kit, kit.client.subscribeToStream(stream, { fromRevision: END }));
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.events('sne', 2));
    await watch.untilEvents(2);
    await watch.stop();
    return watch.result();
  },
  async 'stream with $maxCount and $tb'(kit) {
    const stream = kit.stream('sub-cut');
    await kit.client.appendToStream(stream, kit.events('sc', 50));
    await kit.client.setStreamMetadata(stream, { truncateBefore: 40, maxCount: 8 });
    const watch = new Watch(kit, kit.client.subscribeToStream(stream));
    await watch.until((log) => log.includes('caughtUp'));
    await watch.stop();
    return watch.result();
  },
  async 'stream deleted and recreated while subscribed'(kit) {
    const stream = kit.stream('sub-del');
    await kit.client.appendToStream(stream, kit.events('sd', 2));
    const watch = new Watch(kit, kit.client.subscribeToStream(stream));
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.deleteStream(stream);
    await sleep(200);
    await kit.client.appendToStream(stream, kit.event('sd-again'));
    await watch.untilEvents(3);
    await watch.stop();
    return watch.result();
  },
  async 'stream tombstoned while subscribed'(kit) {
    const stream = kit.stream('sub-tomb');
    await kit.client.appendToStream(stream, kit.events('st', 2));
    const watch = new Watch(kit, kit.client.subscribeToStream(stream), (r) => `${kit.brief(r)}`);
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.tombstoneStream(stream);
    await watch.untilOver();
    await watch.stop();
    return watch.result();
  },
  async 'tombstoned and deleted streams'(kit) {
    const [tomb, gone] = [kit.stream('sub-tombed'), kit.stream('sub-gone')];
    for (const s of [tomb, gone]) await kit.client.appendToStream(s, kit.event(`${s}0`));
    await kit.client.tombstoneStream(tomb);
    await kit.client.deleteStream(gone);
    const a = new Watch(kit, kit.client.subscribeToStream(tomb));
    await a.untilOver();
    await a.stop();
    const b = new Watch(kit, kit.client.subscribeToStream(tomb, { fromRevision: END }));
    await sleep(500);
    await b.stop();
    const c = new Watch(kit, kit.client.subscribeToStream(gone));
    await sleep(500);
    await kit.client.appendToStream(gone, kit.event('gone-again'));
    await c.untilEvents(1);
    await c.stop();
    return { tomb: a.result(), tombFromEnd: b.result(), gone: c.result() };
  },
  async 'two hundred events in the past and live'(kit) {
    const stream = kit.stream('sub-200');
    await kit.client.appendToStream(stream, kit.events('s2-', 200));
    const watch = new Watch(kit, kit.client.subscribeToStream(stream), ({ event }) => `@${event.revision}`);
    await watch.until((log) => log.includes('caughtUp'));
    for (let i = 0; i < 10; i++) await kit.client.appendToStream(stream, kit.events(`s2l${i}-`, 20));
    await watch.untilEvents(400);
    await watch.stop();
    const events = watch.log.filter(isEvent);
    return {
      count: events.length,
      inOrder: events.every((e, i) => e === `@${i}`),
      signals: watch.log.filter((e) => !isEvent(e)),
      caughtUpAfter: watch.log.slice(0, watch.log.indexOf('caughtUp')).filter(isEvent).length,
    };
  },
  async 'resolving links while subscribed'(kit) {
    const [target, links] = [kit.stream('sub-target'), kit.stream('sub-links')];
    await kit.client.appendToStream(target, kit.event('sl-target'));
    const link = (name, to) => ({
      id: kit.id(name),
      contentType: 'application/octet-stream',
      type: '$>',
      data: Buffer.from(to),
    });
    await kit.client.appendToStream(links, link('sl-0', `0@${target}`));
    const show = ({ event, link: l }) => `${event ? kit.names.get(event.id) : 'no event'} through @${l?.revision}`;
    const watch = new Watch(kit, kit.client.subscribeToStream(links, { resolveLinkTos: true }), show);
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(links, [link('sl-1', `0@${target}`), link('sl-2', `4@${target}`)]);
    await watch.untilEvents(3);
    await watch.stop();
    return watch.result();
  },
};
