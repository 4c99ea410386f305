/** `docket projections skip`: lets a projection go on after an event that it cannot fold. */
import type { Command } from 'commander';
import { skipCommand } from '../../projections/halt.ts';
import { decide } from '../../projections/move-readers.ts';
import { projectionReports } from '../../projections/status.ts';
import { systemClock } from '../../runtime/instant.ts';
import { type CliContext, CliError, EXIT, print, printJson } from '../command.ts';
import { type ActOptions, withActOptions } from '../operator-act.ts';
import { withStorage } from '../service-storage.ts';
import { shortPosition } from './lines.ts';
import { operatorPorts, type ProjectionsSetup, projectionNamed } from './work.ts';

interface SkipOptions extends ActOptions {
  readonly position: string;
  readonly json?: true;
}

export function addSkipCommand(group: Command, context: CliContext, setup: ProjectionsSetup): void {
  withActOptions(group.command('skip'))
    .description('Skip the event at which a projection is halted. The event is then missing from its documents.')
    .argument('<name>', 'the projection')
    .requiredOption('--position <position>', 'position of the event, as `status` and /readyz show it')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      `
The skip is recorded, and every later rebuild skips the event too. Only the event at which the projection is halted can
be skipped. Correct the cause instead if you can: a projection goes on by itself once its event can be folded.

Example:
  $ docket projections skip cases --position 00000000000000004711 --reason "ticket 812: damaged import"`,
    )
    .action((name: string, options: SkipOptions) => skip(setup, context, name, options));
}

async function skip(
  setup: ProjectionsSetup,
  context: CliContext,
  name: string,
  { position, json, reason, by }: SkipOptions,
): Promise<void> {
  const { open, projections } = setup;
  const projection = projectionNamed(projections, name);
  await withStorage(open, context, async (storage) => {
    const ports = operatorPorts(setup, context, storage, projection, { reason, ...(by !== undefined && { by }) });
    const [report] = await projectionReports({ ...storage, projections: [projection], clock: systemClock });
    const halts = [report?.active.halt, report?.building?.halt, report?.previous?.halt].filter((halt) => !!halt);
    const halt = halts.find((one) => samePosition(one.position, position));
    if (!halt) throw notHalted(name, position, halts[0]?.position ?? null);
    const [event] = await storage.log.read(halt.stream, { from: halt.revision, limit: 1 });
    if (event?.position !== halt.position) {
      throw new CliError(
        `The log has no event at ${halt.position}.`,
        'The halt belongs to another log. Restart the service, which looks again.',
        EXIT.found,
      );
    }
    const decided = await decide(ports, { type: 'Skip', position: halt.position, eventId: event.id });
    if ('rejected' in decided) {
      throw new CliError(
        `The event at ${halt.position} is skipped already.`,
        `While the service runs, the projection continues within a second of the skip; see docket projections status ${name}.`,
        EXIT.found,
      );
    }
    const skipped = {
      projection: name,
      position: halt.position,
      event_id: event.id,
      by: ports.by,
      reason: ports.reason,
    };
    if (json) printJson(context, skipped);
    else print(context, `${name} skips ${halt.type} ${halt.revision} of ${halt.stream} (${halt.position}).`);
  });
}

/** Zeros in front of a number may be omitted. */
const samePosition = (one: string, other: string): boolean => shortPosition(one) === shortPosition(other);

function notHalted(projection: string, position: string, at: string | null): CliError {
  const given = position.slice(0, 60);
  return at === null
    ? new CliError(
        `${projection} is not halted.`,
        'Only the event at which a projection is halted can be skipped; see docket projections status.',
        EXIT.found,
      )
    : new CliError(
        `${projection} is not halted at ${given}, but at ${at}.`,
        `Skip that event: ${skipCommand(projection, at)}`,
        EXIT.found,
      );
}
