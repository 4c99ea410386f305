/** `docket forget`: removes the content of a callback URL, of a wallet or of a docket, by record. */
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { docketToForget } from '../../commands/forget/docket-contents.ts';
import type { Wanted } from '../../commands/forget/preview.ts';
import { originOf } from '../../commands/payment/answer.ts';
import { isAddress } from '../../solana/addresses.ts';
import type { Storage } from '../../storage/storage.ts';
import { findNamedCase } from '../cases/cases.ts';
import { type AddCommand, type CliContext, CliError, EXIT } from '../command.ts';
import { courtNamed } from '../named-court.ts';
import { openServiceStorage, withStorage } from '../service-storage.ts';
import { continueOrders, type ForgetOptions, forget, listOrders, ordersOf } from './run.ts';

/** Opens the storage that the service uses. */
export type OpenForgetStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

const HELP = `
Removes stored content for good: by record, so that the hashes of all events still hold and docket audit verify stays
clean. The order is recorded first, then each removal. If the command is killed, the running service completes the
order within a minute; so does the next start, the same command run again, and docket forget continue. --dry-run
shows what would go. The service may be running or stopped.

What stays in the log, because no event ever changes: wallets' public addresses, amounts and transactions, origins of
callback URLs (scheme, host, port), case numbers, dates and types of filings, hashes of the removed content, and who ordered
it and why: write no names into --reason. Backups, files that you imported, log lines and what receivers were sent are not changed.

Examples:
  $ docket forget callback-url https://receiver.example/hook?token=… --reason "request of 2 March" --dry-run
  $ docket forget wallet ADDRESS --reason "erasure request 4711" --by "Ann Lee"
  $ docket forget docket cand 3:24-cv-00042 --reason "sealing order of 2 March" --yes --redactions forgotten.ndjson
  $ docket forget list

Exit codes: 0 done; 1 nothing to forget; 2 wrong usage; 3 storage unavailable.`;

export const createForgetCommand =
  (open: OpenForgetStorage): AddCommand =>
  (program, context) => {
    const group = program
      .command('forget')
      .description('Remove the content of a callback URL, a wallet or a docket for good, by record.')
      .addHelpText('after', HELP);
    onOne(group.command('callback-url'))
      .description('Forget a callback URL: the URL, what was to be sent to it, and its open callbacks.')
      .argument('<url>', 'the URL as it was sent, with its query; - reads it from stdin')
      .addHelpText(
        'after',
        `
Later sales may name the URL again. docket hosts pauses the callbacks of a whole host.

Examples:
  $ docket forget callback-url https://receiver.example/hook --reason "request of 2 March"
  $ echo "$URL" | docket forget callback-url - --reason "request of 2 March" --yes`,
      )
      .action((url: string, options: ForgetOptions) =>
        withStorage(open, context, async (storage) => forget(storage, context, await wantedUrl(context, url), options)),
      );
    onOne(group.command('wallet'))
      .description('Forget what a wallet bought: stored answers, callback URLs, what was to be sent, open callbacks.')
      .argument('<address>', 'the wallet')
      .addHelpText(
        'after',
        `
Its payments stay in the log, without content; its result URLs return 410 result_gone. Its signing keys stay: their
secrets are derived from the master key and stored nowhere. docket wallets ban refuses its later calls.

Example:
  $ docket forget wallet ADDRESS --reason "erasure request 4711" --by "Ann Lee"`,
      )
      .action((wallet: string, options: ForgetOptions) =>
        withStorage(open, context, (storage) => forget(storage, context, wantedWallet(wallet), options)),
      );
    onOne(group.command('docket'))
      .description('Forget a docket, e.g. by court order: texts, names, what was sold of it, open callbacks.')
      .argument('<court>', 'court code or alias')
      .argument('<number...>', 'case number, in any form')
      .addHelpText(
        'after',
        `
Queries for it return 404 case_not_found from then on, and no import brings it back. This is final. To remove
the text of one filing, use docket cases withdraw.

Example:
  $ docket forget docket cand 3:24-cv-00042 --reason "sealing order of 2 March" --by "J. Muster"`,
      )
      .action((code: string, words: string[], options: ForgetOptions) =>
        withStorage(open, context, async (storage) =>
          forget(storage, context, await wantedDocket(storage, code, words.join(' ')), options),
        ),
      );
    group
      .command('list')
      .description('All orders to forget, and whether they are completed.')
      .option('--json', 'one JSON object per line')
      .addHelpText('after', '\nExample:\n  $ docket forget list --json')
      .action((options: { readonly json?: true }) =>
        withStorage(open, context, (storage) => listOrders(storage, context, options)),
      );
    group
      .command('continue')
      .description('Complete the orders whose command was interrupted.')
      .option('--json', 'one JSON object per line')
      .addHelpText('after', '\nExample:\n  $ docket forget continue')
      .action((options: { readonly json?: true }) =>
        withStorage(open, context, (storage) => continueOrders(storage, context, options)),
      );
  };

export const addForgetCommand: AddCommand = createForgetCommand((environment) => openServiceStorage(environment));

const onOne = (command: Command): Command =>
  command
    .option('--reason <text>', 'why; recorded in the log (required, except with --dry-run)')
    .option('--by <name>', 'who decided it; recorded (default: the current user)')
    .option('--dry-run', 'only show what would go')
    .option('--yes', 'do not ask')
    .option('--redactions <file>', 'also write what was removed as a list for docket restore --redactions')
    .option('--json', 'one JSON object');

async function wantedUrl(context: CliContext, given: string): Promise<Wanted> {
  const url = given === '-' ? (await readAll(context.stdin)).trim() : given;
  const origin = originOf(url);
  if (origin === 'unusable') {
    throw new CliError('This is not an http or https URL.', 'Give the whole callback URL as it was sent, in quotes.');
  }
  return { kind: 'callback_url', url, origin };
}

function wantedWallet(wallet: string): Wanted {
  if (!isAddress(wallet)) {
    throw new CliError(`${JSON.stringify(wallet.slice(0, 100))} is not a Solana address.`, 'Give 32 bytes in base58.');
  }
  return { kind: 'wallet', wallet };
}

/** A docket that is being forgotten is found by its order, because no read model shows it any more. */
async function wantedDocket(storage: Storage, code: string, number: string): Promise<Wanted> {
  const court = courtNamed(code);
  for (const { order, removed } of await ordersOf(storage)) {
    if (order.subject.kind !== 'docket') continue;
    const { docket } = order.subject;
    const { forgotten } = await docketToForget(storage.log, docket);
    if (!forgotten.means(court.code, number)) continue;
    if (removed === null) return { kind: 'docket', docket };
    throw new CliError(
      `${court.code} ${number} was forgotten already, by ${order.by}.`,
      'docket forget list shows the order. Nothing of it is stored.',
      EXIT.found,
    );
  }
  return { kind: 'docket', docket: (await findNamedCase(storage, code, number)).stream };
}
