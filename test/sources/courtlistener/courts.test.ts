/** Given the registry of courts, then CourtListener covers 205 of them, by its own ids. */
import { describe, expect, it } from 'vitest';
import { findCourt } from '../../../src/courts/registry.ts';
import { COURTLISTENER_COURTS, courtListenerId, isOnCourtListener } from '../../../src/sources/courtlistener/courts.ts';
import { court } from '../../dockets/world.ts';

describe('the courts of CourtListener', () => {
  it('are 94 district and 94 bankruptcy courts, 13 courts of appeals, cit, uscfc, jpml and cavc', () => {
    const counted = (test: (code: string, system: string, level: string) => boolean): number =>
      COURTLISTENER_COURTS.filter(({ code, system, level }) => test(code, system, level)).length;
    expect(counted((_, system) => system === 'US federal district courts')).toBe(94);
    expect(counted((_, system, level) => system === 'US federal bankruptcy courts' && level === 'bankruptcy')).toBe(94);
    expect(counted((code) => /^ca(?:\d+|dc|fc)$/.test(code))).toBe(13);
    expect(['cit', 'uscfc', 'jpml', 'cavc'].every((code) => isOnCourtListener(court(code)))).toBe(true);
    expect(COURTLISTENER_COURTS).toHaveLength(94 + 94 + 13 + 3 + 1);
  });

  it.each(['scotus', 'tax', 'bap9', 'armfor', 'fisc'])('are not %s', (code) => {
    expect(isOnCourtListener(court(code))).toBe(false);
  });

  it('have ids that mean the same courts here', () => {
    expect([court('azb'), court('neb'), court('uscfc')].map(courtListenerId)).toEqual(['arb', 'nebraskab', 'uscfc']);
    for (const one of COURTLISTENER_COURTS) expect(findCourt(courtListenerId(one))).toBe(one);
    expect(new Set(COURTLISTENER_COURTS.map(courtListenerId)).size).toBe(205);
  });
});
