import { describeMutations } from './mutations.ts';

describeMutations(Number(process.env.MUTATIONS ?? 1_500));
