// Round trips of names, contents and sizes.
import { binaryEvent, jsonEvent } from '@eventstore/db-client';

const MAX = 1_048_576;
const oneByOne = { credentials: { username: 'admin', password: 'changeit' } };

export const probes = {
  async 'unicode in names, types, data, metadata'(kit) {
    const stream = kit.stream('größe-中文-📦');
    const answer = await kit.append(
      stream,
      kit.event('unicode', { ключ: '値 📦 \u0000 \u2028 "' }, { type: 'Ereignis-ß', metadata: { clé: 'é' } }),
    );
    return {
      answer,
      wrong: await kit.append(stream, kit.event('unicode2'), { expectedRevision: 9n }),
      read: await kit.drain(kit.client.readStream(stream), (r) => kit.full(r)),
      missing: await kit.readBack(`${stream}-missing`),
    };
  },
  async 'names of combining characters stay as they are'(kit) {
    const [composed, decomposed] = [kit.stream('caf\u00e9'), kit.stream('cafe\u0301')];
    await kit.client.appendToStream(composed, kit.event('composed'));
    return { composed: (await kit.readBack(composed)).ok?.length, decomposed: await kit.readBack(decomposed) };
  },
  async 'long stream names'(kit) {
    const out = {};
    for (const length of [255, 1000, 8000]) {
      const name = kit.stream('long-').padEnd(length, 'n');
      out[length] = [
        (await kit.append(name, kit.event(`long${length}`))).ok?.success,
        (await kit.readBack(name)).ok?.length,
      ];
    }
    return out;
  },
  async 'binary events'(kit) {
    const stream = kit.stream('binary');
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const answer = await kit.append(stream, [
      binaryEvent({ id: kit.id('all bytes'), type: 'B', data: all, metadata: all }),
      binaryEvent({ id: kit.id('no bytes'), type: 'B', data: new Uint8Array(0) }),
      binaryEvent({ id: kit.id('json metadata'), type: 'B', data: Buffer.from('{}'), metadata: { j: 1 } }),
    ]);
    let intact;
    for await (const { event } of kit.client.readStream(stream, { maxCount: 1 }))
      intact =
        Buffer.compare(Buffer.from(event.data), all) === 0 && Buffer.compare(Buffer.from(event.metadata), all) === 0;
    return { answer, intact, read: await kit.drain(kit.client.readStream(stream), (r) => kit.full(r)) };
  },
  async 'JSON of every shape'(kit) {
    const stream = kit.stream('shapes');
    await kit.client.appendToStream(
      stream,
      // biome-ignore lint/correctness/noPrecisionLoss: what becomes of such a number is the question
      [{}, [], null, 'text', '', 0, false, 1.5e300, { nested: { deep: [{}] } }, { number: 9007199254740993 }].map(
        (data, i) => jsonEvent({ id: kit.id(`shape${i}`), type: 'S', data }),
      ),
    );
    return kit.drain(kit.client.readStream(stream), ({ event }) => [event.isJson, event.data]);
  },
  async 'metadata of every shape'(kit) {
    const stream = kit.stream('metas');
    await kit.client.appendToStream(
      stream,
      [undefined, {}, { a: 1 }, [1], 'text', new Uint8Array([1, 2]), new Uint8Array(0)].map((metadata, i) =>
        jsonEvent({ id: kit.id(`meta${i}`), type: 'M', data: i, metadata }),
      ),
    );
    return kit.drain(kit.client.readStream(stream), ({ event }) => [
      event.data,
      event.metadata === undefined ? 'undefined' : kit.plain(event.metadata),
    ]);
  },
  async 'one event at the limit of an append'(kit) {
    const stream = kit.stream('limit');
    const sized = (bytes, extra) => binaryEvent({ id: kit.id(), type: 'L', data: new Uint8Array(bytes), ...extra });
    return {
      exactly: await kit.append(stream, sized(MAX)),
      oneMore: await kit.append(stream, sized(MAX + 1)),
      oneMoreByAppend: await kit.append(stream, sized(MAX + 1), oneByOne),
      exactlyWithMetadata: await kit.append(stream, sized(MAX, { metadata: new Uint8Array(500_000) })),
      metadataAlone: await kit.append(stream, sized(1, { metadata: new Uint8Array(2 * MAX) })),
      longType: await kit.append(stream, sized(MAX, { type: 'x'.repeat(1000) })),
      threeTimes: await kit.append(stream, sized(3 * MAX)),
      fiveTimes: await kit.append(stream, sized(5 * MAX)),
    };
  },
  async 'several events at the limit of an append'(kit) {
    const stream = kit.stream('limits');
    const sized = (bytes) => binaryEvent({ id: kit.id(), type: 'L', data: new Uint8Array(bytes) });
    return {
      twoHalves: await kit.append(stream, [sized(MAX / 2), sized(MAX / 2)]),
      oneMore: await kit.append(stream, [sized(MAX / 2), sized(MAX / 2 + 1)]),
      twenty: await kit.append(
        stream,
        Array.from({ length: 20 }, () => sized(60_000)),
      ),
      twentyInPieces: await kit.append(
        stream,
        Array.from({ length: 20 }, () => sized(60_000)),
        { batchAppendSize: 100_000 },
      ),
      written: (await kit.drain(kit.client.readStream(stream), ({ event }) => event.data.length)).ok,
    };
  },
  async 'JSON text counts in bytes'(kit) {
    const stream = kit.stream('json-limit');
    const overhead = Buffer.byteLength(JSON.stringify({ t: '' }));
    return {
      exactly: await kit.append(
        stream,
        jsonEvent({ id: kit.id(), type: 'L', data: { t: 'x'.repeat(MAX - overhead) } }),
      ),
      oneMore: await kit.append(
        stream,
        jsonEvent({ id: kit.id(), type: 'L', data: { t: 'x'.repeat(MAX - overhead + 1) } }),
      ),
      twoByteCharacters: await kit.append(
        stream,
        jsonEvent({ id: kit.id(), type: 'L', data: { t: 'é'.repeat(MAX / 2) } }),
      ),
    };
  },
  async 'an append beyond what one message may hold'(kit) {
    const client = kit.connect();
    const answer = await kit.outcome(
      client.appendToStream(
        kit.stream('giant'),
        binaryEvent({ id: kit.id(), type: 'L', data: new Uint8Array(17 * MAX) }),
      ),
      8000,
    );
    await client.dispose();
    return answer === 'no answer' ? answer : { class: answer.error?.class, type: answer.error?.type };
  },
};
