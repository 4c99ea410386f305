/** `docket sources refresh COURT CASE`: looks at one case now, and says what came of it. */
import type { Command } from 'commander';
import pino from 'pino';
import { type Config, readConfig } from '../../config.ts';
import type { Court } from '../../courts/court.ts';
import { CASES, type CaseDocument } from '../../dockets/case-document.ts';
import { createMetrics } from '../../http/admin/metrics/metrics.ts';
import { cases } from '../../projections/cases.ts';
import { createProjectionRunner, type ProjectionRunner } from '../../projections/runner.ts';
import { sourceCases } from '../../projections/source-cases.ts';
import { systemClock } from '../../runtime/instant.ts';
import { outgoingOf } from '../../service/outgoing.ts';
import { openSourceDesk } from '../../service/source-role.ts';
import { askableCoverage } from '../../sources/coverage.ts';
import type { Fault, Look } from '../../sources/source.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { caseNumberOf, courtNamed } from '../named-court.ts';
import { withStorage } from '../service-storage.ts';
import { counted } from '../status/text.ts';
import { whenStopped } from '../when-stopped.ts';
import { assertNotForgotten } from './not-forgotten.ts';

type OpenStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

const HELP = `
Asks the source of the court, whether the service runs or not, with its budget, after paid queries and before backfills, and never for
a case that another process is looking at: then it waits for that look. What the source shows is recorded as for a query.

Exit codes: 0 the case is as new as its source has it; 1 the source showed a part, has the
head of the docket alone, or knows no such case; 2 wrong usage, or no source for this court; 3 the source could not be asked.

Examples:
  $ docket sources refresh cand 3:26-cv-00042
  $ docket sources refresh scotus 25-447 --json`;

export function addRefresh(group: Command, context: CliContext, open: OpenStorage): void {
  group
    .command('refresh')
    .description('Look at one case at its source now.')
    .argument('<court>', 'code of the court')
    .argument('<case>', 'case number')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action((code: string, number: string, { json }: { readonly json?: true }) =>
      withStorage(open, context, (storage) =>
        refresh(storage, context, readConfig(context.environment), { code, number, json: json === true }),
      ),
    );
}

interface Wanted {
  readonly code: string;
  readonly number: string;
  readonly json: boolean;
}

async function refresh(storage: Storage, context: CliContext, config: Config, wanted: Wanted): Promise<void> {
  const court = courtNamed(wanted.code);
  const number = caseNumberOf(court, wanted.number);
  const [source] = askableCoverage(config.sources)(court);
  if (source === undefined) {
    throw new CliError(
      `No source that can be asked is configured for ${court.code}.`,
      'Set COURTLISTENER_TOKEN, or SCOTUS=on for the Supreme Court; a feed cannot be asked about a case. docs/sources.md has each source.',
    );
  }
  await assertNotForgotten(storage, court, number.canonical);
  const { look, filings } = await lookNow(storage, context, config, court, number.canonical);
  const asked = { court: court.code, caseNumber: number.canonical, source };
  if (look.look === 'failed') throw notAsked(look.because, asked);
  if (wanted.json) {
    printJson(context, {
      court: asked.court,
      case_number: asked.caseNumber,
      look: look.look,
      because: 'because' in look ? { fault: look.because.fault, reason: look.because.reason } : null,
      filings,
    });
  } else if (look.look === 'complete' || look.look === 'unchanged') {
    const what = look.look === 'complete' ? 'the source showed everything' : 'nothing has changed';
    const known = filings === null ? '' : `; ${counted(filings, 'filing')} known`;
    print(context, `${asked.court} ${asked.caseNumber}: ${what}${known}.`);
  }
  assertSuccess(look, asked);
}

interface Subject {
  readonly court: string;
  readonly caseNumber: string;
  readonly source: string;
}

/** @throws CliError unless the case is as new as its source has it */
function assertSuccess(look: Look, { court, caseNumber, source }: Subject): void {
  const subject = `${court} ${caseNumber}`;
  switch (look.look) {
    case 'complete':
    case 'unchanged':
      return;
    case 'partial':
      throw new FoundWrong(
        `${subject}: the source showed a part (${look.because.reason}).`,
        'What it showed is recorded, and the next look continues there: repeat the command, or leave it to the service.',
      );
    case 'not_found':
      throw new FoundWrong(
        `${subject}: the source knows no such case.`,
        'Check the number. A query for it gets 404, uncharged; docket import and pushes can still bring it.',
      );
    default:
      throw notAsked(look.because, { court, caseNumber, source });
  }
}

/** What an operator can do about a fault; others pass by themselves, or are explained by the source's page. */
const HINTS: Readonly<Partial<Record<Fault['fault'], string>>> = {
  unauthorised: 'Check COURTLISTENER_TOKEN: the token alone, of the account that the service has.',
  blocked: 'The account is blocked: write to CourtListener.',
  refused_address: 'Only public addresses are reached; SOURCES_ALLOW_PRIVATE permits others for tests.',
  paused: 'docket sources resume sends requests again.',
  no_entries:
    'The head of the docket is all that it has: the entries come with a push, a file, or another look in days.',
  budget: 'The budget of the account is spent for now: wait, or see COURTLISTENER_RATES.',
};

const notAsked = ({ fault, reason }: Fault, { court, caseNumber, source }: Subject): CliError =>
  new CliError(
    `${court} ${caseNumber}: ${fault === 'no_entries' ? 'the source has no docket' : 'the source could not be asked'} (${fault}: ${reason}).`,
    `${HINTS[fault] ?? `See docket sources show ${source}.`} A query for it is answered from what is known, or gets 503 if nothing is, uncharged.`,
    fault === 'no_entries' ? EXIT.found : EXIT.unavailable,
    { court, case_number: caseNumber, look: 'failed', because: { fault, reason } },
  );

const SILENT = { level: 'silent' } as const;
const LINE_MS = 5_000;

async function lookNow(
  storage: Storage,
  context: CliContext,
  config: Config,
  court: Court,
  caseNumber: string,
): Promise<{ readonly look: Look; readonly filings: number | null }> {
  const logger = pino(SILENT);
  const owner = leaseOwner();
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases, sourceCases],
    clock: systemClock,
    logger,
    owner,
  });
  const progress = requestProgress(context);
  const { desk, pauses, http } = openSourceDesk({
    storage,
    runner,
    config,
    clock: systemClock,
    logger,
    metrics: { ...createMetrics(), sourceAsked: progress.asked },
    owner,
    ...outgoingOf(config),
  });
  const stopped = whenStopped();
  const ending = new AbortController();
  const following = pauses.run(ending.signal);
  try {
    await runner.start();
    await pauses.ready;
    const look = await desk.look({ court, caseNumber }, { priority: 'watched', signal: stopped.signal });
    return { look, filings: 'stream' in look ? await filingsOf(storage, runner, look.stream) : null };
  } finally {
    progress.end();
    stopped.end();
    ending.abort();
    await Promise.all([desk.stop(), following]);
    await http.close();
    await runner.stop();
  }
}

/** Says how many requests were sent: on a terminal one line that is redrawn, elsewhere a line now and then. */
function requestProgress(context: CliContext) {
  let requests = 0;
  let printedAt = performance.now();
  return {
    asked(source: string, outcome: string): void {
      requests++;
      const text = `${source}: ${requests} request${requests === 1 ? '' : 's'}, the last ${outcome}`;
      if (context.interactive) context.stderr.write(`\r\u001B[K${text}`);
      else if (performance.now() - printedAt >= LINE_MS) {
        printedAt = performance.now();
        note(context, text);
      }
    },
    end(): void {
      if (context.interactive && requests > 0) context.stderr.write('\n');
    },
  };
}

const VISIBLE_WITHIN_MS = 10_000;

/** Null if the read model, which a running service may fold, does not show what was recorded in time. */
async function filingsOf(
  { log, readStore }: Storage,
  runner: Pick<ProjectionRunner, 'waitFor'>,
  stream: string,
): Promise<number | null> {
  const newest = (await log.read(stream)).at(-1);
  if (!newest || !(await runner.waitFor(cases.name, newest.position, VISIBLE_WITHIN_MS))) return null;
  const document = (await readStore.load<CaseDocument>(CASES, [stream])).get(stream)?.document;
  return document?.filingCount ?? null;
}
