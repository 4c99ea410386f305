/** The operator's views of money, on the embedded storage. */
import { revenueCases } from './revenue-cases.ts';
import { walletsCases } from './wallets-cases.ts';

revenueCases();
walletsCases();
