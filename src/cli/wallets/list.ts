/** `docket wallets list`: the wallets that paid most, or that were here last. */
import { type Command, Option } from 'commander';
import { revenue } from '../../projections/revenue.ts';
import { wallets } from '../../projections/wallets.ts';
import { type ListedWallet, listWallets, WALLET_ORDERS, type WalletOrder } from '../../queries/wallet-list.ts';
import { solText, usdcText } from '../../solana/decimal-amount.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { jsonFigures } from '../revenue.ts';
import { withStorage } from '../service-storage.ts';
import { textTable } from '../text-table.ts';
import type { OpenWalletStorage } from './wallets.ts';

const DEFAULT_LIMIT = 20;

const HELP = `
Wallets that never had an outcome (only payments that are pending) are listed by --by seen.

Examples:
  $ docket wallets list
  $ docket wallets list --by seen --limit 100
  $ docket wallets list --by spend --limit 0 --json`;

interface ListOptions {
  readonly by: WalletOrder;
  readonly limit: string;
  readonly json?: true;
}

export function addWalletsList(group: Command, context: CliContext, open: OpenWalletStorage): void {
  group
    .command('list')
    .description('List wallets: those that paid most first, or those that were seen last.')
    .addOption(new Option('--by <order>', 'what comes first').choices(WALLET_ORDERS).default('spend'))
    .option('--limit <count>', 'maximum number to list; 0 for all', String(DEFAULT_LIMIT))
    .option('--json', 'one JSON object per line')
    .addHelpText('after', HELP)
    .action((options: ListOptions) => {
      if (!/^\d{1,9}$/.test(options.limit))
        throw new CliError(`--limit ${options.limit} is not a number.`, 'Give a whole number, or 0 for all.');
      return withStorage(open, context, (storage) => list(storage, context, options));
    });
}

async function list(storage: Storage, context: CliContext, { by, limit, json }: ListOptions): Promise<void> {
  const most = Number(limit) || Number.POSITIVE_INFINITY;
  const found = await listWallets(storage.readStore, by, most);
  if (json) for (const wallet of found) printJson(context, jsonOf(wallet));
  else if (found.length === 0) print(context, 'No wallet has bought anything yet.');
  else {
    const head = ['WALLET', 'PAYMENTS', 'ANSWERS', 'USDC', 'FEES SOL', 'LAST SEEN'];
    for (const line of textTable(head, found.map(cellsOf))) print(context, line);
    if (found.length === most) print(context, `The first ${found.length}; --limit 0 shows all.`);
  }
  for (const projection of [revenue, wallets]) await noteIfIncomplete(context, storage, projection);
}

const jsonOf = ({ wallet, record, ...figures }: ListedWallet) => ({
  wallet,
  first_seen: record?.firstSeen ?? null,
  last_seen: record?.lastSeen ?? null,
  ...jsonFigures(figures),
});

const cellsOf = ({ wallet, record, payments, answers, usdc, fees }: ListedWallet): readonly string[] => [
  wallet,
  String(payments),
  String(answers),
  usdcText(usdc),
  solText(fees),
  record?.lastSeen.slice(0, 10) ?? '',
];
