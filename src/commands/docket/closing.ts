/** Whether a case is closed, by what sources have said (docs/design/dockets.md#closed-cases). Pure. */
import type { DocketDetails } from '../../dockets/filing-content.ts';
import type { DocketSnapshot } from '../../dockets/snapshot.ts';

export interface Closing {
  readonly dateClosed: string | null;
  /** Sources that have said so, the latest last; empty once it was reopened; absent if none ever did. */
  readonly closedBy?: readonly string[];
}

/** Sources are few; only tokens that pushed a case once can be more. */
const MOST_SOURCES = 12;

/** @param stale whether the snapshot may only fill in what is unknown */
export function closingAfter(
  known: DocketDetails | null,
  { header: { dateClosed: said }, source, saysOpen }: DocketSnapshot,
  stale: boolean,
): Closing {
  const before = known === null ? { dateClosed: null } : closingOf(known);
  const by = before.closedBy ?? [];
  if (stale) {
    // An older docket sheet does not close what was reopened since.
    const isUnknown = before.dateClosed === null && before.closedBy === undefined;
    return said !== null && isUnknown ? { dateClosed: said, closedBy: [source] } : before;
  }
  if (said !== null) {
    return { dateClosed: said, closedBy: by.includes(source) ? by : [...by, source].slice(-MOST_SOURCES) };
  }
  // A source that never knew of the closing, e.g. because its docket sheet is older, does not reopen a case.
  return saysOpen === true && by.includes(source) ? { dateClosed: null, closedBy: [] } : before;
}

const closingOf = ({ header: { dateClosed }, closedBy }: DocketDetails): Closing =>
  closedBy === undefined ? { dateClosed } : { dateClosed, closedBy };
