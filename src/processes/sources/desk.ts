/**
 * The desk: the one place through which every look at a source that can be asked goes
 * (docs/design/sources.md#requests). It keeps operators' pauses and circuit breakers, and has one look at a case at a time.
 */

import type { Standing } from '../../commands/source/source.ts';
import type { Court } from '../../courts/court.ts';
import type { LiveSourceName } from '../../events/source.ts';
import type { Micros } from '../../runtime/instant.ts';
import type { Look, Priority } from '../../sources/source.ts';

export interface CaseOfCourt {
  readonly court: Court;
  /** In the canonical form. */
  readonly caseNumber: string;
}

export interface DeskAsking {
  readonly priority: Priority;
  /** The caller stops waiting; the look itself ends once nobody waits for it. */
  readonly signal: AbortSignal;
  /** Until when to wait for a look of another node at the same case; if omitted, until the signal aborts. */
  readonly deadline?: Micros;
}

export interface DeskStanding {
  readonly source: LiveSourceName;
  readonly standing: Standing;
  /** Null if it works. */
  readonly why: string | null;
  /** Until when the circuit breaker lets nothing pass; null if it is closed. */
  readonly openUntil: Micros | null;
  /** Whether operators have paused the whole source. */
  readonly isPaused: boolean;
}

export interface SourceDesk {
  /** The sources to ask about cases of a court, in this order; empty if there is none. */
  sourcesFor(court: Court): readonly LiveSourceName[];
  /**
   * Asks the sources of the court about a case. A look that is under way is joined, also one of another node. A look
   * that fails at a known case is recorded, at most once an hour.
   * @throws StorageFailure, DocketContended, ProjectionBehind; the look is to be repeated then
   */
  look(asked: CaseOfCourt, asking: DeskAsking): Promise<Look>;
  standing(source: LiveSourceName): DeskStanding;
}
