/** `docket projections verify`, `swap` and `rollback`: compares two generations, and moves readers between them. */
import type { Command } from 'commander';
import { type Comparison, compareGenerations, type DocumentDifference } from '../../projections/compare-generations.ts';
import { keepGenerations, removeUseless } from '../../projections/generation-keeper.ts';
import { type Moved, type MovePorts, type MoveRejection, rollback, swap } from '../../projections/move-readers.ts';
import type { Projection } from '../../projections/projection.ts';
import type { Storage } from '../../storage/storage.ts';
import { type CliContext, CliError, EXIT, FoundWrong, note, print, printJson } from '../command.ts';
import { type ActOptions, withActOptions } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import { count } from './lines.ts';
import { noRebuild } from './rebuild.ts';
import { operatorPorts, type ProjectionsSetup, projectionNamed, untilFolded, whileFolding } from './work.ts';

interface MoveOptions extends ActOptions {
  readonly sample: string;
  readonly acceptDifferences?: true;
  readonly json?: true;
}

const SAMPLE = '5';
const PROGRESS_MS = 5_000;

export function addMoveCommands(group: Command, context: CliContext, setup: ProjectionsSetup): void {
  group
    .command('verify')
    .description('Compare the generation that is being built with the one that readers see, document by document.')
    .argument('<name>', 'the projection')
    .option('--sample <count>', 'how many differing documents to show', SAMPLE)
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Both go on following the log meanwhile: a document that changes is read again until both show the same state of the log.
Without a rebuild, the generation kept for a rollback is compared. Exit code 1 if they differ.

Examples:
  $ docket projections verify cases
  $ docket projections verify cases --sample 50 --json`,
    )
    .action((name: string, options: MoveOptions) =>
      withStorage(setup.open, context, (storage) => verify(setup, storage, context, name, options)),
    );
  withActOptions(group.command('swap'))
    .description('Make readers see the generation that was built. Refused while it is behind or differs.')
    .argument('<name>', 'the projection')
    .option('--accept-differences', 'swap although documents differ; say in --reason why that is right')
    .option('--sample <count>', 'how many differing documents to show', SAMPLE)
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
Runs the verification first. One pointer moves, so every answer comes from one generation or the other. The old one
follows the log for 24 hours (PROJECTION_GRACE_HOURS), and \`rollback\` returns to it.

Examples:
  $ docket projections swap cases --reason "the new rules are right"
  $ docket projections swap cases --accept-differences --reason "the new fold adds the judge"`,
    )
    .action((name: string, options: MoveOptions) =>
      withStorage(setup.open, context, (storage) => swapReaders(setup, storage, context, name, options)),
    );
  withActOptions(group.command('rollback'))
    .description('Make readers see the generation before the last swap again.')
    .argument('<name>', 'the projection')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExample:\n  $ docket projections rollback cases --reason "parties are missing in answers"')
    .action((name: string, options: MoveOptions) =>
      withStorage(setup.open, context, (storage) => rollbackReaders(setup, storage, context, name, options)),
    );
}

async function verify(
  setup: ProjectionsSetup,
  storage: Storage,
  context: CliContext,
  name: string,
  options: MoveOptions,
): Promise<void> {
  const { haltStandsMs } = setup;
  const projection = projectionNamed(setup.projections, name);
  const sample = readSample(options.sample);
  const ports = operatorPorts(setup, context, storage, projection, { reason: 'verify' });
  const { pointer, acts, roles } = await keepGenerations(ports, projection);
  const other = acts.building?.generation ?? [...roles].find(([, role]) => role === 'previous')?.[0];
  if (other === undefined) throw noRebuild(name);
  const from = pointer.active;
  const comparison = await whileFolding(storage, projection, 'all', () =>
    compareGenerations({
      ...{ log: storage.log, readStore: storage.readStore, projection, from, to: other, sample },
      untilBoth: (position) => untilFolded(storage, name, [from, other], position, haltStandsMs),
      compared: progressTo(context, name),
    }),
  );
  const found = comparisonJson(comparison);
  if (options.json) printJson(context, { projection: name, from, to: other, ...found });
  else printComparison(context, { projection, from, to: other, comparison });
  const isKept = roles.get(other) === 'previous';
  if (comparison.differences + comparison.undecided > 0) throw differ(name, from, other, comparison, { isKept });
  if (!options.json) print(context, `Generations ${from} and ${other} of ${name} are the same.`);
}

async function swapReaders(
  setup: ProjectionsSetup,
  storage: Storage,
  context: CliContext,
  name: string,
  options: MoveOptions,
): Promise<void> {
  const projection = projectionNamed(setup.projections, name);
  const sample = readSample(options.sample);
  const acceptDifferences = options.acceptDifferences === true;
  const ports = movePorts(setup, context, storage, projection, options);
  const compared = progressTo(context, name);
  const outcome = await whileFolding(storage, projection, 'all', () =>
    swap(ports, { acceptDifferences, sample, compared }),
  );
  if ('rejected' in outcome) {
    const { comparison } = outcome as { readonly comparison?: Comparison };
    if (outcome.rejected !== 'differs' || !comparison) throw refused(name, outcome.rejected);
    const { pointer, acts } = await keepGenerations(ports, projection);
    const [from, to] = [pointer.active, acts.building?.generation ?? 0];
    if (options.json) printJson(context, { projection: name, swapped: false, from, to, ...comparisonJson(comparison) });
    else printComparison(context, { projection, from, to, comparison });
    throw differ(name, from, to, comparison, { consequence: 'Nothing was swapped. ' });
  }
  await removeUseless(ports, name, await keepGenerations(ports, projection));
  printMoved(context, projection, outcome, options);
}

async function rollbackReaders(
  setup: ProjectionsSetup,
  storage: Storage,
  context: CliContext,
  name: string,
  options: MoveOptions,
): Promise<void> {
  const projection = projectionNamed(setup.projections, name);
  const ports = movePorts(setup, context, storage, projection, options);
  const outcome = await whileFolding(storage, projection, 'all', () => rollback(ports));
  if ('rejected' in outcome) throw refused(name, outcome.rejected);
  printMoved(context, projection, outcome, options);
}

function printMoved(context: CliContext, { name }: Projection, { from, to, comparison }: Moved, options: MoveOptions) {
  if (options.json) {
    const compared = comparison && comparisonJson(comparison);
    printJson(context, { projection: name, swapped: true, from, to, ...compared });
    return;
  }
  print(
    context,
    `Readers of ${name} see generation ${to} from now on; generation ${from} is kept for its grace period.`,
  );
  if (comparison) print(context, `To return: docket projections rollback ${name} --reason "…"`);
}

const movePorts = (
  setup: ProjectionsSetup,
  context: CliContext,
  storage: Storage,
  projection: Projection,
  options: ActOptions,
): MovePorts => ({
  ...operatorPorts(setup, context, storage, projection, options),
  untilFolded: (generations, position) =>
    untilFolded(storage, projection.name, generations, position, setup.haltStandsMs),
});

function refused(name: string, rejection: MoveRejection): CliError {
  const see = `See docket projections status ${name}.`;
  switch (rejection) {
    case 'not_building':
      return noRebuild(name);
    case 'no_previous':
      return new CliError(
        `There is no generation of ${name} to return to.`,
        `No earlier generation is kept. ${see}`,
        EXIT.found,
      );
    case 'rolled_back':
      return new CliError(`Readers of ${name} were moved back already.`, see, EXIT.found);
    case 'moving':
      return new CliError(
        `Another operator is moving the readers of ${name} now.`,
        `Wait for it; a command that was killed blocks others for 15 seconds. ${see}`,
        EXIT.found,
      );
    default:
      return new CliError(
        `Another operator acted on ${name} meanwhile (${rejection}).`,
        `${see} Then repeat.`,
        EXIT.found,
      );
  }
}

function differ(
  name: string,
  from: number,
  to: number,
  { differences, undecided }: Comparison,
  { consequence = '', isKept = false }: { readonly consequence?: string; readonly isKept?: boolean },
): FoundWrong {
  const between = `between generations ${from} and ${to}`;
  if (differences === 0) {
    return new FoundWrong(
      `${consequence}${count(undecided)} documents of ${name} change too often to be compared ${between}.`,
      'Nothing differs otherwise. Repeat it when less is sold; see docket status.',
    );
  }
  const accept = `docket projections swap ${name} --accept-differences --reason "…"`;
  return new FoundWrong(
    `${consequence}${count(differences)} documents of ${name} differ ${between}.`,
    isKept
      ? `Generation ${to} was seen before. Either may be wrong: docket projections rebuild ${name} --reason "…" builds a third.`
      : `If they should differ: ${accept}`,
  );
}

function printComparison(
  context: CliContext,
  { projection, from, to, comparison }: { projection: Projection; from: number; to: number; comparison: Comparison },
): void {
  const { position, collections, sample, differences, undecided } = comparison;
  print(context, `${projection.name}: generation ${from} against ${to}, compared at ${position ?? 'the empty log'}`);
  for (const each of collections) {
    print(
      context,
      `  ${each.collection}: ${count(each.from)} and ${count(each.to)} documents, ${count(each.differences)} differ`,
    );
  }
  if (undecided > 0) print(context, `  ${count(undecided)} documents change too often to be compared`);
  for (const difference of sample) for (const line of differenceLines(difference, from, to)) print(context, line);
  if (differences > sample.length && sample.length > 0) {
    print(context, `… and ${count(differences - sample.length)} more (--sample ${differences})`);
  }
}

function differenceLines(difference: DocumentDifference, from: number, to: number): readonly string[] {
  const { collection, id, fromHash, toHash, fields } = difference;
  const where = fromHash === null ? ` (only in ${to})` : toHash === null ? ` (only in ${from})` : '';
  return [
    `${collection} ${id}${where}`,
    ...fields.flatMap(({ path, from: before, to: after }) => [
      ...(before === null ? [] : [`  - ${path === '' ? '' : `${path}: `}${before}`]),
      ...(after === null ? [] : [`  + ${path === '' ? '' : `${path}: `}${after}`]),
    ]),
  ];
}

const comparisonJson = ({ position, collections, documents, differences, undecided, sample }: Comparison): object => ({
  compared_at: position,
  documents,
  differences,
  undecided,
  collections,
  sample: sample.map(({ fromHash, toHash, ...rest }) => ({ ...rest, from_hash: fromHash, to_hash: toHash })),
});

function progressTo(context: CliContext, name: string): (documents: number) => void {
  let shownAt = performance.now();
  return (documents) => {
    const now = performance.now();
    if (now - shownAt < (context.interactive ? 200 : PROGRESS_MS)) return;
    shownAt = now;
    const text = `${name}: ${count(documents)} documents compared`;
    if (context.interactive) context.stderr.write(`\r\u001B[K${text}\r`);
    else note(context, text);
  };
}

function readSample(text: string): number {
  if (!/^\d{1,6}$/.test(text))
    throw new CliError(`--sample ${text.slice(0, 40)} is not a number.`, 'Give a whole number.');
  return Number(text);
}
