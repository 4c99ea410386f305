/** Every docket of the sandbox. None is real. */
import type { FixtureName } from './fixture-choice.ts';
import type { FixtureDocket } from './fixture-docket.ts';
import { APPELLATE } from './fixtures/appellate.ts';
import { BANKRUPTCY } from './fixtures/bankruptcy.ts';
import { BILINGUAL } from './fixtures/bilingual.ts';
import { CIVIL } from './fixtures/civil.ts';
import { CRIMINAL } from './fixtures/criminal.ts';
import { LARGE } from './fixtures/large.ts';

export const FIXTURES: Readonly<Record<FixtureName, FixtureDocket>> = {
  civil: CIVIL,
  criminal: CRIMINAL,
  bankruptcy: BANKRUPTCY,
  appellate: APPELLATE,
  bilingual: BILINGUAL,
  large: LARGE,
};
