/** Every projection of the service. */
import { cases } from './cases.ts';
import { courtRecords } from './court-records.ts';
import { deliveries } from './deliveries.ts';
import { operatorActs } from './operator-acts.ts';
import { payments } from './payments.ts';
import type { Projection } from './projection.ts';
import { revenue } from './revenue.ts';
import { signingKeyRecords } from './signing-keys.ts';
import { sourceCases } from './source-cases.ts';
import { sourceRecords } from './source-records.ts';
import { wallets } from './wallets.ts';
import { watchedCases } from './watched-cases.ts';

export const PROJECTIONS: readonly Projection[] = [
  cases,
  courtRecords,
  payments,
  wallets,
  revenue,
  deliveries,
  signingKeyRecords,
  operatorActs,
  watchedCases,
  sourceRecords,
  sourceCases,
];
