/** Given settings of live sources, when a court is looked up, then it has the sources that are configured for it. */
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { courts, findCourt } from '../../src/courts/registry.ts';
import { liveCoverage } from '../../src/sources/coverage.ts';

const coverageOf = (environment: NodeJS.ProcessEnv) => liveCoverage(readConfig(environment).sources);
const named = (code: string) => findCourt(code) ?? expect.fail(`no court ${code}`);

describe('the live sources of a court', () => {
  it('are none without settings', () => {
    const { sourcesOf, cadenceOf } = coverageOf({});
    expect(courts.flatMap(sourcesOf)).toEqual([]);
    expect(courts.map(cadenceOf).filter((cadence) => cadence !== null)).toEqual([]);
  });

  it('begin with the one that shows most', () => {
    const { sourcesOf, cadenceOf } = coverageOf({
      COURTLISTENER_TOKEN: 'x'.repeat(40),
      RSS_COURTS: 'all',
      SCOTUS: 'on',
    });
    expect(sourcesOf(named('cand'))).toEqual(['courtlistener', 'rss']);
    expect(sourcesOf(named('scotus'))).toEqual(['scotus']);
    expect(sourcesOf(named('ok_tulsa'))).toEqual([]);
    expect([cadenceOf(named('cand')), cadenceOf(named('scotus'))]).toEqual([300, null]);
  });

  it('are read only for the courts that were chosen', () => {
    const { sourcesOf } = coverageOf({ RSS_COURTS: 'cand' });
    expect(courts.filter((court) => sourcesOf(court).length > 0).map(({ code }) => code)).toEqual(['cand']);
  });
});
