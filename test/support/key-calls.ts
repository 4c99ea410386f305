import type { KeyCalls } from '../../src/commands/purchase-contract.ts';

/** For worlds that have no route of wallet keys. */
export const noKeyCalls: KeyCalls = {
  newKeyId: () => 'unused',
  show: () => Promise.reject(new Error('this world has no wallet keys')),
  rotate: () => Promise.reject(new Error('this world has no wallet keys')),
};
