import { describeFaultyChain } from './faulty-chain.ts';

describeFaultyChain(['busy', 'silent', 'lagging'], ['busy', 'denying']);
