/** `docket demo`: the main use case end to end, run with the same commands that a user would type. */

import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { type Config, readConfig } from '../../config.ts';
import { PaymentAuthorized } from '../../events/payment.ts';
import { startService } from '../../main.ts';
import { makeFolder } from '../../runtime/make-folder.ts';
import { temporaryFolder } from '../../runtime/temporary-folder.ts';
import { openEventLog } from '../../service/open-storage.ts';
import { NETWORKS } from '../../solana/addresses.ts';
import { usdcOf, usdcText } from '../../solana/decimal-amount.ts';
import { localChainDirectory } from '../../solana/local/start-local-chain.ts';
import { type AddCommand, type CliContext, CliError, EXIT, print, printJson, type RunDocket } from '../command.ts';
import { runLive } from './live.ts';
import { type Bought, filingLine, NO_ENGINES, Shell, serviceEnvironment } from './shell.ts';

const FIXTURES = fileURLToPath(new URL('../../../fixtures/', import.meta.url));
const COURT = 'cand';
const CASE = '3:24-cv-00042';

/** One line that `docket audit replay --json` prints. */
interface ReplayedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly recordedAt: string;
  readonly requestId: string | null;
}

/**
 * The docket file of the demo. On engines it gets a number of its own: the event store keeps the docket of an earlier
 * demo, so a second demo under the same number would find no new filings.
 */
async function fixture(name: string, { engines, number, scratch }: DemoSetting): Promise<string> {
  const original = join(FIXTURES, name);
  if (!engines) return original;
  const file = join(scratch, name);
  await writeFile(file, (await readFile(original, 'utf8')).replaceAll(CASE, number));
  return file;
}

const ownNumber = (): string =>
  `${randomInt(1, 10)}:${randomInt(10, 25)}-cv-${String(randomInt(1, 100_000)).padStart(5, '0')}`;

/**
 * The demo's service settles every payment that it finds in the log, on its own chain. So it may run only on a log
 * whose payments were all made on that chain.
 */
async function assertOwnPayments(config: Config): Promise<void> {
  const { log, close } = await openEventLog(config);
  try {
    for await (const { events } of log.readAll(null, { by: 'types', types: [PaymentAuthorized.type] })) {
      for (const { data } of events) {
        const isLocal = data.network === NETWORKS.local.caip2;
        if (isLocal && existsSync(localChainDirectory(config.dataDirectory))) continue;
        throw new CliError(
          isLocal
            ? `The event store holds payments of a local chain that is not in ${config.dataDirectory}.`
            : `The event store holds payments on ${String(data.network)}.`,
          'A demo must not touch them. Give it its own event store, or the DATA_DIR of the earlier demos.',
        );
      }
    }
  } finally {
    await close();
  }
}

/** The configuration of the engines to use. */
function engineConfig(environment: NodeJS.ProcessEnv): Config {
  const config = readConfig(environment);
  if (!config.engines) {
    throw new CliError('--engines needs EVENTSTORE_URL and MONGODB_URL.', 'Set both, or leave --engines out.');
  }
  if (config.production || config.solana.network !== 'local' || config.solana.rpcUrls.length > 0) {
    throw new CliError(
      'A demo runs only on its own local chain.',
      'Unset NODE_ENV, SOLANA_NETWORK and SOLANA_RPC_URL.',
    );
  }
  return config;
}

/** The folder for the demo's data; `keep` says whether it stays afterwards. */
async function dataFolder(environment: NodeJS.ProcessEnv, keep: boolean): Promise<string> {
  const asked = environment.DATA_DIR;
  if (!keep || !asked) return mkdtemp(join(temporaryFolder(), 'docket-demo-'));
  if (existsSync(join(asked, 'log.sqlite'))) {
    throw new CliError(
      `${asked} already holds an event log.`,
      'The demo needs an empty log: set DATA_DIR to a new folder.',
    );
  }
  return resolve(asked);
}

/** @param run runs one command line of the demo */
export const createDemoCommand =
  (run: RunDocket): AddCommand =>
  (program: Command, context) => {
    program
      .command('demo')
      .description('Run a paid query and a paid delta end to end on a local chain, in seconds.')
      .option('--keep', 'keep the data afterwards, in DATA_DIR if it is set')
      .option('--engines', 'events in EVENTSTORE_URL, the rest in MONGODB_URL; the local chain stays in DATA_DIR')
      .option(
        '--live',
        'instead, a case that its sources show: found by a query, followed by feed and webhook; from a checkout',
      )
      .option('--json', 'one JSON object: transaction, charged_usd, change_count, new_filings, events, …')
      .addHelpText(
        'after',
        `
Everything runs on this machine: a service on free ports, a local chain with test money, a synthetic docket. The demo
deletes its data afterwards, unless you give --keep or use your own engines: an event store keeps its events. On
engines, every demo uses a new docket number.

Examples:
  $ npm run demo
  $ DATA_DIR=audit-me npm run demo -- --keep && DATA_DIR=audit-me npx docket audit replay payments
  $ npm run demo -- --live
  $ EVENTSTORE_URL='esdb://localhost:2113?tls=false' MONGODB_URL=mongodb://localhost:27017/demo npm run demo -- --engines`,
      )
      .action(async (options: { keep?: boolean; engines?: boolean; live?: boolean; json?: boolean }) => {
        const say = options.json ? () => undefined : (line: string) => print(context, line);
        if (options.live && options.engines) {
          throw new CliError('--live and --engines cannot be combined.', 'Leave one of them out.');
        }
        const engines = options.engines ? engineConfig(context.environment) : null;
        if (engines) await assertOwnPayments(engines);
        const keep = options.keep === true || engines !== null;
        const folder = engines ? resolve(engines.dataDirectory) : await dataFolder(context.environment, keep);
        const scratch = await mkdtemp(join(temporaryFolder(), 'docket-demo-files-'));
        try {
          makeFolder(folder);
          const place: DemoSetting = {
            folder,
            scratch,
            engines: engines !== null,
            number: engines ? ownNumber() : CASE,
          };
          const shown = options.live
            ? await runLive(context, folder, say, run)
            : await runDemo(context, place, say, run);
          if (options.json) printJson(context, { ...shown, data_dir: keep ? folder : null });
          else if (keep) print(context, `\nThe ${engines ? 'local chain' : 'data'} is in ${folder}.`);
        } finally {
          await rm(scratch, { recursive: true, force: true });
          if (!keep) await rm(folder, { recursive: true, force: true });
        }
      });
  };

interface DemoSetting {
  /** The data folder of the service. */
  readonly folder: string;
  /** For files that the demo itself writes. */
  readonly scratch: string;
  readonly engines: boolean;
  /** Number of the synthetic docket. */
  readonly number: string;
}

/** Runs the steps of the demo. */
async function runDemo(context: CliContext, place: DemoSetting, say: (line: string) => void, run: RunDocket) {
  const { folder, number } = place;
  const environment = await serviceEnvironment(context, folder, place.engines ? {} : NO_ENGINES);
  const service = await startService(readConfig(environment));
  try {
    say(`A service is running at ${service.url}, with a local Solana chain at ${service.rpcUrl} (test money).`);
    if (place.engines) for (const line of service.banner.filter((line) => line.includes('storage'))) say(line);
    const shell = new Shell(context, environment, say, run);

    await shell.run('import', await fixture('demo-before.json', place));
    say('The service now has a synthetic docket.');

    const keyFile = join(place.engines ? place.scratch : folder, 'demo-wallet.json');
    const { address } = await shell.json<{ address: string }>('wallet', 'new', '--out', keyFile);
    await shell.run('wallet', 'fund', address, '--usdc', '5', '--sol', '0.01');
    say(`Wallet ${address} has 5 test USDC.`);

    const ask = ['query', '--court-code', COURT, '--case-id', number, '--keypair', keyFile];
    const first = await shell.json<Bought>(...ask);
    const { case_name, court_name, filing_count } = first.answer.case;
    say(`${case_name}, ${court_name}: ${filing_count} filings.`);
    say(`Paid ${first.charged_usd} USDC by x402 in the same call; transaction ${first.transaction}`);

    await shell.run('import', await fixture('demo-after.json', place));
    say('The court has docketed more filings. What is new since the first query?');

    const second = await shell.json<Bought>(...ask, '--last-checked', first.queried_at);
    const { delta } = second.answer;
    if (!delta)
      throw new CliError('The answer has no delta.', 'This is a bug in the service; please report it.', EXIT.found);
    for (const filing of delta.new_filings) say(filingLine('new', filing));
    for (const filing of delta.updated_filings) say(filingLine('changed', filing));
    say(`Paid ${second.charged_usd} USDC; transaction ${second.transaction}`);

    const paidEvents = await replayed(shell, 'payments', '--wallet', address);
    sayStreams(paidEvents, say);
    const docketEvents = await replayed(shell, 'dockets', '--stream', `docket-${COURT}-${number}`);
    sayStreams(docketEvents, say);
    const events = [...paidEvents, ...docketEvents];

    const { usdc } = await shell.json<{ usdc: string }>('wallet', 'balance', address);
    say(`\nThe wallet has ${usdc} USDC left: two answers, 0.99 each, nothing else.`);
    return {
      transaction: second.transaction,
      transactions: [first.transaction, second.transaction],
      charged_usd: Number(usdcText(usdcOf(String(first.charged_usd)) + usdcOf(String(second.charged_usd)))),
      wallet: address,
      wallet_usdc_left: usdc,
      case_number: number,
      court_code: COURT,
      filing_count,
      last_checked: first.queried_at,
      change_count: delta.change_count,
      new_filings: delta.new_filings,
      updated_filings: delta.updated_filings,
      events: events.map(({ stream, revision, type, recordedAt }) => ({ stream, revision, type, recordedAt })),
    };
  } finally {
    await service.stop();
  }
}

async function replayed(shell: Shell, ...args: readonly string[]): Promise<readonly ReplayedEvent[]> {
  const text = await shell.run('audit', 'replay', ...args);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReplayedEvent);
}

/** Prints the streams, each with its events in order. */
function sayStreams(events: readonly ReplayedEvent[], say: (line: string) => void): void {
  const streams = new Map<string, ReplayedEvent[]>();
  for (const event of events) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
  for (const [stream, inOrder] of streams) {
    say(`  ${stream}`);
    for (const { revision, type, recordedAt } of inOrder) say(`    ${revision}  ${type.padEnd(22)} ${recordedAt}`);
  }
}
