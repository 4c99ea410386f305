#!/usr/bin/env node
// Performs the same random steps on two nodes and stops at the first answer in which they differ. Positions are
// compared too, as distances from the first event, so nothing else may write to either node.
import { BACKWARDS, END, eventTypeFilter, FORWARDS, jsonEvent, START, streamNameFilter } from '@eventstore/db-client';
import { Kit, SILENT, sleep } from './calibration/kit.mjs';
import { Watch } from './calibration/watch.mjs';

const [urlA, urlB, seedText = String(Date.now() % 1e6), stepsText = '300'] = process.argv.slice(2);
if (!urlB) {
  process.stderr.write('usage: node compare.mjs URL URL [SEED] [STEPS]\n');
  process.exit(urlA === '--help' ? 0 : 2);
}

function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
const random = randomFrom(Number(seedText));
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const chance = (probability) => random() < probability;

const streams = ['a', 'b', 'c', 'd-ü', 'e'];
const written = []; // { stream, names } of every append that was tried
let serial = 0;

/** A step is plain data, so that both nodes do exactly the same. */
function step() {
  const stream = pick(streams);
  const revision = () => below(12) - 1;
  const expected = () => pick(['any', 'any', 'no_stream', 'stream_exists', revision(), revision()]);
  const names = (count) => Array.from({ length: count }, () => `n${serial++}`);
  const roll = random();
  if (roll < 0.3) {
    const entry = { stream, names: names(below(4) + (chance(0.05) ? 0 : 1)) };
    written.push(entry);
    return {
      does: 'append',
      ...entry,
      expected: expected(),
      alone: chance(0.15),
      type: pick(['T', 'U', 'Typ-ß', '$sys']),
      size: below(300),
    };
  }
  if (roll < 0.5 && written.length) {
    const before = chance(0.6) ? written.at(-1 - below(Math.min(4, written.length))) : pick(written);
    let again = [...before.names];
    if (chance(0.25)) again = again.slice(0, below(again.length) + 1);
    if (chance(0.2)) again = again.slice(below(again.length));
    if (chance(0.15)) again.push(...names(1));
    if (chance(0.1)) again.unshift(...names(1));
    if (chance(0.1) && again.length === 2) again.reverse();
    return {
      does: 'append',
      stream: chance(0.85) ? before.stream : stream,
      names: again,
      expected: expected(),
      alone: chance(0.15),
      type: 'T',
      size: 0,
    };
  }
  if (roll < 0.55) return { does: 'delete', stream, expected: pick(['any', 'any', 'no_stream', revision()]) };
  if (roll < 0.56) return { does: 'tombstone', stream: `${stream}-${serial++ % 3}`, expected: 'any' };
  if (roll < 0.63)
    return {
      does: 'metadata',
      stream,
      data: pick([
        { $maxCount: below(5) },
        { $tb: below(12) },
        { $tb: below(6), $maxCount: 1 + below(4) },
        {},
        { custom: 'x' },
        { $maxCount: 'wrong' },
        { $maxAge: 10_000 },
      ]),
      expected: pick(['any', 'any', revision()]),
    };
  if (roll < 0.67) return { does: 'getMetadata', stream };
  if (roll < 0.83)
    return {
      does: 'read',
      stream: chance(0.1) ? `$$${stream}` : stream,
      from: pick(['start', 'end', below(15)]),
      direction: pick([FORWARDS, BACKWARDS, BACKWARDS]),
      maxCount: pick([undefined, 1, 1 + below(40)]),
    };
  if (roll < 0.92)
    return {
      does: 'readAll',
      direction: pick([FORWARDS, BACKWARDS]),
      from: pick(['end', random()]),
      maxCount: 1 + below(60),
    };
  if (roll < 0.96)
    return { does: 'subscribe', stream, from: pick(['start', 'end', below(12)]), live: names(1 + below(2)) };
  return {
    does: 'subscribeAll',
    from: random(),
    filter: pick([undefined, { types: ['U'] }, { types: ['T', '$s'] }, { streams: ['a', 'c'] }, { types: ['none'] }]),
    window: pick([undefined, 3, 10]),
    interval: pick([1, 2]),
    live: { stream, names: names(1 + below(3)) },
  };
}

class Side {
  constructor(url, run) {
    this.kit = new Kit(url, run);
    this.positions = [];
  }
  name(stream) {
    return stream.startsWith('$$') ? `$$${this.kit.stream(stream.slice(2))}` : this.kit.stream(stream);
  }
  expected(expected) {
    return typeof expected === 'number' ? (expected < 0 ? 'no_stream' : BigInt(expected)) : expected;
  }
  events(names, type, size = 0) {
    return names.map((name) => jsonEvent({ id: this.kit.id(`${name}`), type, data: { name, pad: 'x'.repeat(size) } }));
  }
  distance(position) {
    if (!position) return position;
    this.base ??= position.commit;
    return [
      Number(position.commit - this.base),
      position.prepare === 0n ? 'zero' : Number(position.prepare - this.base),
    ];
  }
  show({ event, link }) {
    return `${event.streamId.replaceAll(this.kit.run, 'RUN')}@${event.revision} ${event.type} ${this.kit.names.get(event.id) ?? 'own id'} ${this.distance(event.position)} ${link ? 'link' : ''} ${JSON.stringify(event.data)}`;
  }

  /** The position of the event at a given share of all that this run wrote. */
  async at(share) {
    const known = this.positions;
    return known.length ? known[Math.floor(share * known.length)] : undefined;
  }

  async do(step) {
    const { kit } = this,
      { client } = kit;
    const options = {
      expectedRevision: this.expected(step.expected),
      ...(step.alone ? { credentials: { username: 'u', password: 'p' } } : {}),
    };
    const answer = async (promise) => {
      const result = await kit.outcome(
        promise.then((ok) => ({ ...ok, position: undefined, at: this.distance(ok.position) })),
        3500,
      );
      return result;
    };
    switch (step.does) {
      case 'append': {
        const promise = client.appendToStream(
          this.name(step.stream),
          this.events(step.names, step.type, step.size),
          options,
        );
        promise.then(
          (ok) => ok.position && this.positions.push(ok.position),
          () => {},
        );
        return answer(promise);
      }
      case 'delete':
        return answer(client.deleteStream(this.name(step.stream), options));
      case 'tombstone':
        return answer(client.tombstoneStream(this.name(step.stream), options));
      case 'metadata':
        return answer(
          client.appendToStream(
            `$$${this.name(step.stream)}`,
            jsonEvent({ type: '$metadata', data: step.data }),
            options,
          ),
        );
      case 'getMetadata':
        return kit.outcome(client.getStreamMetadata(this.name(step.stream)).then((m) => m.metadata ?? 'none'));
      case 'read':
        return kit.drain(
          client.readStream(this.name(step.stream), {
            fromRevision:
              typeof step.from === 'number' ? BigInt(step.from) : step.direction === FORWARDS ? START : step.from,
            direction: step.direction,
            ...(step.maxCount ? { maxCount: step.maxCount } : {}),
          }),
          (r) => this.show(r),
        );
      case 'readAll': {
        const from = typeof step.from === 'number' ? await this.at(step.from) : undefined;
        return kit
          .drain(
            client.readAll({ direction: step.direction, fromPosition: from ?? END, maxCount: step.maxCount }),
            (r) => (r.event.streamId.includes(kit.run) ? this.show(r) : 'other'),
          )
          .then((r) => (r.ok ? r.ok.filter((line) => line !== 'other') : r));
      }
      case 'subscribe':
        return this.follow(
          client.subscribeToStream(this.name(step.stream), {
            fromRevision: typeof step.from === 'number' ? BigInt(step.from) : step.from,
          }),
          { stream: step.stream, names: step.live },
        );
      case 'subscribeAll': {
        const from = await this.at(step.from);
        if (!from) return 'nothing yet';
        const marks = [];
        const rest = {
          checkpointInterval: step.interval,
          ...(step.window ? { maxSearchWindow: step.window } : {}),
          checkpointReached: async (_, p) => {
            marks.push(this.distance(p));
          },
        };
        const filter =
          step.filter &&
          (step.filter.types
            ? eventTypeFilter({ prefixes: step.filter.types, ...rest })
            : streamNameFilter({ prefixes: step.filter.streams.map((s) => this.name(s)), ...rest }));
        return { log: await this.follow(client.subscribeToAll({ fromPosition: from, filter }), step.live), marks };
      }
    }
  }

  async follow(subscription, { stream, names }) {
    const watch = new Watch(this.kit, subscription, (r) =>
      r.event.streamId.includes(this.kit.run) ? this.show(r) : 'other',
    );
    await watch.until((log) => log.some((e) => e.threw || e === 'caughtUp'), 400, 0);
    for (const name of names) {
      const result = await this.kit.outcome(
        this.kit.client.appendToStream(this.name(stream), this.events([name], 'T')).then((ok) => {
          if (ok.position) this.positions.push(ok.position);
          return ok;
        }),
      );
      watch.log.push({ live: result.ok ? 'written' : result === SILENT ? result : result.error.class });
      await sleep(60);
    }
    await watch.stop();
    // a live event may arrive before or after the answer to its append
    return [
      ...watch.result().filter((e) => typeof e === 'string'),
      ...watch.result().filter((e) => typeof e !== 'string'),
    ];
  }
}

const run = `z${Date.now().toString(36).slice(-7)}`;
const sides = [new Side(urlA, run), new Side(urlB, run)];
await Promise.all(
  sides.map((side) =>
    side.do({ does: 'append', stream: 'first', names: ['first'], expected: 'no_stream', type: 'T', size: 0 }),
  ),
);
const counts = {};
for (let i = 1; i <= Number(stepsText); i++) {
  const next = step();
  const [a, b] = await Promise.all(sides.map((side) => side.do(next).catch((error) => ({ failed: error.stack }))));
  const kind = `${next.does} ${a === SILENT ? 'without an answer' : (a.error?.type ?? (a.probeFailed || a.failed ? 'failed' : 'ok'))}`;
  counts[kind] = (counts[kind] ?? 0) + 1;
  if (JSON.stringify(a) !== JSON.stringify(b)) {
    process.stdout.write(
      `seed ${seedText}, step ${i}: ${JSON.stringify(next)}\nA ${JSON.stringify(a)}\nB ${JSON.stringify(b)}\n`,
    );
    process.exit(1);
  }
}
process.stdout.write(
  `seed ${seedText}: ${stepsText} steps, no difference (${Object.entries(counts)
    .sort()
    .map(([kind, n]) => `${n} ${kind}`)
    .join(', ')})\n`,
);
process.exit(0);
