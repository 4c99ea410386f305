/** The `docket` command: one program, with one file for each command. */
import { writeSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ConfigurationError } from '../config/configuration-error.ts';
import { UnreadableEvent } from '../events/unreadable-event.ts';
import { UnreadableCertificate } from '../storage/eventstoredb/connection-string.ts';
import { StorageFailure } from '../storage/storage-failure.ts';
import {
  type AddCommand,
  type CliContext,
  CliError,
  EXIT,
  FoundWrong,
  note,
  printable,
  printJson as printJsonOf,
} from './command.ts';
import { helpGroupOf, inHelpOrder } from './help-groups.ts';
import { systemFailureHint } from './system-failure.ts';

const EXAMPLES = `
Examples:
  $ docket serve                                   run the service on the embedded defaults
  $ docket demo                                    see a paid query and a delta, end to end
  $ docket wallet new --out wallet.json            make a test wallet
  $ docket wallet fund ADDRESS --usdc 10           give it test USDC on the local chain
  $ docket query --court-code cand --case-id 3:24-cv-00042 --keypair wallet.json

Exit codes: 0 success; 1 the command found a problem; 2 wrong usage or configuration; 3 something it needs is unreachable.
Settings come from environment variables; see \`docket config --help\`.`;

/** Each command is loaded on use: `docket --help` must not load a blockchain. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import('./serve.ts')).addServeCommand,
  status: async () => (await import('./status/status.ts')).addStatusCommand,
  demo: async () => (await import('./demo/demo.ts')).createDemoCommand(main),
  import: async () => (await import('./import/import.ts')).addImportCommand,
  sources: async () => (await import('./sources/sources.ts')).addSourcesCommand,
  cases: async () => (await import('./cases/cases.ts')).addCasesCommand,
  classify: async () => (await import('./classify.ts')).addClassifyCommand,
  forget: async () => (await import('./forget/forget.ts')).addForgetCommand,
  courts: async () => (await import('./courts.ts')).addCourtsCommand,
  wallet: async () => (await import('./wallet.ts')).addWalletCommand,
  find: async () => (await import('./find/find.ts')).addFindCommand,
  revenue: async () => (await import('./revenue.ts')).addRevenueCommand,
  wallets: async () => (await import('./wallets/wallets.ts')).addWalletsCommand,
  query: async () => (await import('./query/query.ts')).addQueryCommand,
  callbacks: async () => (await import('./callbacks.ts')).addCallbacksCommand,
  projections: async () => (await import('./projections/projections.ts')).addProjectionsCommand,
  deliveries: async () => (await import('./deliveries/deliveries.ts')).addDeliveriesCommand,
  hosts: async () => (await import('./deliveries/hosts.ts')).addHostsCommand,
  keys: async () => (await import('./keys.ts')).addKeysCommand,
  log: async () => (await import('./log.ts')).addLogCommand,
  backup: async () => (await import('./copies/backup.ts')).addBackupCommand,
  restore: async () => (await import('./copies/restore.ts')).addRestoreCommand,
  migrate: async () => (await import('./copies/migrate.ts')).addMigrateCommand,
  audit: async () => (await import('./audit/audit.ts')).addAuditCommand,
  chain: async () => (await import('./chain.ts')).addChainCommand,
  config: async () => (await import('./config.ts')).addConfigCommand,
  doctor: async () => (await import('./doctor.ts')).addDoctorCommand,
};

/** Runs one command line and returns its exit code. Never throws. */
export async function main(argv: readonly string[], context: CliContext = processContext()): Promise<number> {
  const [name = ''] = argv;
  const asked = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!asked && name !== '' && name !== 'help' && !name.startsWith('-')) return unknownCommand(name, argv, context);
  const wanted = asked ? [name] : Object.keys(COMMANDS).toSorted(inHelpOrder);
  const program = new Command('docket')
    .description('Court dockets for agents: pay per query, get the case and what is new.')
    .version(VERSION)
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for examples)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  const adding = wanted.map(async (command) => ({ command, add: await COMMANDS[command]?.() }));
  for (const { command, add } of await Promise.all(adding)) {
    add?.(program, context);
    const heading = helpGroupOf(command);
    if (heading !== undefined) program.commands.at(-1)?.helpGroup(heading);
  }
  for (const command of program.commands) rejectUnknown(command, 'docket');
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    const unwritten = context.unwritten?.(error) ?? null;
    if (unwritten === null) return explain(error, context, argv.includes('--json'));
    note(context, unwritten);
    return EXIT.unavailable;
  }
}

/** Release number (docs/design/interface.md#9.1). */
export const VERSION = '2.0.1';

/** Runs before any option is read, so that `docket nonsense --help` fails. */
function unknownCommand(name: string, argv: readonly string[], context: CliContext): number {
  return explain(unknownIn('docket', name, Object.keys(COMMANDS)), context, argv.includes('--json'));
}

const unknownIn = (group: string, name: string, known: readonly string[]): CliError =>
  new CliError(`Unknown command '${name}'.`, `Use one of ${known.join(', ')}. See ${group} --help.`);

/** A group of commands reports an unknown one as `docket` does, with the hint in JSON too. */
function rejectUnknown(command: Command, parent: string): void {
  const path = `${parent} ${command.name()}`;
  for (const sub of command.commands) rejectUnknown(sub, path);
  const known = command.commands.map((sub) => sub.name());
  if (known.length === 0) return;
  command.on('command:*', ([name = '']: readonly string[]) => {
    throw unknownIn(path, name, known);
  });
}

/** Prints an error as JSON. stdout may be what failed. */
function printJson(context: CliContext, value: object): void {
  try {
    printJsonOf(context, value);
  } catch {
    // Standard error also gets the message.
  }
}

function explain(error: unknown, context: CliContext, json: boolean): number {
  if (error instanceof CommanderError) {
    const fault = /^error: (.*)$/s.exec(error.message)?.[1];
    if (json && fault) printJson(context, { error: { message: fault, hint: 'Add --help for examples.' } });
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  if (error instanceof CliError) {
    if (json && !(error instanceof FoundWrong)) {
      printJson(context, { error: { message: error.message, hint: error.hint, ...error.facts } });
    }
    note(context, `${error.message}\n${error.hint}`);
    return error.exitCode;
  }
  if (error instanceof ConfigurationError) {
    if (json) printJson(context, { error: { message: error.message, faults: error.faults } });
    note(context, error.message);
    return EXIT.usage;
  }
  if (error instanceof StorageFailure) {
    const { code, hint, message } = error;
    if (json) printJson(context, { error: { code, message, hint } });
    note(context, `${message} (${code})\n${hint}`);
    return EXIT.unavailable;
  }
  if (error instanceof UnreadableEvent || error instanceof UnreadableCertificate) {
    const { code, message, hint } = error;
    if (json) printJson(context, { error: { code, message, hint } });
    note(context, `${message} (${code})\n${hint}`);
    return error instanceof UnreadableEvent ? EXIT.found : EXIT.usage;
  }
  const text = error instanceof Error ? error.message : String(error);
  const hint = systemFailureHint(error);
  if (hint !== null) {
    if (json) printJson(context, { error: { message: text, hint } });
    note(context, `${text}\n${hint}`);
    return EXIT.unavailable;
  }
  if (json) printJson(context, { error: { message: text } });
  note(context, `Unexpected: ${error instanceof Error ? (error.stack ?? text) : text}`);
  return EXIT.unavailable;
}

function processContext(): CliContext {
  let reminder: string | null = null;
  const unwritten = (error: unknown): string | null =>
    isWriteFailure(error) && reminder !== null
      ? `The answer was paid for, but could not be written: ${error.message}\n${reminder}`
      : null;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    const paid = unwritten(error);
    // In `docket audit replay … | head` the reader leaves once it has enough; that is no error.
    if (paid === null && error.code === 'EPIPE') process.exit(EXIT.ok);
    const hint = systemFailureHint(error);
    sayAtOnce(paid ?? `The result could not be written: ${error.message}${hint === null ? '' : `\n${hint}`}`);
    process.exit(EXIT.unavailable);
  });
  // A failed write to stderr (a full disk, a reader that left) must not stop the command.
  process.stderr.on('error', () => undefined);
  return {
    environment: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interactive: process.stderr.isTTY === true,
    paidFor: (text) => {
      reminder = text;
    },
    unwritten,
  };
}

/** A failed write to a file is thrown; a failed write to a pipe is an event. */
const isWriteFailure = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && error.syscall === 'write';

/** Writes synchronously, before the process ends. */
function sayAtOnce(text: string): void {
  try {
    writeSync(2, `${printable(text)}\n`);
  } catch {
    // No reader is left.
  }
}
