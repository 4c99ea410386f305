// Appends and what they expect of the stream.
import { ANY, binaryEvent, jsonEvent, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';

const oneByOne = { credentials: { username: 'admin', password: 'changeit' } }; // credentials of its own make the client use Append instead of BatchAppend

async function expectations(kit, stream, options = {}) {
  const on = (name) => kit.stream(`${stream}-${name}`);
  const out = {};
  const attempt = async (label, name, expectedRevision) => {
    out[label] = await kit.append(on(name), kit.event(`${stream}/${label}`), {
      ...options,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
    });
  };
  for (const [label, expected] of [
    ['no_stream', NO_STREAM],
    ['any', ANY],
    ['default', undefined],
    ['stream_exists', STREAM_EXISTS],
    ['0', 0n],
    ['5', 5n],
  ])
    await attempt(`missing stream, ${label}`, `missing-${label}`, expected);
  await kit.append(on('three'), kit.events(`${stream}/three`, 3));
  for (const [label, expected] of [
    ['no_stream', NO_STREAM],
    ['1 (too low)', 1n],
    ['3 (too high)', 3n],
    ['2 (exact)', 2n],
    ['any', ANY],
    ['stream_exists', STREAM_EXISTS],
    ['5 (exact)', 5n],
  ])
    await attempt(`stream of three, ${label}`, 'three', expected);
  out.afterwards = await kit.readBack(on('three'));
  return out;
}

export const probes = {
  'expectations, BatchAppend': (kit) => expectations(kit, 'exp'),
  'expectations, Append (credentials of its own)': (kit) => expectations(kit, 'exp1', oneByOne),

  async 'expected revisions that are none'(kit) {
    const stream = kit.stream('none');
    await kit.client.appendToStream(stream, kit.events('none', 2));
    const out = {};
    for (const revision of [-1n, -2n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      const client = kit.connect();
      out[revision] = [
        await kit.append(stream, kit.event(`none/${revision}`), { expectedRevision: revision }, client),
        await kit.append(
          kit.stream(`none${revision}`),
          kit.event(`none-new/${revision}`),
          { expectedRevision: revision, ...oneByOne },
          client,
        ),
      ];
      await client.dispose();
    }
    return out;
  },
  async 'position of the answer is that of the last event'(kit) {
    const stream = kit.stream('answer');
    const one = await kit.client.appendToStream(stream, kit.event('one'));
    const three = await kit.client.appendToStream(stream, kit.events('three', 3));
    const at = [];
    for await (const { event } of kit.client.readStream(stream)) at.push(event.position);
    return {
      one: one.position.commit === at[0].commit,
      three: three.position.commit === at[3].commit,
      commitIsPrepare: at.every((p) => p.commit === p.prepare),
      fieldTypes: [typeof at[0].commit, typeof one.nextExpectedRevision],
    };
  },
  async 'positions grow by the size of the record'(kit) {
    const stream = kit.stream('sizes');
    await kit.client.appendToStream(stream, [
      kit.event('a', {}),
      kit.event('b', {}),
      kit.event('c', { long: 'x'.repeat(300) }),
      kit.event('d', {}, { metadata: { m: 1 } }),
      kit.event('e', {}, { type: 'Größe' }),
      kit.event('f', {}),
    ]);
    const at = [];
    for await (const { event } of kit.client.readStream(stream)) at.push(event.position.commit);
    return at.slice(1).map((commit, i) => Number(commit - at[i]));
  },
  async 'empty append'(kit) {
    const stream = kit.stream('empty');
    return {
      missing: await kit.append(stream, []),
      stillMissing: await kit.readBack(stream),
      wrong: await kit.append(stream, [], { expectedRevision: 4n }),
      noStream: await kit.append(stream, [], { expectedRevision: NO_STREAM }),
      first: await kit.append(stream, kit.event('first'), { expectedRevision: NO_STREAM }),
      existing: await kit.append(stream, []),
      low: await kit.append(stream, [], { expectedRevision: NO_STREAM }),
      exact: await kit.append(stream, [], { expectedRevision: 0n }),
      exists: await kit.append(stream, [], { expectedRevision: STREAM_EXISTS }),
    };
  },
  async 'thousand events in one append'(kit) {
    const stream = kit.stream('thousand');
    const answer = await kit.append(stream, kit.events('k', 1000, { small: true }), { expectedRevision: NO_STREAM });
    let count = 0,
      inOrder = true,
      last = -1n;
    for await (const { event } of kit.client.readStream(stream)) {
      inOrder &&= event.revision === BigInt(count) && event.position.commit > last && event.id === kit.id(`k${count}`);
      last = event.position.commit;
      count++;
    }
    return { answer, count, inOrder };
  },
  async 'the same id twice in one append'(kit) {
    const stream = kit.stream('twins');
    return {
      answer: await kit.append(stream, [kit.event('twin', 1), kit.event('twin', 2)], { expectedRevision: NO_STREAM }),
      read: await kit.readBack(stream),
    };
  },
  async 'concurrent appends, any'(kit) {
    const stream = kit.stream('crowd');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => kit.client.appendToStream(stream, kit.event(`crowd${i}`))),
    );
    const revisions = answers.map((a) => Number(a.nextExpectedRevision)).sort((a, b) => a - b);
    return {
      distinct: new Set(revisions).size,
      first: revisions[0],
      last: revisions.at(-1),
      positionsDistinct: new Set(answers.map((a) => a.position.commit)).size,
    };
  },
  async 'concurrent appends, no_stream: one wins'(kit) {
    const stream = kit.stream('race');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => kit.append(stream, kit.event(`race${i}`), { expectedRevision: NO_STREAM })),
    );
    const lost = answers.filter((a) => a.error);
    return {
      won: answers.filter((a) => a.ok).length,
      lost: lost.length,
      why: [...new Set(lost.map((a) => `${a.error.class} actual ${a.error.actualVersion}`))].sort(),
    };
  },
  async 'concurrent appends by two clients, exact'(kit) {
    const stream = kit.stream('duel');
    const other = kit.connect();
    await kit.append(stream, kit.event('duel0'));
    const answers = await Promise.all([
      kit.append(stream, kit.event('duelA'), { expectedRevision: 0n }),
      kit.append(stream, kit.event('duelB'), { expectedRevision: 0n }, other),
    ]);
    await other.dispose();
    return {
      won: answers.filter((a) => a.ok).length,
      lost: answers.filter((a) => a.error).map((a) => [a.error.class, a.error.expectedVersion, a.error.actualVersion]),
    };
  },
  async 'throwOnAppendFailure=false'(kit) {
    const client = kit.connect('throwOnAppendFailure=false');
    const stream = kit.stream('lenient');
    await client.appendToStream(stream, kit.events('lenient', 4));
    const out = {
      batch: await kit.append(stream, kit.event('l1'), { expectedRevision: 0n }, client),
      append: await kit.append(stream, kit.event('l2'), { expectedRevision: 0n, ...oneByOne }, client),
      deleted: 'see deletes',
    };
    await client.dispose();
    return out;
  },
  async 'the client splits an append over several messages'(kit) {
    const stream = kit.stream('split');
    return {
      answer: await kit.append(stream, kit.events('split', 20, { pad: 'x'.repeat(1000) }), { batchAppendSize: 3000 }),
      count: (await kit.readBack(stream)).ok?.length,
    };
  },
  async 'stream names that only a system would use'(kit) {
    const out = {};
    for (const name of [`$cal-${kit.run}`, `$$$cal-${kit.run}`, `cal ${kit.run} with spaces`, `cal-${kit.run}@5`])
      out[name] = [await kit.append(name, kit.event(`sys ${name.replace(kit.run, '')}`)), await kit.readBack(name)];
    return kit.plain(out);
  },
  async 'event types'(kit) {
    const stream = kit.stream('types');
    const out = {};
    for (const type of ['$system', 'with space', 'Überweisung', '📦', 'x'.repeat(500)])
      out[type.slice(0, 12)] = await kit.append(stream, jsonEvent({ id: kit.id(), type, data: {} }));
    out.read = (
      await kit.drain(kit.client.readStream(stream), ({ event }) => [event.type.length, event.type.slice(0, 12)])
    ).ok;
    return out;
  },
  async 'ids are compared as UUIDs, not as text'(kit) {
    const stream = kit.stream('case');
    const id = kit.id('case');
    const first = await kit.append(stream, binaryEvent({ id: id.toUpperCase(), type: 'T', data: Buffer.from('x') }), {
      expectedRevision: NO_STREAM,
    });
    const again = await kit.append(stream, binaryEvent({ id, type: 'T', data: Buffer.from('x') }), {
      expectedRevision: NO_STREAM,
    });
    let read;
    for await (const { event } of kit.client.readStream(stream)) read = event.id === id;
    return { first, again, readBackInLowerCase: read };
  },
};
