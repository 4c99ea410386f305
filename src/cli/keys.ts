/** `docket keys`: the signing keys of wallets, and the master key that derives their secrets. */
import type { Command } from 'commander';
import { readMasterKeys } from '../callbacks/master-keys.ts';
import { introduceMasterKey, loadMasterKeyVersions } from '../commands/signing-key/master-key.ts';
import { validKeysAt } from '../commands/signing-key/signing-key.ts';
import { loadSigningKeys } from '../commands/signing-key/use.ts';
import { type Config, readConfig } from '../config.ts';
import { resultsByMasterVersion } from '../queries/result-keys-in-use.ts';
import { masterVersionsInUse, readAllSigningKeys } from '../queries/signing-keys-in-use.ts';
import { systemClock } from '../runtime/instant.ts';
import { replaceSecretFile } from '../runtime/secret-file.ts';
import { masterKeyFile, newMasterKey, openMasterKeys, readMasterKeyFile } from '../service/open-master-keys.ts';
import { isAddress } from '../solana/addresses.ts';
import type { EventLog } from '../storage/event-log.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from './command.ts';
import { type ActOptions, actContext, type OperatorAct, readAct, withActOptions } from './operator-act.ts';
import { openOwnLog, openServiceLog, withStorage } from './service-storage.ts';

interface JsonOption {
  readonly json?: boolean;
}

export const addKeysCommand: AddCommand = (program: Command, context) => {
  const keys = program
    .command('keys')
    .description('Manage the keys that sign callbacks and the master key that derives their secrets.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docket keys list\n  $ docket keys new-master\n  $ docket keys rotate-master --reason "yearly rotation"',
    );
  keys
    .command('list')
    .description('List the valid signing keys of every wallet, without secrets.')
    .option('--wallet <address>', 'filter by wallet')
    .option('--json', 'one JSON object per line')
    .addHelpText('after', '\nExamples:\n  $ docket keys list\n  $ docket keys list --wallet ADDRESS --json')
    .action((options: JsonOption & { wallet?: string }) => listKeys(options, context));
  keys
    .command('new-master')
    .description('Generate a first MASTER_KEY; production requires one.')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Keep it secret, and keep a backup that only operators can read: without it, the secret of every signing key is lost.

Examples:
  $ docket keys new-master
  $ export MASTER_KEY="$(docket keys new-master)"`,
    )
    .action(({ json }: JsonOption) => {
      const masterKey = newMasterKey(1);
      if (json) printJson(context, { master_key: masterKey });
      else print(context, masterKey);
    });
  withActOptions(keys.command('rotate-master'))
    .description('Generate a new master key for future signing keys, and say which older versions are still needed.')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Existing signing keys keep the master key that they were derived from, so callbacks and receivers are not affected. A
wallet moves to the new master key when it rotates its key. Versions that results of the last 30 days need are kept.
If MASTER_KEY is not set, the file in DATA_DIR is rewritten: restart the service.
If it is set, its new values are printed. With several nodes, first set the first value on all of them, which makes the
new key known; then set the second, which uses it.

Examples:
  $ docket keys rotate-master --reason "yearly rotation"
  $ docket keys rotate-master --reason "a laptop was lost" --by "Ann Lee" --json`,
    )
    .action((options: JsonOption & ActOptions) => rotateMaster(options, context));
};

async function listKeys({ wallet, json }: JsonOption & { wallet?: string }, context: CliContext): Promise<void> {
  if (wallet !== undefined && !isAddress(wallet)) {
    throw new CliError(`${JSON.stringify(wallet)} is not a Solana address.`, 'Give 32 bytes in base58.');
  }
  await withStorage(openServiceLog, context, async ({ log }) => {
    const all =
      wallet === undefined ? await readAllSigningKeys(log) : new Map([[wallet, await loadSigningKeys(log, wallet)]]);
    const now = systemClock.now();
    let count = 0;
    for (const [address, walletKeys] of all) {
      const valid = validKeysAt(walletKeys, now);
      if (!valid) continue;
      count++;
      const { current, previous } = valid;
      if (json) {
        printJson(context, {
          wallet: address,
          current_key_id: current.keyId,
          current_key_created_at: current.createdAt,
          master_version: current.masterVersion,
          previous_key_id: previous?.keyId ?? null,
          previous_key_valid_until: previous?.validUntil ?? null,
          keys_made: walletKeys.keys.length,
        });
        continue;
      }
      print(
        context,
        `${address.padEnd(44)}  ${current.keyId}  created ${current.createdAt}  master ${current.masterVersion}`,
      );
      if (previous) print(context, `${''.padEnd(44)}  ${previous.keyId}  valid until ${previous.validUntil}`);
    }
    if (!json) print(context, count === 1 ? '1 wallet' : `${count} wallets`);
  });
}

/** The result of a master key rotation, for the operator. */
interface MasterRotation {
  readonly newest: number;
  readonly kept: readonly {
    readonly version: number;
    readonly live_keys: number;
    readonly young_keys: number;
    readonly results: number;
  }[];
  readonly dropped: readonly number[];
  /** Where the new value was written; null if the operator sets MASTER_KEY. */
  readonly file: string | null;
  /** Two values of MASTER_KEY: the first makes the new key known, the second uses it. */
  readonly rollout: readonly string[] | null;
}

async function rotateMaster({ json, ...options }: JsonOption & ActOptions, context: CliContext): Promise<void> {
  const act = readAct(options);
  const config = readConfig(context.environment);
  const rotation = await withStorage(openOwnLog, context, ({ log }) => makeRotation(config, log, act));
  if (json) return printJson(context, rotation);
  const { newest, kept, dropped, file, rollout } = rotation;
  if (rollout) {
    const [known, used] = rollout;
    note(
      context,
      'With one node, set MASTER_KEY to the last line. With several, set the first line on all of them, then the last.',
    );
    print(context, `MASTER_KEY=${known}\nMASTER_KEY=${used}`);
  } else print(context, `Version ${newest} is in ${file}: restart the service to use it.`);
  for (const { version, live_keys: live, young_keys: young, results } of kept) {
    note(
      context,
      `Version ${version} is kept: live keys that need it: ${live}; other keys whose secret may still be fetched: ${young}; results that need it: ${results}.`,
    );
  }
  for (const version of dropped) note(context, `Version ${version} is dropped: no key or result needs it.`);
}

async function makeRotation(config: Config, log: EventLog, act: OperatorAct): Promise<MasterRotation> {
  const file = masterKeyFile(config.dataDirectory);
  const text = config.masterKey ?? readMasterKeyFile(file);
  if (text === null) {
    throw new CliError(
      `There is no master key yet in ${config.dataDirectory}.`,
      'The first start of the service generates it; or set MASTER_KEY to the output of docket keys new-master.',
    );
  }
  const context = actContext();
  const ports = { log, clock: systemClock };
  const present = await openMasterKeys({ ...ports, by: act.by, logger: { warn: () => {} } }, config, context);
  const now = systemClock.now();
  const results = await resultsByMasterVersion(log, now);
  const uses = masterVersionsInUse((await readAllSigningKeys(log)).values(), results, now);
  const useOf = (version: number) => uses.find(({ masterVersion }) => masterVersion === version);
  // A running service derives keys from the newest of its versions until it is restarted.
  const isNeeded = (version: number) => version === present.newest || useOf(version) !== undefined;

  const newest = Math.max(...present.versions, ...(await loadMasterKeyVersions(log)).keys()) + 1;
  const made = newMasterKey(newest);
  const fingerprint = readMasterKeys(made).fingerprintOf(newest);
  if (
    !(await introduceMasterKey(
      ports,
      { masterVersion: newest, fingerprint, ...act },
      { ...context, commandId: `${context.commandId}/new` },
    ))
  ) {
    throw new CliError(`Another process has just created version ${newest}.`, 'Run it again.', EXIT.found);
  }
  const parts = text.split(',').map((part) => part.trim());
  const kept = present.versions.filter(isNeeded);
  const keptParts = parts.filter((_, index) => isNeeded(present.versions[index] ?? 0));
  const used = [made, ...keptParts].join(',');
  if (config.masterKey === null) replaceSecretFile(file, `${used}\n`);
  return {
    newest,
    kept: kept.map((version) => {
      const { liveKeys = 0, youngKeys = 0, results: open = 0 } = useOf(version) ?? {};
      return { version, live_keys: liveKeys, young_keys: youngKeys, results: open };
    }),
    dropped: present.versions.filter((version) => !isNeeded(version)),
    file: config.masterKey === null ? file : null,
    rollout: config.masterKey === null ? null : [[...keptParts, made].join(','), used],
  };
}
