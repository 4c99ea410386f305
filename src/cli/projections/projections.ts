/** `docket projections`: shows the read models, rebuilds them beside the ones in use, and moves readers between them. */
import { readConfig } from '../../config.ts';
import { PROJECTIONS } from '../../projections/all.ts';
import { projectionReports } from '../../projections/status.ts';
import { systemClock } from '../../runtime/instant.ts';
import { type AddCommand, type CliContext, print, printJson } from '../command.ts';
import { openServiceStorage, withStorage } from '../service-storage.ts';
import { listLines, projectionJson, statusLines } from './lines.ts';
import { addMoveCommands } from './move.ts';
import { addRebuildCommands } from './rebuild.ts';
import { addSkipCommand } from './skip.ts';
import { type ProjectionsSetup, projectionNamed } from './work.ts';

const HELP = `
A read model can be thrown away and folded again from the log. \`rebuild\` builds a new generation beside the one that
answers come from; \`verify\` compares the two; \`swap\` makes the new one answer; \`rollback\` returns to the old one.
Works with the service running or stopped.

Examples:
  $ docket projections list
  $ docket projections rebuild cases --reason "new rules for filing types"
  $ docket projections verify cases
  $ docket projections swap cases --reason "verified"
  $ docket projections rollback cases --reason "parties are missing in answers"
  $ docket projections skip cases --position 00000000000000004711 --reason "ticket 812: damaged import"`;

export const createProjectionsCommand =
  (setup: ProjectionsSetup): AddCommand =>
  (program, context) => {
    const group = program
      .command('projections')
      .description('Show, rebuild, compare and swap the read models.')
      .addHelpText('after', HELP);
    group
      .command('list')
      .description('List all projections: active generation, lag, documents, and generations being built or kept.')
      .option('--json', 'one JSON object per line')
      .addHelpText(
        'after',
        `
BEHIND: events of the log that it has not folded. OLDEST: age of the first of them. MOVED: when it last moved.

Examples:
  $ docket projections list
  $ docket projections list --json`,
      )
      .action(({ json }: { readonly json?: true }) => show(setup, context, null, json, 'list'));
    group
      .command('status')
      .description('Show one projection, or all, with every generation: progress, halts and what to do about them.')
      .argument('[name]', 'the projection; all if omitted')
      .option('--json', 'one JSON object per projection and line')
      .addHelpText('after', '\nExamples:\n  $ docket projections status cases\n  $ docket projections status --json')
      .action((name: string | undefined, { json }: { readonly json?: true }) =>
        show(setup, context, name ?? null, json, 'status'),
      );
    addRebuildCommands(group, context, setup);
    addMoveCommands(group, context, setup);
    addSkipCommand(group, context, setup);
  };

export const addProjectionsCommand: AddCommand = createProjectionsCommand({
  open: (environment) => openServiceStorage(environment),
  projections: PROJECTIONS,
  graceMs: (environment) => readConfig(environment).projectionGraceHours * 3_600_000,
});

async function show(
  { open, projections, graceMs }: ProjectionsSetup,
  context: CliContext,
  name: string | null,
  json: true | undefined,
  as: 'list' | 'status',
): Promise<void> {
  const shown = name === null ? projections : [projectionNamed(projections, name)];
  await withStorage(open, context, async (storage) => {
    const ports = { ...storage, projections: shown, clock: systemClock, graceMs: graceMs(context.environment) };
    const reports = await projectionReports(ports, { documents: true });
    if (json) for (const report of reports) printJson(context, projectionJson(report));
    else if (as === 'list') for (const line of listLines(reports, systemClock)) print(context, line);
    else for (const report of reports) for (const line of statusLines(report, systemClock)) print(context, line);
  });
}
