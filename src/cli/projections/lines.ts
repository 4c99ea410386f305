/** How `docket projections` shows where projections are: as lines for a person, as JSON for a program. */
import { skipCommand } from '../../projections/halt.ts';
import type { GenerationReport, ProjectionReport, RebuildReport } from '../../projections/status.ts';
import { type Clock, MICROS_PER_SECOND, toMicros } from '../../runtime/instant.ts';

function generationJson(report: GenerationReport): object {
  const { generation, position, eventsBehind, secondsBehind, lastProgressAt, halt, documents } = report;
  return {
    generation,
    state: halt === null ? 'following' : 'halted',
    position,
    events_behind: eventsBehind,
    seconds_behind: Math.round(secondsBehind * 1000) / 1000,
    last_progress_at: lastProgressAt,
    documents,
    halt,
  };
}

export function rebuildJson(report: RebuildReport): object {
  const { through, percent, startedAt, by, reason, maxRate, skipped, folded } = report;
  return {
    ...generationJson(report),
    through,
    percent,
    events_folded: folded,
    events_skipped: skipped,
    max_rate: maxRate,
    started_at: startedAt,
    by,
    reason,
  };
}

export const projectionJson = ({ projection, active, previous, building }: ProjectionReport): object => ({
  projection,
  active: generationJson(active),
  previous: previous && { ...generationJson(previous), retires_at: previous.retiresAt },
  building: building && rebuildJson(building),
});

/** Columns of `docket projections list`. */
export function listLines(reports: readonly ProjectionReport[], clock: Clock): readonly string[] {
  const rows = reports.map(({ projection, active, previous, building }) => [
    projection,
    String(active.generation),
    stateOf(active),
    count(active.eventsBehind),
    `${Math.round(active.secondsBehind)} s`,
    sinceText(active, clock),
    active.documents === null ? '-' : count(active.documents),
    active.position === null ? '-' : shortPosition(active.position),
    besideText(building, previous),
  ]);
  const header = ['PROJECTION', 'GEN', 'STATE', 'BEHIND', 'OLDEST', 'MOVED', 'DOCUMENTS', 'POSITION', 'BESIDE'];
  return aligned([header, ...rows]);
}

function besideText(building: RebuildReport | null, previous: GenerationReport | null): string {
  const parts: string[] = [];
  if (building) {
    const state = building.halt ? 'halted' : building.percent < 100 ? `${building.percent}%` : 'built';
    parts.push(`building ${building.generation} (${state})`);
  }
  if (previous) parts.push(`previous ${previous.generation}`);
  return parts.join(', ') || '-';
}

/** All that is known about one projection. */
export function statusLines(report: ProjectionReport, clock: Clock): readonly string[] {
  const { projection, active, previous, building } = report;
  const lines = [`${projection}`, ...generationLines('  seen by readers', projection, active, clock)];
  if (building) {
    const { percent, by, reason, startedAt, maxRate, folded, skipped } = building;
    lines.push(...generationLines('  being built', projection, building, clock));
    lines.push(`    ${percent}% of the log at its start, ${count(folded)} events folded, ${count(skipped)} skipped`);
    lines.push(`    started ${startedAt} by ${by}: ${reason}`);
    lines.push(
      `    pace: ${maxRate === null ? 'as fast as the service allows' : `at most ${count(maxRate)} events/s`}`,
    );
    if (percent === 100 && !building.halt) lines.push(`    next: docket projections verify ${projection}`);
  }
  if (previous) {
    lines.push(...generationLines('  seen before', projection, previous, clock));
    // Nothing leads forward again but a new rebuild.
    const why =
      previous.generation > active.generation ? 'readers were moved back from it; kept' : 'kept for a rollback';
    lines.push(`    ${why} until ${previous.retiresAt}`);
  }
  return lines;
}

function generationLines(title: string, projection: string, report: GenerationReport, clock: Clock): readonly string[] {
  const { generation, position, eventsBehind, secondsBehind, halt, documents } = report;
  const counted = documents === null ? '' : `, ${count(documents)} documents`;
  const lines = [
    `${title}: generation ${generation}, ${stateOf(report)}${counted}`,
    `    position ${position === null ? 'none' : shortPosition(position)}, ${count(eventsBehind)} events behind, ` +
      `${Math.round(secondsBehind)} s behind, moved ${sinceText(report, clock)}`,
  ];
  if (halt) {
    lines.push(`    halted ${halt.at} at ${halt.type} ${halt.revision} of ${halt.stream}: ${halt.error}`);
    lines.push(`    skip it: ${skipCommand(projection, halt.position)}`);
  }
  return lines;
}

const stateOf = ({ halt, eventsBehind }: GenerationReport): string =>
  halt ? 'halted' : eventsBehind === 0 ? 'current' : 'behind';

export const count = (number: number): string => number.toLocaleString('en');

/** Zeros in front only make positions sort as text. */
export const shortPosition = (position: string): string => position.replace(/(^|\/)0+(?=\d)/g, '$1');

function sinceText({ lastProgressAt }: GenerationReport, clock: Clock): string {
  if (lastProgressAt === null) return 'never';
  const seconds = Math.max(0, (clock.now() - toMicros(lastProgressAt)) / MICROS_PER_SECOND);
  if (seconds < 120) return `${Math.round(seconds)} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
