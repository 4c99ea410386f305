import { describeFaultyChain } from './faulty-chain.ts';

describeFaultyChain(['busy', 'dropping', 'denying']);
