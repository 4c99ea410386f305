// Subscribers that are too slow, too many, or leave.
import { END, jsonEvent } from '@eventstore/db-client';
import { SILENT, sleep, within } from './kit.mjs';
import { Watch } from './watch.mjs';

const isEvent = (entry) => typeof entry === 'string' && entry.includes('@');

/** Clients share a connection when their options are the same. */
let interval = 10_000;
const ownConnection = (kit) => kit.connect(`keepAliveInterval=${++interval}`);

export const probes = {
  async 'a live subscriber survives thirty-two events in one append'(kit) {
    const stream = kit.stream('burst-32');
    const watch = new Watch(kit, kit.client.subscribeToStream(stream, { fromRevision: END }), () => '@');
    await watch.until((log) => log.includes('caughtUp'));
    await kit.client.appendToStream(stream, kit.events('b32-', 32, { pad: 'x'.repeat(1000) }));
    await watch.untilEvents(32);
    await watch.stop();
    return { events: watch.log.filter(isEvent).length, signals: watch.log.filter((e) => !isEvent(e)) };
  },
  async 'a live subscriber who stands still is dropped'(kit) {
    const stream = kit.stream('still');
    const client = kit.connect();
    const subscription = client.subscribeToStream(stream, { fromRevision: END });
    subscription.on('error', () => {});
    let over,
      caughtUp = false,
      handled = 0,
      wake;
    const gate = new Promise((resolve) => {
      wake = resolve;
    });
    subscription.on('caughtUp', () => {
      caughtUp = true;
    });
    (async () => {
      try {
        for await (const _ of subscription) {
          handled++;
          await gate;
        }
        over = 'ended without an error';
      } catch (error) {
        over = kit.error(error);
      }
    })();
    while (!caughtUp) await sleep(10);
    for (let i = 0; i < 400; i++)
      await kit.client.appendToStream(stream, jsonEvent({ id: kit.id(), type: 'D', data: { pad: 'x'.repeat(8000) } }));
    wake();
    for (let i = 0; i < 50 && !over; i++) await sleep(100);
    await client.dispose();
    return { over: over ?? 'not dropped', sawAllOfThem: handled === 400 };
  },
  async 'a hundred subscriptions fill a connection: further calls wait'(kit) {
    const stream = kit.stream('hundred');
    await kit.client.appendToStream(stream, kit.event('hundred'));
    const client = ownConnection(kit);
    const watches = Array.from({ length: 101 }, () => new Watch(kit, client.subscribeToStream(stream)));
    const caughtUp = () => watches.filter((watch) => watch.log.includes('caughtUp')).length;
    for (let i = 0; i < 50 && caughtUp() < 95; i++) await sleep(100);
    await sleep(500);
    const most = caughtUp();
    const waiting = await kit.outcome(client.appendToStream(stream, kit.event('hundred-waits')), 1000);
    for (const watch of watches.slice(0, 10)) await watch.stop();
    const then = await kit.append(stream, kit.event('hundred-then'), {}, client);
    await client.dispose();
    return {
      mostCaughtUp: most >= 95,
      allCaughtUp: most === 101,
      waiting,
      whenSomeHaveGone: then.ok ? 'answered' : then,
    };
  },
  async 'clients of one process with the same options share a connection, and its hundred calls'(kit) {
    const stream = kit.stream('shared');
    await kit.client.appendToStream(stream, kit.event('shared'));
    const [busy, same, other] = [
      kit.connect('keepAliveInterval=19999'),
      kit.connect('keepAliveInterval=19999'),
      ownConnection(kit),
    ];
    for (let i = 0; i < 101; i++)
      busy
        .subscribeToStream(stream)
        .on('error', () => {})
        .resume();
    await sleep(1500);
    const out = {
      same: await kit.outcome(same.appendToStream(stream, kit.event('same')), 1500),
      other: await kit.append(stream, kit.event('other'), {}, other),
    };
    await within(Promise.all([busy, same, other].map((client) => client.dispose())), 1000);
    return out;
  },
  async 'a loop left with break keeps its call open: after a hundred the client waits for ever'(kit) {
    const stream = kit.stream('leave');
    for (let i = 0; i < 3; i++)
      await kit.client.appendToStream(stream, kit.events(`leave${i}-`, 300, { pad: 'x'.repeat(500) }));
    const leave = async (client, tidy) => {
      for (let i = 0; i < 110; i++) {
        const read = client.readStream(stream);
        read.on('error', () => {});
        const first = (async () => {
          for await (const _ of read) break;
        })();
        if ((await within(first, 1500)) === SILENT) return 'waits for ever';
        if (tidy) await read.cancel();
      }
      return 'goes on';
    };
    const [one, two] = [ownConnection(kit), ownConnection(kit)];
    const out = { break: await leave(one, false), 'break and cancel': await leave(two, true) };
    await within(Promise.all([one.dispose(), two.dispose()]), 1000);
    return out;
  },
  async 'unsubscribing, disposing'(kit) {
    const stream = kit.stream('stop');
    await kit.client.appendToStream(stream, kit.event('stop'));
    const a = new Watch(kit, kit.client.subscribeToStream(stream));
    await a.until((log) => log.includes('caughtUp'));
    const unsubscribed = await a.stop();
    const client = kit.connect();
    const b = new Watch(kit, client.subscribeToStream(stream));
    await b.until((log) => log.includes('caughtUp'));
    await client.dispose();
    await sleep(300);
    return {
      unsubscribed,
      afterDispose: kit.plain(b.log),
      loop: await Promise.race([b.ended.then(() => 'loop over'), sleep(500).then(() => 'loop still waiting')]),
    };
  },
};
