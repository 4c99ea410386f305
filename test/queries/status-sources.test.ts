/** Given the read model of sources, when the overview reads it, then each source shows with its courts in trouble. */
import { describe, expect, it } from 'vitest';
import type { Court } from '../../src/courts/court.ts';
import { sourceStatus } from '../../src/queries/status-sources.ts';
import type { ReadStore } from '../../src/storage/read-store.ts';

const troubled = (source: string, court: string) => ({
  id: `${source} ${court}`,
  document: { source, court, paused: { since: '', by: 'Ann Lee', reason: 'x' }, standing: null, trouble: true },
});
const storeOf = (records: Readonly<Record<string, object>>, courts: readonly object[]) =>
  ({
    load: async () => new Map(Object.entries(records).map(([id, document]) => [id, { document }])),
    find: async () => courts,
  }) as unknown as Pick<ReadStore, 'find' | 'load'>;

const none = () => [];
const feeds = ({ code }: Court) => (code === 'cand' || code === 'nyed' ? (['rss'] as const) : []);

describe('the sources of the overview', () => {
  it('are none where nothing was recorded and nothing is configured', async () => {
    expect(await sourceStatus(storeOf({}, []), none)).toEqual([]);
  });

  it('show a configured source of which nothing is recorded yet', async () => {
    expect(await sourceStatus(storeOf({}, []), feeds)).toEqual([
      { source: 'rss', standing: 'working', why: null, paused: null, lastSuccessAt: null, courtsInTrouble: 0 },
    ]);
  });

  it('show a source that has only a paused court', async () => {
    expect(await sourceStatus(storeOf({}, [troubled('rss', 'cand'), troubled('rss', 'nyed')]), feeds)).toEqual([
      { source: 'rss', standing: 'working', why: null, paused: null, lastSuccessAt: null, courtsInTrouble: 2 },
    ]);
  });

  it('do not count a court that is configured no longer: what was recorded of it last would stay for ever', async () => {
    const courts = [troubled('rss', 'cand'), troubled('rss', 'ilnd'), troubled('courtlistener', 'cand')];
    expect(await sourceStatus(storeOf({}, courts), feeds)).toEqual([
      expect.objectContaining({ source: 'rss', courtsInTrouble: 1 }),
    ]);
  });

  it('show how each works, with the reason', async () => {
    const record = {
      paused: null,
      standing: { standing: 'failing', why: 'timeout', since: '' },
      lastSuccessAt: 'then',
    };
    expect(await sourceStatus(storeOf({ scotus: record }, []), none)).toEqual([
      {
        source: 'scotus',
        standing: 'failing',
        why: 'timeout',
        paused: null,
        lastSuccessAt: 'then',
        courtsInTrouble: 0,
      },
    ]);
  });
});
