/** RPC methods about slots, blockhashes and the cluster as a whole. */

import { localGenesisHash } from '../addresses.ts';
import type { Commitment } from '../chain.ts';
import { feeOf } from './fees.ts';
import { type Ledger, SLOTS_PER_EPOCH } from './ledger.ts';
import { commitmentOf, type Parameters, requireSlot, type Settings } from './parameters.ts';
import { invalidParameters } from './rpc-error.ts';
import { BLOCKHASH_LIFETIME } from './slot-clock.ts';

/** The runtime's limit on an account's data. */
const MOST_ACCOUNT_BYTES = 10 * 1024 * 1024;

/** One RPC method. Answers immediately, or once its effects are on disk. */
export type RpcMethod = (ledger: Ledger, parameters: Parameters) => unknown;

/** The newest slot of a commitment: for all but `finalized`, the current one. */
export const slotAt = (ledger: Ledger, commitment: Commitment): number =>
  commitment === 'finalized' ? ledger.clock.finalizedSlot : ledger.clock.slot;

/** The slot that a call refers to. Rejects a call that requires a later slot. */
export function contextSlot(ledger: Ledger, settings: Settings): number {
  const slot = slotAt(ledger, commitmentOf(settings));
  requireSlot(settings, slot);
  return slot;
}

export const inContext = (slot: number, value: unknown): unknown => ({
  context: { apiVersion: VERSION, slot },
  value,
});

/** Names what runs here, so that it is not mistaken for a validator's release. */
const VERSION = '1.4.1-litesvm';

export const clusterMethods: Readonly<Record<string, RpcMethod>> = {
  getHealth: () => 'ok',

  getVersion: () => ({ 'feature-set': 0, 'solana-core': VERSION }),

  /** The chain of each data folder has its own. */
  getGenesisHash: (ledger) => localGenesisHash(ledger.store.identity.seed),

  getSlot: (ledger, parameters) => contextSlot(ledger, parameters.settings(0)),

  getBlockHeight: (ledger, parameters) => contextSlot(ledger, parameters.settings(0)),

  /** Nothing is ever pruned here. */
  getFirstAvailableBlock: () => 0,

  getEpochInfo(ledger, parameters) {
    const slot = contextSlot(ledger, parameters.settings(0));
    return {
      absoluteSlot: slot,
      blockHeight: slot,
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: ledger.store.transactionCount(),
    };
  },

  getTransactionCount: (ledger) => ledger.store.transactionCount(),

  getLatestBlockhash(ledger, parameters) {
    const slot = contextSlot(ledger, parameters.settings(0));
    return inContext(slot, {
      blockhash: ledger.clock.blockhash(slot),
      lastValidBlockHeight: slot + BLOCKHASH_LIFETIME,
    });
  },

  isBlockhashValid(ledger, parameters) {
    const blockhash = parameters.address(0);
    const slot = contextSlot(ledger, parameters.settings(1));
    const of = ledger.clock.slotOf(blockhash);
    return inContext(slot, of !== null && of <= slot);
  },

  getFeeForMessage(ledger, parameters) {
    const message = parameters.message(0);
    const slot = contextSlot(ledger, parameters.settings(1));
    const valid = ledger.clock.slotOf(message.blockhash) !== null;
    return inContext(slot, valid ? feeOf(message) : null);
  },

  getRecentPrioritizationFees(ledger) {
    const { slot } = ledger.clock;
    const first = Math.max(0, slot - BLOCKHASH_LIFETIME + 1);
    return Array.from({ length: slot - first + 1 }, (_, index) => ({ prioritizationFee: 0, slot: first + index }));
  },

  getMinimumBalanceForRentExemption(ledger, parameters) {
    const size = parameters.whole(0, 'size');
    if (size > MOST_ACCOUNT_BYTES)
      throw invalidParameters(`Invalid params: an account has at most ${MOST_ACCOUNT_BYTES} bytes.`);
    return ledger.machine.rentExemption(size);
  },
};
