/** `docket sources pause` and `resume`: no more requests to a source, or for one court of it; and requests again. */
import type { Command } from 'commander';
import { isRejection } from '../../commands/decider.ts';
import { handleWithRetry } from '../../commands/handle.ts';
import { partOfSource, source as sourceRules } from '../../commands/source/source.ts';
import { LiveSourceName, sourceStream } from '../../events/source.ts';
import { systemClock } from '../../runtime/instant.ts';
import { mayCover } from '../../sources/coverage.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, print, printJson } from '../command.ts';
import { courtNamed } from '../named-court.ts';
import { type ActOptions, actContext, readAct, withActOptions } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';

type OpenStorage = (environment: NodeJS.ProcessEnv) => Promise<Storage>;

interface PauseOptions extends ActOptions {
  readonly court?: string;
  readonly json?: true;
}

const HELP = {
  pause: `
Running nodes know within a second: no look begins, and a running one is finished. Known cases are answered from what is recorded,
with their true age; an unknown case of such a court costs nothing and gets 503. Webhooks and pushes are still accepted.

Examples:
  $ docket sources pause courtlistener --reason "their maintenance, Thursday evening"
  $ docket sources pause rss --court nyed --reason "its feed repeats old entries" --by "Ann Lee"`,
  resume: `
A court that was paused with --court stays paused when the whole source is resumed.

Examples:
  $ docket sources resume courtlistener --reason "maintenance is over"
  $ docket sources resume rss --court nyed --reason "the feed is sound again"`,
} as const;

export function addPauses(group: Command, context: CliContext, open: OpenStorage): void {
  for (const type of ['pause', 'resume'] as const) {
    withActOptions(group.command(type))
      .description(
        type === 'pause'
          ? 'Send no more requests to a source, or none for one court of it.'
          : 'Send requests to a paused source again.',
      )
      .argument('<name>', LiveSourceName.options.join(', '))
      .option('--court <code>', 'only this court')
      .option('--json', 'one JSON object')
      .addHelpText('after', HELP[type])
      .action((name: string, options: PauseOptions) =>
        withStorage(open, context, (storage) => change(storage, context, type, name, options)),
      );
  }
}

/** @throws CliError for anything but the name of a live source */
export function liveSourceNamed(name: string): LiveSourceName {
  const read = LiveSourceName.safeParse(name.toLowerCase());
  if (read.success) return read.data;
  throw new CliError(
    `${name.slice(0, 64)} is not a source of this service.`,
    `Give one of ${LiveSourceName.options.join(', ')}. To end a source that pushes: docket sources token revoke NAME.`,
  );
}

/** @throws CliError for a court that the source never has: its pause would change nothing */
function coveredCourt(source: LiveSourceName, code: string): string {
  const court = courtNamed(code);
  if (mayCover(source, court)) return court.code;
  throw new CliError(
    `${source} has nothing about ${court.code}.`,
    `GET /v2/status names the source of each court; docket sources show ${source} --json lists the courts of this one.`,
  );
}

async function change(
  { log }: Storage,
  context: CliContext,
  type: 'pause' | 'resume',
  name: string,
  { json, court: code, ...options }: PauseOptions,
): Promise<void> {
  const source = liveSourceNamed(name);
  const court = code === undefined ? null : coveredCourt(source, code);
  const act = readAct(options);
  const outcome = await handleWithRetry(
    { log, clock: systemClock },
    sourceRules,
    sourceStream.itself(source),
    { type: type === 'pause' ? 'Pause' : 'Resume', source, court, ...act },
    actContext(),
  );
  if (isRejection(outcome)) throw new Error('no rule rejects it');
  const isChanged = outcome.events.length > 0;
  const { paused } = outcome.state;
  const inForce = paused.get(partOfSource(court)) ?? null;
  if (json) {
    printJson(context, { source, court, changed: isChanged, paused: inForce });
    return;
  }
  const what = court === null ? source : `${source} for ${court}`;
  if (inForce) {
    const already = `${what} was paused already, by ${inForce.by}: ${inForce.reason}`;
    print(context, isChanged ? `${what} is paused: no request is sent until it is resumed.` : already);
    return;
  }
  print(context, isChanged ? `${what} is resumed.` : `${what} is not paused.`);
  const rest = [...paused.keys()];
  if (rest.length > 0)
    print(context, `Still paused: ${rest.map((part) => (part === '*' ? `all of ${source}` : part)).join(', ')}.`);
}
