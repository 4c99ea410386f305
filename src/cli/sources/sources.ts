/** `docket sources`: where dockets come from, what of it is paused, and the tokens with which others push. */
import type { Command } from 'commander';
import { isRejection } from '../../commands/decider.ts';
import { handleWithRetry } from '../../commands/handle.ts';
import { MOST_TOKENS, type SourceTokenCommand, sourceToken } from '../../commands/source-token/source-token.ts';
import { newSourceToken, sourceTokenHash, sourceTokenId } from '../../commands/source-token/token.ts';
import { readConfig } from '../../config.ts';
import { operatorStream, sourceSubject } from '../../events/operator.ts';
import type { SourceToken } from '../../projections/operator-acts.ts';
import { sourceRecords } from '../../projections/source-records.ts';
import { type ListedSource, listSources, validTokens } from '../../queries/sources.ts';
import { systemClock } from '../../runtime/instant.ts';
import { sourceNameFault } from '../../sources/source-name.ts';
import type { Storage } from '../../storage/storage.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from '../command.ts';
import { noteIfIncomplete } from '../list-completeness.ts';
import { courtNamed } from '../named-court.ts';
import { type ActOptions, actContext, readAct } from '../operator-act.ts';
import { openOwnStorage, openServiceStorage, withStorage } from '../service-storage.ts';
import { addBackfill } from './backfill.ts';
import { addCourtListener } from './courtlistener.ts';
import { liveLine, liveSources, shownLive } from './live-sources.ts';
import { addPauses } from './pause.ts';
import { addRefresh } from './refresh.ts';
import { addShow } from './show.ts';

type OpenStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

interface TokenOptions extends Partial<ActOptions> {
  readonly json?: true;
}

const HELP = `
Live sources are asked or read by this service: courtlistener (its API), rss (the courts' feeds), scotus (the Supreme Court's files).
They are configured by variables (docket config --help); docs/sources.md says how. Give commands the settings of the service.

A source that pushes sends dockets to POST /ingest/dockets of the public port, with a token that you issue for it. Its name marks
what it brings. docs/pushing.md is the page for its author.

Examples:
  $ docket sources token new county-scraper --courts ok_tulsa,ok_oklahoma
  $ docket sources list
  $ docket sources show rss cand
  $ docket sources pause courtlistener --reason "their maintenance"
  $ docket sources token revoke county-scraper --reason "the machine was sold"`;

/** @param openNew opens the storage even if nothing has been recorded yet */
export const createSourcesCommand =
  (open: OpenStorage, openNew: OpenStorage = open): AddCommand =>
  (program, context) => {
    const group = program
      .command('sources')
      .description('The sources of dockets: list, show, pause; tokens for those that push.')
      .addHelpText('after', HELP);
    group
      .command('list')
      .description(
        'Live sources with standing, budget and last success; sources that may push, and when each did last.',
      )
      .option('--json', 'one JSON object per line')
      .addHelpText('after', '\nExample:\n  $ docket sources list --json')
      .action((options: TokenOptions) => withStorage(open, context, (storage) => list(storage, context, options)));
    addShow(group, context, open);
    addPauses(group, context, open);
    addRefresh(group, context, openNew);
    addBackfill(group, context, open);
    addCourtListener(group, context, open);
    const tokens = group
      .command('token')
      .description('Issue, list and revoke tokens.')
      .addHelpText('after', '\nExamples:\n  $ docket sources token new county-scraper\n  $ docket sources token list');
    withAct(tokens.command('new'))
      .description('Issue a token. It is shown once: only its hash is recorded.')
      .argument('<name>', 'name of the source: lower-case letters, digits, hyphens')
      .option('--courts <list>', 'court codes, separated by commas (default: all courts)')
      .option('--json', 'one JSON object')
      .addHelpText('after', NEW_HELP)
      .action((name: string, options: TokenOptions & { readonly courts?: string }) =>
        withStorage(openNew, context, (storage) => issue(storage, context, name, options)),
      );
    tokens
      .command('list')
      .description('Valid tokens, by source.')
      .option('--json', 'one JSON object per line')
      .addHelpText('after', '\nExample:\n  $ docket sources token list')
      .action((options: TokenOptions) =>
        withStorage(open, context, (storage) => listTokens(storage, context, options)),
      );
    withAct(tokens.command('revoke'))
      .description('Revoke every token of a source, or one.')
      .argument('<name>', 'name of the source')
      .option('--token <id>', 'only this one, by its id in docket sources token list')
      .option('--json', 'one JSON object')
      .addHelpText('after', REVOKE_HELP)
      .action((name: string, options: TokenOptions & { readonly token?: string }) =>
        withStorage(open, context, (storage) => revoke(storage, context, name, options)),
      );
  };

const NEW_HELP = `
A source may have ${MOST_TOKENS} tokens, so that a new one can replace another without a gap: issue, change it at the source, revoke the
old one. Running nodes know a new token within a second.

Examples:
  $ docket sources token new county-scraper
  $ docket sources token new ninth-circuit --courts ca9,cand,cacd --by "Ann Lee" --reason "agreed by mail"`;

const REVOKE_HELP = `
What came with a token stays. Running nodes know within a second.

Examples:
  $ docket sources token revoke county-scraper
  $ docket sources token revoke county-scraper --token 3f6c0a4be921 --reason "it leaked"`;

/** Scripts issue tokens, so a reason may be left out. */
const withAct = (command: Command): Command =>
  command
    .option('--reason <text>', 'why; recorded in the log (default: none given)')
    .option('--by <name>', 'who decided it; recorded (default: the current user)');

const actOf = ({ reason = 'none given', by }: TokenOptions) => readAct({ reason, ...(by !== undefined && { by }) });

/** The command on the storage that the service uses. */
export const addSourcesCommand: AddCommand = createSourcesCommand(
  (environment) => openServiceStorage(environment),
  (environment) => openOwnStorage(readConfig(environment)),
);

async function issue(
  storage: Storage,
  context: CliContext,
  source: string,
  options: TokenOptions & { readonly courts?: string },
): Promise<void> {
  assertName(source);
  const courts = readCourts(options.courts);
  const token = newSourceToken();
  const tokenHash = sourceTokenHash(token);
  await change(storage, source, { type: 'Issue', issued: { source, tokenHash, courts, ...actOf(options) } });
  const id = sourceTokenId(tokenHash);
  if (options.json) {
    printJson(context, { source, token, token_id: id, courts });
    return;
  }
  print(context, token);
  note(context, `Token ${id} of ${source}, for ${courts === null ? 'all courts' : courts.join(', ')}.`);
  note(context, 'It is shown only now: keep it where the source reads its secrets.');
}

async function revoke(
  storage: Storage,
  context: CliContext,
  source: string,
  options: TokenOptions & { readonly token?: string },
): Promise<void> {
  assertName(source);
  const { token: tokenId = null } = options;
  if (tokenId !== null && !/^[0-9a-f]{8,64}$/.test(tokenId)) {
    throw new CliError(
      'This is not the id of a token.',
      'Give its id from docket sources token list, at least 8 of its characters; never the token itself.',
    );
  }
  const revoked = await change(storage, source, { type: 'Revoke', source, tokenId, ...actOf(options) });
  if (revoked.length === 0) {
    throw new CliError(
      tokenId === null ? `${source} has no valid token.` : `${source} has no valid token ${tokenId}.`,
      'See docket sources token list.',
      EXIT.found,
    );
  }
  const ids = revoked.map(({ data }) => sourceTokenId(data.tokenHash));
  if (options.json) printJson(context, { source, revoked: ids });
  else print(context, `Revoked of ${source}: ${ids.join(', ')}.`);
}

async function change({ log }: Storage, source: string, command: SourceTokenCommand) {
  const stream = operatorStream(sourceSubject(source));
  const outcome = await handleWithRetry({ log, clock: systemClock }, sourceToken, stream, command, actContext());
  if (!isRejection(outcome)) return outcome.events;
  throw new CliError(
    `${source} has ${MOST_TOKENS} valid tokens already.`,
    `Revoke one first: docket sources token list, then docket sources token revoke ${source} --token ID.`,
    EXIT.found,
  );
}

async function list(storage: Storage, context: CliContext, { json }: TokenOptions): Promise<void> {
  const live = await liveSources(storage, readConfig(context.environment));
  for (const source of live) {
    if (json) printJson(context, shownLive(source));
    else print(context, liveLine(source));
  }
  const sources = await listSources(storage);
  for (const source of sources) {
    if (json) printJson(context, shownSource(source));
    else print(context, sourceLine(source));
  }
  if (!json && sources.length === 0)
    print(context, 'No source may push dockets. Issue a token with docket sources token new.');
  if (live.length > 0) await noteIfIncomplete(context, storage, sourceRecords);
}

const shownSource = ({ name, tokens, courts, lastPush }: ListedSource) => ({
  name,
  kind: 'push',
  tokens: tokens.length,
  courts,
  last_push_at: lastPush?.at ?? null,
  last_push: lastPush && { recorded: lastPush.recorded, unchanged: lastPush.unchanged, refused: lastPush.refused },
});

function sourceLine({ name, tokens, courts, lastPush }: ListedSource): string {
  const last = lastPush
    ? `last ${lastPush.at.slice(0, 16)}: ${lastPush.recorded} recorded, ${lastPush.unchanged} unchanged, ${lastPush.refused} refused`
    : 'never pushed';
  const count = tokens.length === 1 ? '1 token ' : `${tokens.length} tokens`;
  return `${name.padEnd(24)} push  ${count}  ${last}  ${courtsText(courts)}`;
}

const MOST_SHOWN = 10;

const courtsText = (courts: readonly string[] | null): string => {
  if (courts === null) return 'all courts';
  const more = courts.length - MOST_SHOWN;
  return `${courts.slice(0, MOST_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

async function listTokens(storage: Storage, context: CliContext, { json }: TokenOptions): Promise<void> {
  const tokens = await validTokens(storage);
  for (const token of tokens) {
    if (json) printJson(context, shownToken(token));
    else {
      const { source, tokenHash, courts, since, by, reason } = token;
      const issued = `issued ${since.slice(0, 16)} by ${by} (${reason})`;
      print(context, `${source.padEnd(24)} ${sourceTokenId(tokenHash)}  ${issued}  ${courtsText(courts)}`);
    }
  }
  if (!json && tokens.length === 0) print(context, 'No valid token.');
}

const shownToken = ({ source, tokenHash, courts, since, by, reason }: SourceToken) => ({
  source,
  token_id: sourceTokenId(tokenHash),
  courts,
  issued_at: since,
  by,
  reason,
});

function assertName(name: string): void {
  const fault = sourceNameFault(name);
  if (fault !== null) {
    throw new CliError(`This name cannot be used: ${fault}.`, 'Give a name such as county-scraper.');
  }
}

function readCourts(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  const codes = list
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '');
  if (codes.length === 0)
    throw new CliError('--courts names no court.', 'Give codes such as ca9,cand, or leave it out for all courts.');
  return [...new Set(codes.map((code) => courtNamed(code).code))];
}
