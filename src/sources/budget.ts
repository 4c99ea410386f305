/** The budget of a source, shared by all nodes (docs/design/sources.md#budget). */
import type { Micros } from '../runtime/instant.ts';
import type { Priority } from './source.ts';

/** At most so many requests in any period of that length. */
export interface Rate {
  readonly requests: number;
  readonly micros: Micros;
}

export interface BudgetStanding {
  readonly rates: readonly (Rate & { readonly used: number })[];
  /** The source said to wait until then; null if it did not. */
  readonly heldUntil: Micros | null;
}

export type Take = { readonly taken: true } | { readonly taken: false; readonly retryAt: Micros };

export interface SourceBudget {
  /** Takes one request, or says when it could be taken. @throws StorageFailure */
  take(priority: Priority): Promise<Take>;
  /** The source refused although the budget was not spent: nobody asks before then. */
  hold(until: Micros): Promise<void>;
  standing(): Promise<BudgetStanding>;
}
