import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMongo } from '../../src/storage/mongodb/open.ts';
import { damageInMongo } from '../support/damage.ts';
import { freePort } from '../support/processes.ts';
import { ENGINES, ownDatabase } from '../support/storage.ts';
import { payloadStoreConformance } from './payload-store.conformance.ts';
import { readStoreConformance } from './read-store.conformance.ts';

const missing = ENGINES.mongo === '' ? ' (skipped: MONGODB_URL is not set)' : '';
const at = (position: number): string => String(position).padStart(20, '0');

describe.skipIf(missing)(`on MongoDB${missing}`, () => {
  const database = ownDatabase();
  afterAll(() => (missing ? undefined : database.drop()));

  readStoreConformance('MongoDB', async () => {
    const { readStore, close } = await openMongo(database.url);
    return { readStore, another: async () => (await openMongo(database.url)).readStore, close };
  });

  payloadStoreConformance('MongoDB', async (clock) => {
    const { payloads, close } = await openMongo(database.url, clock);
    return {
      payloads,
      another: async () => (await openMongo(database.url, clock)).payloads,
      corrupt: (name) => damageInMongo(database.url, name),
      close,
    };
  });

  describe('MongoDB storage', () => {
    let client: MongoClient;
    beforeAll(() => {
      client = new MongoClient(database.url);
    });
    afterAll(() => client.close());

    it('creates its indexes at start, and those of a projection when it is prepared', async () => {
      const { readStore, close } = await openMongo(database.url);
      await readStore.prepare('indexed', 1, [{ name: 'filings', indexes: [['caseId', 'availableAt']] }]);
      await close();
      const keysOf = async (collection: string) =>
        (await client.db().collection(collection).indexes()).map(({ key }) => Object.keys(key).join());
      expect(await keysOf('payloads')).toContain('kind,storedAt,_id');
      expect(await keysOf('counters')).toContain('resetsAt');
      expect(await keysOf('documents.filings.1')).toContain('fields.caseId,fields.availableAt,_id');
    });

    it('keeps documents whose keys have a meaning for a database', async () => {
      const { readStore, close } = await openMongo(database.url);
      await readStore.prepare('odd', 1, [{ name: 'odd', indexes: [] }]);
      const document = { 'a.b': 1, $set: { $where: 'x' }, _bsontype: 'ObjectId', '': [null, -1.5], nul: 'a\u0000b' };
      const write = { collection: 'odd', id: 'one', document, position: at(1) };
      await readStore.commit({ projection: 'odd', generation: 1, writes: [write], position: at(1) });
      expect((await readStore.load('odd', ['one'])).get('one')?.document).toEqual(document);
      await close();
    });

    it('lets the higher position win, regardless of the order and number of writes', async () => {
      const stores = await Promise.all([openMongo(database.url), openMongo(database.url)]);
      await stores[0]!.readStore.prepare('race', 1, [{ name: 'race', indexes: [] }]);
      for (let round = 0; round < 10; round++) {
        const commits = [3, 1, 2, 3, 1].map((position, index) => {
          const write = { collection: 'race', id: `id ${round}`, document: { position }, position: at(position) };
          const commit = { projection: 'race', generation: 1, writes: [write], position: at(position) };
          return stores[index % 2]!.readStore.commit(commit);
        });
        await Promise.all(commits);
        const stored = (await stores[0]!.readStore.load('race', [`id ${round}`])).get(`id ${round}`);
        expect(stored).toEqual({ id: `id ${round}`, position: at(3), document: { position: 3 } });
      }
      for (const { close } of stores) await close();
    });

    it('writes one document several times in one commit, in order', async () => {
      const { readStore, close } = await openMongo(database.url);
      await readStore.prepare('twice', 1, [{ name: 'twice', indexes: [] }]);
      const writes = [1, 2, 3].map((n) => ({ collection: 'twice', id: 'a', document: { n }, position: at(n) }));
      await readStore.commit({ projection: 'twice', generation: 1, writes, position: at(3) });
      expect((await readStore.load('twice', ['a'])).get('a')?.document).toEqual({ n: 3 });
      await close();
    });

    it('takes over the lease of a process of this machine that has died', async () => {
      const { hostname } = await import('node:os');
      const { readStore, close } = await openMongo(database.url);
      const dead = `${hostname()}/4194000/1700000000000`;
      const held = await readStore.acquireLease('inherited', dead, 1000, 60_000_000);
      const taken = await readStore.acquireLease('inherited', 'living', 2000, 60_000_000);
      expect(taken?.token).toBeGreaterThan(held?.token ?? 0);
      await close();
    });

    it('rejects everything once it is closed', async () => {
      const { readStore, payloads, close } = await openMongo(database.url);
      await close();
      await close();
      await expect(readStore.check()).rejects.toMatchObject({ code: 'storage_closed' });
      await expect(payloads.get('x')).rejects.toMatchObject({ code: 'storage_closed' });
    });

    it('reports within seconds that no server answers, without credentials', async () => {
      const url = `mongodb://root:geheim@127.0.0.1:${await freePort()}/x`;
      const failure = await openMongo(url).catch((error: unknown) => error as Error);
      expect(failure).toMatchObject({ code: 'storage_unavailable' });
      expect(String((failure as Error).message)).not.toContain('geheim');
    });
  });
});
