/** `docket wallets list`: the wallets that paid most, or that were here last. */
import { type Command, Option } from 'commander';
import { revenue } from '../../projections/revenue.ts';
import { wallets } from '../../projections/wallets.ts';
import {
  countWallets,
  type ListedWallet,
  listWallets,
  WALLET_ORDERS,
  type WalletOrder,
} from '../../queries/wallet-list.ts';
import { solText, usdcText } from '../../solana/decimal-amount.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, print, printable } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { readLimit } from '../list-limit.ts';
import { STDOUT, writeOutput } from '../output-file.ts';
import { jsonFigures } from '../revenue.ts';
import { withStorage } from '../service-storage.ts';
import { pagedTable } from '../text-table.ts';
import type { OpenWalletStorage } from './wallets.ts';

const DEFAULT_LIMIT = 20;

const HELP = `
Wallets that never had an outcome (only payments that are pending) are listed by --by seen.
A wallet that pays while a long list is written moves up in it, and may be missing. docket revenue --by wallet reads all
of them before it writes.

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
      const limit = readLimit(options.limit);
      return withStorage(open, context, (storage) => list(storage, context, { ...options, limit }));
    });
}

type Asked = Pick<ListOptions, 'by' | 'json'> & { readonly limit: number };

async function list(storage: Storage, context: CliContext, asked: Asked): Promise<void> {
  const { by, json, limit } = asked;
  const pages = listWallets(storage.readStore, by, limit || Number.POSITIVE_INFINITY);
  let listed = 0;
  await writeOutput(context, STDOUT, linesOf(pages));
  if (!json && listed === 0) print(context, 'No wallet has bought anything yet.');
  const all = !json && listed === limit ? await countWallets(storage.readStore, by) : listed;
  if (listed > 0 && all > listed) print(context, `The first ${listed} of ${all}; --limit 0 shows all.`);
  for (const projection of [revenue, wallets]) await noteIfIncomplete(context, storage, projection);

  async function* linesOf(found: typeof pages): AsyncIterable<string> {
    const table = pagedTable(['WALLET', 'PAYMENTS', 'ANSWERS', 'USDC', 'FEES SOL', 'LAST SEEN']);
    for await (const page of found) {
      if (page.length === 0) continue;
      listed += page.length;
      const lines = json ? page.map((wallet) => JSON.stringify(jsonOf(wallet))) : table(page.map(cellsOf));
      yield lines.map((line) => `${printable(line)}\n`).join('');
    }
  }
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
