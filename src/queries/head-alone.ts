/** A case of which a source has only the head. It is not answered: a caller would pay to learn that it has no filings. */
import type { CaseDocument } from '../dockets/case-document.ts';
import { type Problem, problem } from '../errors.ts';

/** Somebody has to bring the docket to the source first. */
const RETRY_AFTER_SECONDS = 3_600;

export const isHeadAlone = ({ baseline, filingCount, primaryParties }: CaseDocument): boolean =>
  baseline === 'none' && filingCount === 0 && primaryParties.length === 0;

export const headAlone = (): Problem =>
  problem(
    'court_unavailable',
    {
      retry_after: RETRY_AFTER_SECONDS,
      hint: 'The number is right. Retry after details.retry_after seconds, or later: filings appear once the source has them.',
    },
    'Only the head of this docket is known, and none of its filings.',
  );
