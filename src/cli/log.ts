/** `docket log`: shows which event log this is and which address receives its payments. */
import type { Command } from 'commander';
import { isRejection } from '../commands/decider.ts';
import { handleWithRetry, load } from '../commands/handle.ts';
import { logIdentity } from '../commands/log-identity/log-identity.ts';
import { LOG_IDENTITY_STREAM, ReceiverChanged } from '../events/log-identity.ts';
import { systemClock } from '../runtime/instant.ts';
import { isAddress } from '../solana/addresses.ts';
import { type AddCommand, type CliContext, CliError, EXIT, print, printJson } from './command.ts';
import { type ActOptions, actContext, readAct, withActOptions } from './operator-act.ts';
import { openOwnLog, openServiceLog, withStorage } from './service-storage.ts';

const NOT_NAMED = new CliError(
  'The event log has no identity yet.',
  'The next start of the service records it: an id, the chain and the receiver.',
  EXIT.found,
);

interface ReceiverOptions extends ActOptions {
  readonly json?: boolean;
}

export const addLogCommand: AddCommand = (program: Command, context) => {
  const log = program
    .command('log')
    .description('Show which event log this is: its id, its chain, and the address that receives payments.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docket log show\n  $ docket log receiver ADDRESS --reason "treasury moved to a multisig"',
    );
  log
    .command('show')
    .description('Show the identity of the log and every change of its receiver.')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ docket log show\n  $ DATA_DIR=/var/lib/docket docket log show --json')
    .action((options: { json?: boolean }) => show(options, context));
  withActOptions(log.command('receiver'))
    .description('Send payments to another address from now on; recorded in the log.')
    .argument('<address>', 'the new owner of the token account that receives USDC')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
A service does not start if its PAY_TO is not the receiver of its log, and a running one stops selling until it is
restarted. So stop every node, run this, and start them with the new PAY_TO. Earlier payments are not moved.

Examples:
  $ docket log receiver ADDRESS --reason "treasury moved to a multisig"
  $ docket log receiver ADDRESS --reason "key rotated" --by "Ann Lee" --json`,
    )
    .action((address: string, options: ReceiverOptions) => changeReceiver(address, options, context));
};

async function show({ json }: { json?: boolean }, context: CliContext): Promise<void> {
  await withStorage(openServiceLog, context, async ({ log }) => {
    const events = await log.read(LOG_IDENTITY_STREAM);
    const { state } = await load({ read: async () => events }, logIdentity, LOG_IDENTITY_STREAM);
    const [founded] = events;
    if (state === null || !founded) throw NOT_NAMED;
    const changes = events
      .filter(({ type }) => type === ReceiverChanged.type)
      .map(({ data, metadata }) => ({ at: metadata.recordedAt, ...data }) as Readonly<Record<string, string>>);
    const { logId, network, genesisHash, mint, receiver, version } = state;
    const { recordedAt } = founded.metadata;
    const head = await log.head();
    if (json) {
      printJson(context, {
        log_id: logId,
        founded_at: recordedAt,
        version,
        network,
        genesis_hash: genesisHash,
        mint,
        receiver,
        receiver_changes: changes,
        head,
      });
      return;
    }
    const lines = {
      id: logId,
      founded: `${recordedAt} by version ${version}`,
      network,
      genesis: genesisHash,
      mint,
      receiver,
      head,
    };
    for (const [name, value] of Object.entries(lines)) print(context, `${name.padEnd(10)} ${value}`);
    for (const { at, previous, receiver: to, by, reason } of changes) {
      print(context, `${at}  receiver changed from ${previous} to ${to} by ${by}: ${reason}`);
    }
  });
}

async function changeReceiver(
  address: string,
  { json, ...options }: ReceiverOptions,
  context: CliContext,
): Promise<void> {
  if (!isAddress(address)) {
    throw new CliError(`${JSON.stringify(address)} is not a Solana address.`, 'Give 32 bytes in base58.');
  }
  const act = readAct(options);
  await withStorage(openOwnLog, context, async ({ log }) => {
    const command = { type: 'ChangeReceiver', receiver: address, ...act } as const;
    const ports = { log, clock: systemClock };
    const changed = await handleWithRetry(ports, logIdentity, LOG_IDENTITY_STREAM, command, actContext());
    if (isRejection(changed)) throw NOT_NAMED;
    const isChanged = changed.events.length > 0;
    if (json) printJson(context, { receiver: address, changed: isChanged });
    else if (isChanged) print(context, `Payments go to ${address}. Start every node with PAY_TO=${address}.`);
    else print(context, `${address} is the receiver already; nothing was recorded.`);
  });
}
