/** The operator's views of money, on the embedded storage. */
import { findCases, namedThingCases } from './find/cases.ts';
import { revenueCases } from './revenue-cases.ts';
import { walletsCases } from './wallets/cases.ts';

findCases();
namedThingCases();
revenueCases();
walletsCases();
