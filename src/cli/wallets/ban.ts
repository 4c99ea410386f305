/** `docket wallets ban` and `unban`: whether anything is sold to a wallet. */
import type { Command } from 'commander';
import { isRejection } from '../../commands/decider.ts';
import { handleWithRetry } from '../../commands/handle.ts';
import { type WalletBanCommand, walletBan } from '../../commands/wallet-ban/wallet-ban.ts';
import { operatorStream, walletSubject } from '../../events/operator.ts';
import { WALLETS } from '../../projections/wallets.ts';
import { systemClock } from '../../runtime/instant.ts';
import type { Storage } from '../../storage/storage.ts';
import { readWallet } from '../audit/selection.ts';
import { type CliContext, CliError, EXIT, print, printJson } from '../command.ts';
import { type ActOptions, actContext, type OperatorAct, readAct, withActOptions } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import type { OpenWalletStorage } from './wallets.ts';

const EFFECT = `
Each paid call of a banned wallet is refused with wallet_banned (403), uncharged, over REST and MCP. What it has bought
stays readable, and its callbacks are still delivered. Running nodes know within a second; stopped ones when they start.`;

interface BanOptions extends ActOptions {
  readonly unseen?: true;
  readonly json?: true;
}

/** Adds both commands to `docket wallets`. */
export function addWalletsBan(group: Command, context: CliContext, open: OpenWalletStorage): void {
  withActOptions(group.command('ban'))
    .description('Ban a wallet: reject its payments.')
    .argument('<address>', 'address of the wallet')
    .option('--unseen', 'also if the wallet never presented a payment')
    .option('--json', 'one JSON object')
    .addHelpText('after', `${EFFECT}\n\nExample:\n  $ docket wallets ban ADDRESS --reason "it probes the service"`)
    .action((address: string, options: BanOptions) =>
      withStorage(open, context, (storage) => change(storage, context, 'Ban', address, options)),
    );
  withActOptions(group.command('unban'))
    .description('Sell to a banned wallet again.')
    .argument('<address>', 'address of the wallet')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  $ docket wallets unban ADDRESS --reason "settled by mail"')
    .action((address: string, options: BanOptions) =>
      withStorage(open, context, (storage) => change(storage, context, 'Unban', address, options)),
    );
}

async function change(
  { log, readStore }: Storage,
  context: CliContext,
  type: WalletBanCommand['type'],
  address: string,
  { unseen, json, ...options }: BanOptions,
): Promise<void> {
  const wallet = readWallet(address);
  const act = readAct(options);
  if (type === 'Ban' && !unseen && (await readStore.load(WALLETS, [wallet])).size === 0) {
    throw new CliError(
      `The wallet ${wallet} never presented a payment.`,
      'Check the address with docket wallets list --by seen, or add --unseen to ban it all the same.',
      EXIT.found,
    );
  }
  const outcome = await handleWithRetry(
    { log, clock: systemClock },
    walletBan,
    operatorStream(walletSubject(wallet)),
    { type, wallet, ...act },
    actContext(),
  );
  if (isRejection(outcome)) throw new Error('no rule rejects it');
  const isChanged = outcome.events.length > 0;
  const { banned } = outcome.state;
  if (json) printJson(context, { wallet, changed: isChanged, banned });
  else print(context, lineOf(wallet, isChanged, banned));
}

function lineOf(wallet: string, isChanged: boolean, banned: OperatorAct | null): string {
  if (banned) {
    return isChanged ? `${wallet} is banned.` : `${wallet} was banned already, by ${banned.by}: ${banned.reason}`;
  }
  return isChanged ? `${wallet} is no longer banned.` : `${wallet} is not banned.`;
}
