import { describeMutations } from './mutations.ts';

describeMutations(60);
