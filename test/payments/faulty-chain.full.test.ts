import { describeFaultyChain, EVERY_MOOD, USELESS_MOODS } from './faulty-chain.ts';

describeFaultyChain(USELESS_MOODS, EVERY_MOOD);
