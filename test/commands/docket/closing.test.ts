/**
 * Given what is known of a case's closing, when a source says that it is closed, says that it is not, or says nothing, then
 * only a source that knew of the closing reopens it, and no older docket sheet closes it again.
 */
import { expect, it } from 'vitest';
import { type Closing, closingAfter } from '../../../src/commands/docket/closing.ts';
import type { DocketDetails } from '../../../src/dockets/filing-content.ts';
import { type DocketSnapshot, UNKNOWN_HEADER } from '../../../src/dockets/snapshot.ts';
import { court } from '../../dockets/world.ts';

const CLOSED = '2026-03-02';
const NEW = { dateClosed: null } as const;

const detailsOf = ({ dateClosed, ...closedBy }: Closing): DocketDetails => ({
  caseNumber: '1:26-cv-02417',
  header: { ...UNKNOWN_HEADER, dateClosed },
  parties: [],
  crossReferences: [],
  ...closedBy,
});
const snapshot = (source: string, says: 'open' | 'nothing' | string): DocketSnapshot => ({
  court: court('ilnd'),
  caseNumber: '1:26-cv-02417',
  aliases: [],
  header: { ...UNKNOWN_HEADER, dateClosed: says === 'open' || says === 'nothing' ? null : says },
  ...(says === 'open' ? { saysOpen: true } : {}),
  parties: [],
  crossReferences: [],
  entries: [],
  complete: true,
  askedAt: '2026-04-01T12:00:00.000000Z',
  source,
});
const after = (known: Closing, source: string, says: string, stale = false): Closing =>
  closingAfter(detailsOf(known), snapshot(source, says), stale);

const byCourtListener = after(NEW, 'courtlistener', CLOSED);

it('a source that said that the case is closed reopens it by saying that it is not', () => {
  expect(byCourtListener).toEqual({ dateClosed: CLOSED, closedBy: ['courtlistener'] });
  expect(after(byCourtListener, 'courtlistener', 'nothing')).toEqual(byCourtListener);
  expect(after(byCourtListener, 'courtlistener', 'open')).toEqual({ dateClosed: null, closedBy: [] });
});

it('a source that never knew of the closing does not', () => {
  expect(after(byCourtListener, 'file', 'open')).toEqual(byCourtListener);
  const byBoth = after(byCourtListener, 'file', CLOSED);
  expect(byBoth).toEqual({ dateClosed: CLOSED, closedBy: ['courtlistener', 'file'] });
  expect(after(byBoth, 'courtlistener', CLOSED)).toEqual(byBoth);
  expect(after(byBoth, 'courtlistener', 'open').dateClosed).toBeNull();
});

it('content of earlier versions does not say who knew of it: a source that says so again may reopen it', () => {
  const earlier = { dateClosed: CLOSED };
  expect(after(earlier, 'courtlistener', 'open')).toEqual(earlier);
  expect(after(after(earlier, 'courtlistener', CLOSED), 'courtlistener', 'open').dateClosed).toBeNull();
});

it('an older snapshot closes a case of which that is unknown, and none that was reopened', () => {
  expect(after(NEW, 'file', CLOSED, true)).toEqual({ dateClosed: CLOSED, closedBy: ['file'] });
  expect(after(byCourtListener, 'courtlistener', 'open', true)).toEqual(byCourtListener);
  const reopened = after(byCourtListener, 'courtlistener', 'open');
  expect(after(reopened, 'file', CLOSED, true)).toEqual(reopened);
  expect(after(reopened, 'file', CLOSED)).toEqual({ dateClosed: CLOSED, closedBy: ['file'] });
});

it('keeps no more sources than a case can have', () => {
  let closing: Closing = NEW;
  for (let index = 0; index < 40; index++) closing = after(closing, `county-${index}`, CLOSED);
  expect(closing.closedBy).toHaveLength(12);
});
