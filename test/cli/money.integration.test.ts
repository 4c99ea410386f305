/** The operator's views of money, on the engines. */
import { describe } from 'vitest';
import { ENGINES } from '../support/storage.ts';
import { findCases } from './find-cases.ts';
import { revenueCases } from './revenue-cases.ts';
import { walletsCases } from './wallets-cases.ts';

const missing = ENGINES.eventStore === '' || ENGINES.mongo === '' ? ' (skipped: the engines are not configured)' : '';

describe.skipIf(missing)(`on EventStoreDB and MongoDB${missing}`, () => {
  findCases();
  revenueCases();
  walletsCases();
});
