import { describeFaultyChain } from './faulty-chain.ts';

describeFaultyChain(['busy', 'denying']);
