/** What an ingest in a running service waits for: the read model of cases shows what it has recorded. */
import { ProjectionBehind } from '../commands/docket/clock.ts';
import type { Position } from '../storage/event-log.ts';
import { cases } from './cases.ts';
import type { ProjectionRunner } from './runner.ts';

/** How long an ingest waits for the projection before it gives up its claim on a case clock. */
const PROJECTED_WITHIN_MS = 30_000;

/** @throws ProjectionBehind */
export const untilProjected =
  (runner: Pick<ProjectionRunner, 'waitFor'>) =>
  async (position: Position): Promise<void> => {
    if (!(await runner.waitFor(cases.name, position, PROJECTED_WITHIN_MS))) throw new ProjectionBehind(position);
  };
