/**
 * RPC methods about accounts. Every commitment reads the current state: acknowledged changes are never undone, so an
 * older state would not be more final.
 */
import bs58 from 'bs58';
import { encodeAccount, uiAmount } from './account-encoding.ts';
import { contextSlot, inContext, type RpcMethod } from './cluster-methods.ts';
import type { Ledger } from './ledger.ts';
import { invalidParameters } from './rpc-error.ts';
import { isTokenAccount } from './transaction-outcome.ts';
import type { AccountState } from './virtual-machine.ts';

const MOST_ACCOUNTS = 100;

export const accountMethods: Readonly<Record<string, RpcMethod>> = {
  getAccountInfo(ledger, parameters) {
    const address = parameters.address(0);
    const settings = parameters.settings(1);
    const slot = contextSlot(ledger, settings);
    return inContext(slot, encodeAccount(ledger.machine.account(address), settings, ledger.balances));
  },

  getMultipleAccounts(ledger, parameters) {
    const addresses = parameters.addresses(0, MOST_ACCOUNTS);
    const settings = parameters.settings(1);
    const slot = contextSlot(ledger, settings);
    return inContext(
      slot,
      addresses.map((address) => encodeAccount(ledger.machine.account(address), settings, ledger.balances)),
    );
  },

  getBalance(ledger, parameters) {
    const address = parameters.address(0);
    return inContext(contextSlot(ledger, parameters.settings(1)), ledger.machine.lamports(address));
  },

  getTokenAccountBalance(ledger, parameters) {
    const state = tokenState(ledger, parameters.address(0));
    const slot = contextSlot(ledger, parameters.settings(1));
    const decimals = isTokenAccount(state) ? ledger.balances.decimals(state.data.subarray(0, 32)) : null;
    if (decimals === null) throw invalidParameters('Invalid param: not a Token account');
    return inContext(slot, uiAmount(state.data.readBigUInt64LE(64), decimals));
  },

  getTokenSupply(ledger, parameters) {
    const mint = parameters.address(0);
    const state = tokenState(ledger, mint);
    const slot = contextSlot(ledger, parameters.settings(1));
    const decimals = isTokenAccount(state) ? null : ledger.balances.decimals(mint);
    if (decimals === null) throw invalidParameters('Invalid param: not a Token mint');
    return inContext(slot, uiAmount(state.data.readBigUInt64LE(36), decimals));
  },

  getTokenAccountsByOwner(ledger, parameters) {
    const owner = parameters.address(0);
    const { mint, programId } = parameters.settings(1);
    const settings = parameters.settings(2);
    const slot = contextSlot(ledger, settings);
    const wanted = typeof mint === 'string' ? bs58.decodeUnsafe(mint) : undefined;
    const program = wanted
      ? ledger.machine.account(wanted.length === 32 ? wanted : Buffer.alloc(32))?.owner
      : typeof programId === 'string'
        ? bs58.decodeUnsafe(programId)
        : undefined;
    if (program?.length !== 32) throw invalidParameters('Invalid param: could not find mint or program');
    return inContext(
      slot,
      ledger.store
        .tokenAccounts(owner, Buffer.from(program))
        .filter(({ state }) => isTokenAccount(state) && (!wanted || state.data.subarray(0, 32).equals(wanted)))
        .map(({ address, state }) => ({
          account: encodeAccount(state, settings, ledger.balances),
          pubkey: bs58.encode(address),
        })),
    );
  },
};

function tokenState(ledger: Ledger, address: Buffer): AccountState {
  const state = ledger.machine.account(address);
  if (!state) throw invalidParameters('Invalid param: could not find account');
  return state;
}
