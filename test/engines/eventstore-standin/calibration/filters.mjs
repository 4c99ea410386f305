// Filters of subscriptions to $all, and the checkpoints that come with them.
import { END, eventTypeFilter, excludeSystemEvents, streamNameFilter } from '@eventstore/db-client';
import { sleep } from './kit.mjs';
import { Watch } from './watch.mjs';

const mine = (kit) => (resolved) =>
  resolved.event.streamId.includes(kit.run) ? kit.brief(resolved) : `other@ ${resolved.event.type}`;
const isEvent = (entry) => typeof entry === 'string' && entry.includes('@');
const typed = (kit, type, count, prefix) =>
  Array.from({ length: count }, (_, i) => kit.event(`${prefix}${i}`, {}, { type: `${type}-${kit.run}` }));

export const probes = {
  async 'what passes which filter'(kit) {
    const [one, two] = [kit.stream('filter-one'), kit.stream('filter-two')];
    const start = kit.stream('filter-start');
    await kit.client.appendToStream(start, kit.event('fstart'));
    const from = await kit.positionOf(start, 0);
    await kit.client.appendToStream(one, [
      ...typed(kit, 'Alpha', 1, 'fa'),
      ...typed(kit, 'Beta', 1, 'fb'),
      ...typed(kit, '$sys', 1, 'fs'),
    ]);
    await kit.client.appendToStream(two, [...typed(kit, 'Alpha', 1, 'fc'), ...typed(kit, 'alpha', 1, 'fd')]);
    await kit.client.setStreamMetadata(one, { maxCount: 99 });
    const out = {};
    const filters = {
      'stream prefix': streamNameFilter({ prefixes: [one] }),
      'two stream prefixes': streamNameFilter({ prefixes: [two, one] }),
      'shared prefix': streamNameFilter({ prefixes: [kit.stream('filter-')] }),
      'stream regex': streamNameFilter({ regex: `^cal-${kit.run}-filter-(one|two)$` }),
      'regex is not anchored': streamNameFilter({ regex: `${kit.run}-filter-t` }),
      'metadata streams': streamNameFilter({ prefixes: [`$$${one}`] }),
      'type prefix': eventTypeFilter({ prefixes: [`Alpha-${kit.run}`] }),
      'type prefix minds case': eventTypeFilter({ prefixes: [`alpha-${kit.run}`] }),
      'type regex': eventTypeFilter({ regex: `^(Alpha|Beta)-${kit.run}$` }),
      'system types': eventTypeFilter({ prefixes: [`$sys-${kit.run}`] }),
      'exclude system events': excludeSystemEvents(),
      'no prefix at all': streamNameFilter({ prefixes: [] }),
      'the empty prefix': eventTypeFilter({ prefixes: [''] }),
    };
    for (const [label, filter] of Object.entries(filters)) {
      const watch = new Watch(kit, kit.client.subscribeToAll({ fromPosition: from, filter }), mine(kit));
      await watch.until((log) => log.includes('caughtUp'));
      await watch.stop();
      out[label] = watch.result();
    }
    return out;
  },
  async 'regular expressions'(kit) {
    const start = kit.stream('re-start');
    await kit.client.appendToStream(start, kit.event('re-start'));
    const from = await kit.positionOf(start, 0);
    const names = ['docket-nysd-1', 'Docket-NYSD-2', 'payment-a1', 'payment-ä', 'x.y', 'x-y', 'tail'].map((name) =>
      kit.stream(`re-${name}`),
    );
    for (const name of names) await kit.client.appendToStream(name, kit.event(name));
    const out = {};
    for (const pattern of [
      'docket-',
      '^cal-',
      '(?i)docket-nysd',
      'docket|payment',
      'x\\.y',
      '\\d$',
      'payment-[a-z]\\d',
      '^(?!.*docket).*$',
      '(?<kind>payment)-',
      '\\bx\\b',
      're-.{3,5}$',
      '[^$]',
      '^[^$].*',
    ]) {
      const watch = new Watch(
        kit,
        kit.client.subscribeToAll({ fromPosition: from, filter: streamNameFilter({ regex: pattern }) }),
        ({ event }) => event.streamId.replace(`cal-${kit.run}-re-`, '@'),
      );
      await watch.until((log) => log.some((e) => e.threw || e === 'caughtUp'), 3000, 20);
      await watch.stop();
      out[pattern] = watch.result().filter((e) => e.threw || e.includes('@'));
    }
    return out;
  },
  async 'regular expressions that JavaScript reads otherwise'(kit) {
    const start = kit.stream('net-start');
    await kit.client.appendToStream(start, kit.event('net-start'));
    const from = await kit.positionOf(start, 0);
    for (const name of ['ä', 'tail'])
      await kit.client.appendToStream(kit.stream(`net-${name}`), kit.event(`net-${name}`));
    const out = {};
    for (const pattern of ['net-\\w+$', 'tail\\z', '(?i:TAIL)']) {
      const watch = new Watch(
        kit,
        kit.client.subscribeToAll({ fromPosition: from, filter: streamNameFilter({ regex: pattern }) }),
        ({ event }) => event.streamId.replace(`cal-${kit.run}-net-`, '@'),
      );
      await watch.until((log) => log.some((e) => e.threw || e === 'caughtUp'), 3000, 20);
      await watch.stop();
      out[pattern] = watch.result().filter((e) => e.threw || e.includes('@'));
    }
    return out;
  },
  async 'filters that make no sense'(kit) {
    const out = {};
    for (const [label, filter] of [
      ['broken regex', eventTypeFilter({ regex: '(' })],
      ['window 0', () => eventTypeFilter({ prefixes: ['x'], maxSearchWindow: 0 })],
      ['interval 0', () => eventTypeFilter({ prefixes: ['x'], checkpointInterval: 0 })],
    ]) {
      try {
        const watch = new Watch(
          kit,
          kit.client.subscribeToAll({ filter: typeof filter === 'function' ? filter() : filter }),
        );
        await watch.untilOver(2000);
        await watch.stop();
        out[label] = watch.result();
      } catch (error) {
        out[label] = { threwAtOnce: error.message };
      }
    }
    return out;
  },
  async 'checkpoints while catching up'(kit) {
    const stream = kit.stream('cp-past');
    await kit.client.appendToStream(stream, kit.events('cp', 200, {}));
    const at = new Map();
    for await (const { event } of kit.client.readStream(stream)) at.set(event.position.commit, Number(event.revision));
    const from = await kit.positionOf(stream, 0);
    const after = new Map([...at].map(([, revision], i, all) => [all[i + 1]?.[0], revision])); // where the record after event n begins
    const out = {};
    for (const [label, options] of Object.entries({
      'nothing matches, default window': { prefixes: ['none'] },
      'nothing matches, interval 2': { prefixes: ['none'], checkpointInterval: 2 },
      'nothing matches, window 10': { prefixes: ['none'], maxSearchWindow: 10 },
      'nothing matches, window 10, interval 3': { prefixes: ['none'], maxSearchWindow: 10, checkpointInterval: 3 },
      'everything matches': { prefixes: ['Calibration'] },
      'everything matches, window 10': { prefixes: ['Calibration'], maxSearchWindow: 10 },
      'nothing matches, window 100': { prefixes: ['none'], maxSearchWindow: 100 },
      'everything matches, window 50': { prefixes: ['Calibration'], maxSearchWindow: 50 },
      'everything matches, window 20, interval 3': {
        prefixes: ['Calibration'],
        maxSearchWindow: 20,
        checkpointInterval: 3,
      },
    })) {
      const log = [];
      const watch = new Watch(
        kit,
        kit.client.subscribeToAll({
          fromPosition: from,
          filter: eventTypeFilter({
            ...options,
            checkpointReached: async (_, p) => {
              log.push(
                at.has(p.commit)
                  ? `${p.prepare === p.commit ? 'at event' : p.prepare === 0n ? 'before event, prepare 0,' : 'odd'} ${at.get(p.commit)}`
                  : after.has(p.commit)
                    ? `after event ${after.get(p.commit)}`
                    : 'elsewhere',
              );
            },
          }),
        }),
        ({ event }) => {
          log.push(`@${event.revision}`);
          return `@${event.revision}`;
        },
      );
      await watch.until((l) => l.includes('caughtUp'));
      await watch.stop();
      out[label] = log.filter((entry) => !entry.startsWith('@'));
    }
    return out;
  },
  async 'checkpoints while live'(kit) {
    const out = {};
    for (const [label, options] of Object.entries({
      'window 4': { maxSearchWindow: 4 },
      'window 2, interval 3': { maxSearchWindow: 2, checkpointInterval: 3 },
      'default window': {},
    })) {
      const stream = kit.stream(`cp-live-${label.replaceAll(/\W/g, '')}`);
      const log = [];
      const positions = new Map();
      const watch = new Watch(
        kit,
        kit.client.subscribeToAll({
          fromPosition: END,
          filter: streamNameFilter({
            prefixes: ['nothing-like-this'],
            ...options,
            checkpointReached: async (_, p) => {
              log.push(p);
            },
          }),
        }),
      );
      await watch.until((l) => l.includes('caughtUp'));
      for (let i = 0; i < 40; i++)
        positions.set((await kit.client.appendToStream(stream, kit.event(`${label}${i}`))).position.commit, i);
      await sleep(300);
      await watch.stop();
      out[label] = log.map(
        (p) => `${p.commit === p.prepare ? 'at event' : 'odd'} ${positions.get(p.commit) ?? 'elsewhere'}`,
      );
    }
    return out;
  },
  async 'what was looked at in the past counts towards the first live checkpoint'(kit) {
    const out = {};
    for (const past of [3, 10, 17]) {
      const stream = kit.stream(`cp-carry-${past}`);
      await kit.client.appendToStream(stream, kit.events(`cc${past}-`, past + 1, {}));
      const from = await kit.positionOf(stream, 0);
      const log = [];
      const positions = new Map();
      const filter = streamNameFilter({
        prefixes: ['nothing-like-this'],
        maxSearchWindow: 4,
        checkpointInterval: 3,
        checkpointReached: async (_, p) => {
          log.push(p);
        },
      });
      const watch = new Watch(kit, kit.client.subscribeToAll({ fromPosition: from, filter }));
      await watch.until((l) => l.includes('caughtUp'));
      const before = log.length;
      for (let i = 0; i < 30; i++)
        positions.set((await kit.client.appendToStream(stream, kit.event(`cc${past}-live${i}`))).position.commit, i);
      await sleep(300);
      await watch.stop();
      out[past] = { before, live: log.slice(before).map((p) => positions.get(p.commit) ?? 'elsewhere') };
    }
    return out;
  },
  async 'nothing is lost when a subscription starts again at any of its checkpoints'(kit) {
    const stream = kit.stream('cp-again');
    await kit.client.appendToStream(stream, kit.event('cpa-start'));
    const from = await kit.positionOf(stream, 0);
    for (let i = 0; i < 12; i++)
      await kit.client.appendToStream(stream, [
        ...typed(kit, 'Noise', 7 + i, `cpn${i}-`),
        ...typed(kit, 'Wanted', 1, `cpw${i}-`),
      ]);
    const checkpoints = [];
    const filter = (extra = {}) => eventTypeFilter({ prefixes: [`Wanted-${kit.run}`], maxSearchWindow: 5, ...extra });
    const first = new Watch(
      kit,
      kit.client.subscribeToAll({
        fromPosition: from,
        filter: filter({
          checkpointReached: async (_, p) => {
            checkpoints.push(p);
          },
        }),
      }),
      (r) => `${r.event.position.commit}@`,
    );
    await first.until((log) => log.includes('caughtUp'));
    await first.stop();
    const all = first.log.filter(isEvent).map((e) => BigInt(e.slice(0, -1)));
    const lost = [];
    for (const point of checkpoints) {
      const again = new Watch(
        kit,
        kit.client.subscribeToAll({ fromPosition: point, filter: filter() }),
        (r) => `${r.event.position.commit}@`,
      );
      await again.until((log) => log.includes('caughtUp'), 4000, 0);
      await again.stop();
      const got = again.log.filter(isEvent).map((e) => BigInt(e.slice(0, -1)));
      const expected = all.filter((commit) => commit > point.commit);
      if (got.join() !== expected.join()) lost.push([checkpoints.indexOf(point), got.length, expected.length]);
    }
    return { wanted: all.length, checkpoints: checkpoints.length, lost };
  },
  async 'order of checkpoints and slow handling'(kit) {
    const stream = kit.stream('cp-order');
    await kit.client.appendToStream(stream, kit.events('co', 12, {}));
    const from = await kit.positionOf(stream, 0);
    const order = [];
    const subscription = kit.client.subscribeToAll({
      fromPosition: from,
      filter: streamNameFilter({
        prefixes: [stream],
        maxSearchWindow: 5,
        checkpointReached: async () => {
          order.push('checkpoint');
        },
      }),
    });
    subscription.on('error', () => {});
    const loop = (async () => {
      for await (const { event } of subscription) {
        await sleep(30);
        order.push(`handled ${event.revision}`);
        if (event.revision === 11n) break;
      }
    })();
    await Promise.race([loop, sleep(4000)]);
    return {
      checkpointsSeen: order.filter((e) => e === 'checkpoint').length,
      beforeTheirEvents: order.indexOf('checkpoint') < order.indexOf('handled 4'),
    };
  },
};
