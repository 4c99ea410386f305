/** The operator's views of money and of sources that push, on the engines. */
import { describe } from 'vitest';
import { ENGINES } from '../support/storage.ts';
import { findCases } from './find/cases.ts';
import { revenueCases } from './revenue-cases.ts';
import { sourcesCases } from './sources/cases.ts';
import { walletsCases } from './wallets/cases.ts';

const missing = ENGINES.eventStore === '' || ENGINES.mongo === '' ? ' (skipped: the engines are not configured)' : '';

describe.skipIf(missing)(`on EventStoreDB and MongoDB${missing}`, () => {
  findCases();
  revenueCases();
  sourcesCases();
  walletsCases();
});
