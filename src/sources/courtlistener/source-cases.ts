/** What the source needs to know of ids that CourtListener has for cases; they are events. */
import type { Court } from '../../courts/court.ts';

export interface SourceCases {
  /** The ids of a case that were found and not deleted since, perhaps not the newest ones. */
  idsOf(court: Court, caseNumber: string): Promise<readonly string[]>;
  /** Recording it again changes nothing. */
  found(id: string, court: Court, caseNumber: string): Promise<void>;
  /** CourtListener has deleted the id. */
  gone(id: string): Promise<void>;
}
