/**
 * `docket demo --live`: a case that nobody imported. The query finds it, the court's feed names a new filing within
 * seconds, a webhook brings its text, and its document is sealed later. The sources are imitations from a checkout.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../config.ts';
import { FILINGS, type FilingDocument } from '../../dockets/case-document.ts';
import { docketStream } from '../../events/docket.ts';
import { type Service, startService } from '../../main.ts';
import { MICROS_PER_SECOND } from '../../runtime/instant.ts';
import { type CliContext, CliError, EXIT, type RunDocket } from '../command.ts';
import { type Bought, filingLine, NO_ENGINES, Shell, serviceEnvironment } from './shell.ts';

const IMITATIONS = fileURLToPath(new URL('../../../test/sources/serve.mjs', import.meta.url));
const COURT = 'ilnd';
const CASE = '1:26-cv-02417';
/** Courts are asked every five minutes; the imitation of one has no objection to this. */
const FEED_INTERVAL = MICROS_PER_SECOND;
const PATIENCE_MS = 60_000;

export async function runLive(context: CliContext, folder: string, say: (line: string) => void, run: RunDocket) {
  const sources = await startImitations();
  try {
    return await runWith(sources, context, folder, say, run);
  } finally {
    await sources.stop();
  }
}

async function runWith(
  sources: Imitations,
  context: CliContext,
  folder: string,
  say: (line: string) => void,
  run: RunDocket,
) {
  const environment = await serviceEnvironment(context, folder, { ...NO_ENGINES, ...sources.variables });
  const service = await startService(readConfig(environment), { feedInterval: FEED_INTERVAL });
  try {
    say(
      `A service is running at ${service.url}. Its sources are imitations on this machine: CourtListener, court feeds.`,
    );
    const shell = new Shell(context, environment, say, run);
    const keyFile = join(folder, 'demo-wallet.json');
    const { address } = await shell.json<{ address: string }>('wallet', 'new', '--out', keyFile);
    await shell.run('wallet', 'fund', address, '--usdc', '5', '--sol', '0.01');

    const standing = await unpaid(service);
    say(`Before payment: known ${standing.known}, to be asked at ${standing.source}. No source was asked for that.`);
    const ask = ['query', '--court-code', COURT, '--case-id', CASE, '--keypair', keyFile];
    const found = await shell.json<Bought>(...ask);
    const { case_name, court_name, filing_count } = found.answer.case;
    say(`${case_name}, ${court_name}: ${filing_count} filings, found by the query. Paid ${found.charged_usd} USDC.`);

    await shell.run('sources', 'courtlistener', 'subscribe', COURT, CASE);
    const began = performance.now();
    say(`\n${await sources.command('enter')}`);
    await until('the feed brought it', async () => (await filings(service)).length > filing_count);
    const feedSeconds = (performance.now() - began) / 1000;
    const named = await shell.json<Bought>(...ask, '--last-checked', found.queried_at);
    const [stub] = deltaOf(named).new_filings;
    if (stub) say(filingLine('new', stub));
    say(`The feed brought it ${feedSeconds.toFixed(1)} seconds after the clerk had entered it.`);

    say(`\n${await sources.command(`tell ${service.url}`)}`);
    await until('the webhook brought its text', async () =>
      (await filings(service)).some(
        ({ entryNumber, description }) => entryNumber === stub?.entry_number && description.startsWith('MOTION'),
      ),
    );
    const revised = await shell.json<Bought>(...ask, '--last-checked', named.queried_at);
    for (const filing of deltaOf(revised).updated_filings) say(filingLine('changed', filing));

    say(`\n${await sources.command('seal')}`);
    await shell.run('sources', 'refresh', COURT, CASE);
    await until('the seal is known', async () => (await filings(service)).some(({ sealed }) => sealed));
    const sealed = await shell.json<Bought>(...ask, '--last-checked', revised.queried_at);
    const [last] = deltaOf(sealed).updated_filings;
    if (last)
      say(
        `${filingLine('sealed', last)}\n  sealed: ${last.sealed}; document ${last.document_identifier ?? 'not served'}`,
      );

    const { usdc } = await shell.json<{ usdc: string }>('wallet', 'balance', address);
    say(`\nThe wallet has ${usdc} USDC left: four answers, 0.99 each.`);
    return {
      case_number: CASE,
      court_code: COURT,
      known_before: standing.known,
      source: standing.source,
      filing_count,
      feed_seconds: Number(feedSeconds.toFixed(3)),
      new_filing: stub ?? null,
      updated_filing: deltaOf(revised).updated_filings[0] ?? null,
      sealed_filing: last ?? null,
      wallet_usdc_left: usdc,
    };
  } finally {
    await service.stop();
  }
}

interface Imitations {
  readonly variables: NodeJS.ProcessEnv;
  /** What it did, in words. */
  command(line: string): Promise<string>;
  stop(): Promise<void>;
}

async function startImitations(): Promise<Imitations> {
  if (!existsSync(IMITATIONS)) {
    throw new CliError(
      'The imitations of sources are not part of the package.',
      'Run the demo from a checkout: npm ci && npm run demo -- --live',
    );
  }
  const child = spawn(process.execPath, [IMITATIONS, '--json'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> => {
    const { value, done } = await lines.next();
    if (done) throw new CliError('The imitations of sources have ended.', 'See what they printed above.', EXIT.found);
    return JSON.parse(value) as Record<string, unknown>;
  };
  const { variables } = await next();
  return {
    variables: variables as NodeJS.ProcessEnv,
    async command(line) {
      child.stdin.write(`${line}\n`);
      const { done, error } = await next();
      if (typeof done !== 'string')
        throw new CliError(`The imitations could not carry out ${line}: ${error}`, '', EXIT.found);
      return done;
    },
    stop: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.stdin?.end();
  await exit;
}

interface Standing {
  readonly known: boolean;
  readonly source: string;
}

/** What the payment terms say of the case. */
async function unpaid({ url }: Service): Promise<Standing> {
  const answer = await fetch(`${url}/v2/case?court_code=${COURT}&case_id=${encodeURIComponent(CASE)}`);
  const text = await answer.text();
  const { error } = JSON.parse(text) as { readonly error?: { readonly details?: Standing } };
  const details = error?.details;
  if (!details) throw new CliError('The payment terms say nothing of the case.', text.slice(0, 300), EXIT.found);
  return details;
}

async function filings({ storage }: Service): Promise<readonly FilingDocument[]> {
  const found = await storage.readStore.find<FilingDocument>({
    collection: FILINGS,
    equals: { case: docketStream(COURT, CASE) },
    limit: 100,
  });
  return found.map(({ document }) => document);
}

function deltaOf({ answer }: Bought): NonNullable<Bought['answer']['delta']> {
  if (!answer.delta)
    throw new CliError('The answer has no delta.', 'This is a bug in the service; please report it.', EXIT.found);
  return answer.delta;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > PATIENCE_MS) {
      throw new CliError(
        `Not within a minute: ${what}.`,
        'This is a bug in the service; please report it.',
        EXIT.found,
      );
    }
    await delay(50);
  }
}
