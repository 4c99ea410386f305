/** Given nodes that share a read store, when they take from one budget, then it is exact: on the engines. */
import { describe, it } from 'vitest';
import { ENGINES } from '../support/storage.ts';
import { sharedBudgetConformance } from './shared-budget.conformance.ts';

const configured = ENGINES.eventStore !== '' && ENGINES.mongo !== '';

if (configured) sharedBudgetConformance();
else describe('a shared budget', () => it.skip('EVENTSTORE_URL and MONGODB_URL are not set', () => undefined));
