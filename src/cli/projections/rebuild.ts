/** `docket projections rebuild`, `pace` and `cancel`: builds a generation beside the one that readers see. */
import type { Command } from 'commander';
import { keepGenerations, removeUseless } from '../../projections/generation-keeper.ts';
import { readGenerations } from '../../projections/generations.ts';
import { decide } from '../../projections/move-readers.ts';
import { writePace } from '../../projections/pacer.ts';
import type { Projection } from '../../projections/projection.ts';
import { projectionReports, type RebuildReport } from '../../projections/status.ts';
import { systemClock } from '../../runtime/instant.ts';
import { pause } from '../../runtime/pause.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, note, print, printJson } from '../command.ts';
import { type ActOptions, withActOptions } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import { whenStopped } from '../when-stopped.ts';
import { count, rebuildJson } from './lines.ts';
import { startRebuildProgress } from './rebuild-progress.ts';
import {
  HALT_STANDS_MS,
  haltedError,
  isFolded,
  NO_PROGRESS_MS,
  operatorPorts,
  type ProjectionsSetup,
  projectionNamed,
  whileFolding,
} from './work.ts';

interface RebuildOptions extends ActOptions {
  readonly maxRate?: string;
  readonly detach?: true;
  readonly json?: true;
}

export function addRebuildCommands(group: Command, context: CliContext, setup: ProjectionsSetup): void {
  withActOptions(group.command('rebuild'))
    .description('Build a new generation beside the one that readers see, from the whole log.')
    .argument('<name>', 'the projection')
    .option('--max-rate <events>', 'most events a second; default: as fast as the service allows')
    .option('--detach', 'leave the work to the running service and return at once')
    .option('--json', 'one JSON object when it has caught up')
    .addHelpText(
      'after',
      `
The running service builds it in the background and yields to callers; this command shows the progress, and Ctrl-C leaves
the work running. Without a service this command does the work: if it is interrupted, run it again to continue (the first
reason is the one on record). Answers come from the present generation until \`docket projections swap\`.

Examples:
  $ docket projections rebuild cases --reason "new rules for filing types"
  $ docket projections rebuild cases --reason "new rules" --max-rate 5000
  $ docket projections rebuild cases --reason "new rules" --detach`,
    )
    .action((name: string, options: RebuildOptions) =>
      withStorage(setup.open, context, (storage) => rebuild(setup, storage, context, name, options)),
    );
  group
    .command('pace')
    .description('Change how fast the rebuild that runs may go.')
    .argument('<name>', 'the projection')
    .requiredOption('--max-rate <events>', 'most events a second; off for no limit')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docket projections pace cases --max-rate 500\n  $ docket projections pace cases --max-rate off',
    )
    .action((name: string, { maxRate, json }: { readonly maxRate: string; readonly json?: true }) =>
      withStorage(setup.open, context, async (storage) => {
        const projection = projectionNamed(setup.projections, name);
        const rate = maxRate === 'off' ? null : readRate(maxRate);
        const generation = await buildingOf(storage, projection);
        await writePace(storage.readStore, name, rate);
        if (json) printJson(context, { projection: name, generation, max_rate: rate });
        else
          print(
            context,
            `${name} is built ${rate === null ? 'without a limit' : `at ${count(rate)} events/s at most`}.`,
          );
      }),
    );
  withActOptions(group.command('cancel'))
    .description('Drop the generation that is being built. Readers have not seen it.')
    .argument('<name>', 'the projection')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  $ docket projections cancel cases --reason "the new rules are wrong"')
    .action((name: string, options: RebuildOptions) =>
      withStorage(setup.open, context, (storage) => cancel(setup, storage, context, name, options)),
    );
}

async function rebuild(
  setup: ProjectionsSetup,
  storage: Storage,
  context: CliContext,
  name: string,
  options: RebuildOptions,
): Promise<void> {
  const { projections, haltStandsMs = HALT_STANDS_MS } = setup;
  const projection = projectionNamed(projections, name);
  const maxRate = options.maxRate === undefined ? null : readRate(options.maxRate);
  const ports = operatorPorts(setup, context, storage, projection, options);
  const { pointer, prepared, acts } = await keepGenerations(ports, projection);
  const isServed = await isFolded(storage, name, pointer.active);
  if (options.detach && !isServed) {
    throw new CliError(
      'No service is running that could build it.',
      'Start the service, or omit --detach.',
      EXIT.unavailable,
    );
  }
  const { building } = acts;
  if (building === null) {
    await writePace(storage.readStore, name, maxRate);
    const started = await decide(ports, {
      type: 'StartRebuild',
      present: pointer.active,
      highest: Math.max(...prepared, pointer.active),
      through: await storage.log.head(),
    });
    if ('rejected' in started) throw runsAlready(name);
    note(
      context,
      `Building generation ${started.state.building?.generation} of ${name} beside generation ${pointer.active}.`,
    );
  } else {
    if (isServed || (await isFolded(storage, name, building.generation))) throw runsAlready(name, building.generation);
    if (options.maxRate !== undefined) await writePace(storage.readStore, name, maxRate);
    note(
      context,
      `Continuing the rebuild of generation ${building.generation}, started by ${building.by}: ${building.reason}`,
    );
  }
  if (options.detach) {
    if (options.json)
      printJson(context, { projection: name, generation: await buildingOf(storage, projection), detached: true });
    else print(context, `The service builds it. Follow it with docket projections status ${name}.`);
    return;
  }
  const watch = () => follow(storage, projection, context, { isServed, haltStandsMs });
  const built = await (isServed ? watch() : whileFolding(storage, projection, 'beside', watch));
  if (options.json) printJson(context, { projection: name, ...rebuildJson(built) });
  else {
    print(context, `Generation ${built.generation} of ${name} is built: ${count(built.folded)} events folded.`);
    print(context, `Next: docket projections verify ${name}, then docket projections swap ${name} --reason "…"`);
  }
}

const runsAlready = (name: string, generation?: number): CliError =>
  new CliError(
    `A rebuild of ${name} runs already${generation === undefined ? '' : ` (generation ${generation})`}.`,
    `Follow it with docket projections status ${name}, change its speed with docket projections pace ${name}, or drop it ` +
      `with docket projections cancel ${name} --reason "…".`,
    EXIT.found,
  );

const LOOK_EVERY_MS = 250;
const COUNTED_WHILE_FOLLOWING = 1_000;
/** Under load, a generation that follows the log is always a moment behind. */
const LIVE_SECONDS = 1;

/** Shows the progress until the generation has reached the head of the log. */
async function follow(
  storage: Storage,
  projection: Projection,
  context: CliContext,
  { isServed, haltStandsMs }: { readonly isServed: boolean; readonly haltStandsMs: number },
): Promise<RebuildReport> {
  const { name } = projection;
  const stopped = whenStopped();
  const progress = startRebuildProgress(context, name);
  let haltedSince: number | null = null;
  let moved = { position: '', at: performance.now() };
  try {
    for (;;) {
      const [report] = await projectionReports(
        { ...storage, projections: [projection], clock: systemClock },
        { countUpTo: COUNTED_WHILE_FOLLOWING },
      );
      const building = report?.building;
      if (!building) throw endedMeanwhile(name);
      progress.show(building);
      const position = building.position ?? '';
      if (position !== moved.position) moved = { position, at: performance.now() };
      if (building.percent === 100 && building.secondsBehind < LIVE_SECONDS) return building;
      if (building.halt === null) haltedSince = null;
      else haltedSince ??= performance.now();
      if (building.halt && performance.now() - (haltedSince ?? 0) > haltStandsMs) {
        throw haltedError(name, building.generation, building.halt);
      }
      if (performance.now() - moved.at > NO_PROGRESS_MS) throw notMoving(name, building.percent);
      await pause(LOOK_EVERY_MS, stopped.signal);
      if (stopped.signal.aborted) throw interrupted(name, building.percent, isServed);
    }
  } finally {
    progress.end();
    stopped.end();
  }
}

const endedMeanwhile = (name: string): CliError =>
  new CliError(
    `The rebuild of ${name} ended meanwhile: it was cancelled, or readers see it already.`,
    `See docket projections status ${name}.`,
    EXIT.found,
  );

const notMoving = (name: string, percent: number): CliError =>
  new CliError(
    `The rebuild of ${name} has not moved from ${percent}% for ${NO_PROGRESS_MS / 1000} s: the service is stopped or waits for something.`,
    `See docket status. Without a service, docket projections rebuild ${name} --reason "…" continues.`,
    EXIT.unavailable,
  );

const interrupted = (name: string, percent: number, isServed: boolean): CliError =>
  new CliError(
    isServed ? `Left at ${percent}%; the service continues it.` : `Stopped at ${percent}%.`,
    isServed
      ? `Follow it with docket projections status ${name}.`
      : `To continue: docket projections rebuild ${name} --reason "…"`,
    EXIT.found,
  );

async function cancel(
  setup: ProjectionsSetup,
  storage: Storage,
  context: CliContext,
  name: string,
  options: RebuildOptions,
): Promise<void> {
  const projection = projectionNamed(setup.projections, name);
  const ports = operatorPorts(setup, context, storage, projection, options);
  const generation = await buildingOf(storage, projection);
  const decided = await decide(ports, { type: 'CancelRebuild' });
  if ('rejected' in decided) throw noRebuild(name);
  await writePace(storage.readStore, name, null);
  note(context, `Removing the documents of generation ${generation}. If this is interrupted, the service does it.`);
  // With a service running, its follower has the lease, and the service removes the documents when it has let go.
  await removeUseless(ports, name, await keepGenerations(ports, projection));
  if (options.json) printJson(context, { projection: name, generation, by: ports.by, reason: ports.reason });
  else print(context, `The rebuild of ${name} is cancelled; generation ${generation} is dropped.`);
}

/** @throws CliError if nothing is being built */
async function buildingOf(storage: Storage, { name }: Projection): Promise<number> {
  const { acts } = await readGenerations(storage, name);
  if (acts.building === null) throw noRebuild(name);
  return acts.building.generation;
}

export const noRebuild = (name: string): CliError =>
  new CliError(
    `No generation of ${name} is being built.`,
    `Start one with docket projections rebuild ${name} --reason "…".`,
    EXIT.found,
  );

function readRate(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new CliError(`--max-rate ${text.slice(0, 40)} is not a rate.`, 'Give events a second, e.g. --max-rate 2000.');
  }
  return Number(text);
}
