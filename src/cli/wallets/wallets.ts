/** `docket wallets`: the wallets that buy from the service, for its operator. */
import type { Storage } from '../../storage/storage.ts';
import type { AddCommand } from '../command.ts';
import { openServiceStorage } from '../service-storage.ts';
import { addWalletsBan } from './ban.ts';
import { addWalletsList } from './list.ts';
import { addWalletsShow } from './show.ts';

const HELP = `
These are the wallets of the callers. To make and fund a wallet of your own, see docket wallet.
Reads the state in DATA_DIR, or in the configured engines. The service may be running or stopped.

Examples:
  $ docket wallets list --by spend
  $ docket wallets show ADDRESS
  $ docket wallets show ADDRESS --json
  $ docket wallets ban ADDRESS --reason "it probes the service"`;

/** Opens the storage that the service uses. */
export type OpenWalletStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

export const createWalletsCommand =
  (open: OpenWalletStorage): AddCommand =>
  (program, context) => {
    const group = program
      .command('wallets')
      .description(
        'The wallets that buy: list them; show the spend, limits, refusals, keys and callbacks of one; ban one.',
      )
      .addHelpText('after', HELP);
    addWalletsList(group, context, open);
    addWalletsShow(group, context, open);
    addWalletsBan(group, context, open);
  };

/** The command on the storage that the service uses. */
export const addWalletsCommand: AddCommand = createWalletsCommand((environment) =>
  openServiceStorage(environment, 'Set DATA_DIR to the data folder of the service.'),
);
