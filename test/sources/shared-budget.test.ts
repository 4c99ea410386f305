/** Given nodes that share a read store, when they take from one budget, then it is exact: in memory and on SQLite. */
import { sharedBudgetConformance } from './shared-budget.conformance.ts';

sharedBudgetConformance();
