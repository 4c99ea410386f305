import { describe, expect, it } from 'vitest';
import { courtRecords } from '../../src/projections/court-records.ts';
import type { ProjectedEvent } from '../../src/projections/projection.ts';

const at = (hour: number) => `2026-05-01T${String(hour).padStart(2, '0')}:00:00.000000Z`;
const opened = { type: 'DocketOpened', data: { court: 'ok_tulsa', caseNumber: 'CJ-2024-1' } };
const checked = (outcome: string, hour: number) => ({
  type: 'DocketChecked',
  data: { source: 'file', askedAt: at(hour), complete: true, outcome, ingestId: null },
});
const projected = (event: object, stream = 'docket-ok_tulsa-CJ-2024-1') =>
  ({ event, recorded: { stream }, contents: new Map() }) as unknown as ProjectedEvent<never>;

const folded = (events: readonly object[]) =>
  events.reduce<object | null>((document, event) => {
    const [target] = courtRecords.targets(projected(event));
    return courtRecords.fold(target!, document as never, projected(event));
  }, null);

describe('the record of a court', () => {
  it('belongs to the court in the name of the docket’s stream', () => {
    expect(courtRecords.targets(projected(opened))).toEqual([{ collection: 'court-records', id: 'ok_tulsa' }]);
    expect(courtRecords.targets(projected(opened, 'payment-1'))).toEqual([]);
  });
  it('counts a docket when it is opened, not when it is checked again', () => {
    expect(folded([opened, checked('complete', 1), checked('unchanged', 2), opened])).toEqual({
      casesKnown: 2,
      lastSuccessAt: at(2),
      lastSource: 'file',
    });
  });
  it('keeps the newest success, in any order of recording', () => {
    expect(folded([opened, checked('complete', 5), checked('partial', 3)])).toMatchObject({ lastSuccessAt: at(5) });
  });
  it('does not count a failure as success', () => {
    expect(folded([opened, checked('failed', 5), checked('abandoned', 6)])).toMatchObject({ lastSuccessAt: null });
  });
});
