/** A log of ten events that most vectors are made from. */
import { FOUNDED, LogWriter } from '../written-log.ts';

export const HEAD = 'log-head';
export const DOCKET = 'docket-cand-3:24-cv-00042';
export const OTHER = 'docket-cand-3:24-cv-00043';
export const opened = (number: string) => ['DocketOpened', 1, { court: 'cand', caseNumber: number }] as const;
export const checked = (source: string) =>
  [
    'DocketChecked',
    1,
    { source, askedAt: '2026-03-01T12:00:30.000000Z', complete: true, outcome: 'unchanged', ingestId: null },
  ] as const;

/**
 * Index 0 log-identity, 1 DOCKET, 2 OTHER, 3 and 4 log-head, 5 DOCKET, 6 OTHER, 7 log-head, 8 and 9 DOCKET.
 * @param source of the event at index 6
 */
export const shortLog = (source = 'two'): LogWriter =>
  new LogWriter()
    .write('log-identity', [FOUNDED])
    .write(DOCKET, [opened('3:24-cv-00042')])
    .write(OTHER, [opened('3:24-cv-00043')])
    .head(1, { introduces: true })
    .write(DOCKET, [checked('one')])
    .write(OTHER, [checked(source)])
    .head(1)
    .write(DOCKET, [checked('three'), checked('four')]);
