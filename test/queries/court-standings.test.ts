/**
 * Given the read models of courts, sources and tokens, when the status reads what is known of each court, then it finds
 * which are degraded, and who pushes them.
 */
import { describe, expect, it } from 'vitest';
import type { Court } from '../../src/courts/court.ts';
import { courts } from '../../src/courts/registry.ts';
import { COURT_RECORDS } from '../../src/projections/court-records.ts';
import { COMPLETE } from '../../src/projections/freshness.ts';
import { SOURCE_TOKENS } from '../../src/projections/operator-acts.ts';
import { SOURCE_COURTS, SOURCE_RECORDS } from '../../src/projections/source-records.ts';
import { createCourtStandings } from '../../src/queries/court-standings.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';

type Documents = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** The two reads that are made, over documents by collection and id. */
const storeOf = (documents: Documents) => {
  const all = (collection: string) => Object.entries(documents[collection] ?? {});
  return {
    find: async ({ collection, equals = {} }: { collection: string; equals?: Record<string, unknown> }) =>
      all(collection)
        .filter(([, document]) => Object.entries(equals).every(([key, value]) => Reflect.get(document, key) === value))
        .map(([id, document]) => ({ id, document })),
    load: async (collection: string, ids: readonly string[]) =>
      new Map(all(collection).flatMap(([id, document]) => (ids.includes(id) ? [[id, { document }]] : []))),
  } as unknown as Pick<ReadStore, 'find' | 'load'>;
};

const working = { paused: null, standing: null };
const failing = { paused: null, standing: { standing: 'failing', why: 'timeout', since: '' } };
const paused = { paused: { since: '', by: 'Ann Lee', reason: 'ticket' }, standing: null };
const token = (source: string, own: readonly string[] | null) => ({ source, courts: own });

async function standingsOf(documents: Documents) {
  const listed = courts.filter(({ code }) => ['cand', 'nysd', 'ok_tulsa'].includes(code));
  const liveSourcesOf = ({ code }: Court) => (code === 'ok_tulsa' ? [] : (['courtlistener', 'rss'] as const));
  const ports = { readStore: storeOf(documents), freshness: COMPLETE, clock: { now: () => 0 } };
  const known = await createCourtStandings({ ...ports, courts: listed, liveSourcesOf }).first();
  return Object.fromEntries(known ?? []);
}

describe('what is known of each court', () => {
  it('is nothing amiss while every source works', async () => {
    const documents = {
      [COURT_RECORDS]: { cand: { casesKnown: 3, lastSuccessAt: null } },
      [SOURCE_RECORDS]: { rss: working, courtlistener: working },
    };
    expect(await standingsOf(documents)).toEqual({ cand: { casesKnown: 3, lastSuccessAt: null } });
  });

  it.each([
    ['fails', failing],
    ['is paused', paused],
  ])('is degraded where one of its sources %s as a whole', async (_, record) => {
    const known = await standingsOf({ [SOURCE_RECORDS]: { courtlistener: record, rss: working } });
    expect(known.cand).toEqual({ casesKnown: 0, lastSuccessAt: null, degraded: true });
    expect(known.nysd?.degraded).toBe(true);
    expect(known.ok_tulsa).toBeUndefined();
  });

  it('is degraded where a source does not work for that court alone', async () => {
    const silent = { ...failing, source: 'rss', court: 'cand', trouble: true };
    const known = await standingsOf({ [SOURCE_COURTS]: { 'rss cand': silent } });
    expect(Object.keys(known)).toEqual(['cand']);
  });

  it('does not mind a source that is not configured for the court any more', async () => {
    const silent = { ...failing, source: 'rss', court: 'ok_tulsa', trouble: true };
    expect(await standingsOf({ [SOURCE_COURTS]: { 'rss ok_tulsa': silent } })).toEqual({});
  });

  it('names who pushes a court: the token for that court, or the last of those for all', async () => {
    const record = { casesKnown: 1, lastSuccessAt: null };
    const documents = (lastSource: string) => ({
      [COURT_RECORDS]: { ok_tulsa: { ...record, lastSource }, nysd: { ...record, lastSource: 'file' } },
    });
    const forAll = { [SOURCE_TOKENS]: { a: token('all-courts', null) } };
    expect((await standingsOf({ ...documents('all-courts'), ...forAll })).ok_tulsa?.pushedBy).toBe('all-courts');
    expect((await standingsOf({ ...documents('revoked'), ...forAll })).ok_tulsa?.pushedBy).toBeUndefined();
    const own = { [SOURCE_TOKENS]: { a: token('all-courts', null), b: token('tulsa', ['ok_tulsa']) } };
    const known = await standingsOf({ ...documents('all-courts'), ...own });
    expect(known.ok_tulsa?.pushedBy).toBe('tulsa');
    expect(known.nysd?.pushedBy).toBeUndefined();
  });
});
