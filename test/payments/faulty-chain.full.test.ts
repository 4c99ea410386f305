import { describeFaultyChain, EVERY_MOOD } from './faulty-chain.ts';

describeFaultyChain(EVERY_MOOD);
