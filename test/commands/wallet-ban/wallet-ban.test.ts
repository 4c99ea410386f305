/** Given what was decided about a wallet before, when an operator bans or unbans it, then only a change is recorded. */
import { describe, it } from 'vitest';
import { type WalletBanCommand, walletBan } from '../../../src/commands/wallet-ban/wallet-ban.ts';
import { WalletBanned, WalletUnbanned } from '../../../src/events/operator.ts';
import { given } from '../../given-when-then.ts';

const act = { wallet: '7dNXsDvC6xJ6XG7VdeRoW94yN7xZkJhcaRAxKrHzq7gW', by: 'Ann Lee', reason: 'it probes the service' };
const [banned, unbanned] = [WalletBanned.of(act), WalletUnbanned.of(act)];
const ban: WalletBanCommand = { type: 'Ban', ...act };
const unban: WalletBanCommand = { type: 'Unban', ...act };

describe('a wallet', () => {
  it('is banned once, with who decided it and why', () => {
    given(walletBan).when(ban).then(banned);
    given(walletBan, banned).when(ban).then();
    given(walletBan, banned, unbanned).when(ban).then(banned);
  });
  it('is unbanned only if it is banned', () => {
    given(walletBan).when(unban).then();
    given(walletBan, banned).when(unban).then(unbanned);
    given(walletBan, banned, unbanned).when(unban).then();
  });
});
