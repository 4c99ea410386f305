/** A docket that an order removed is neither asked for nor recorded (docs/design/operations.md#forgetting). */
import { looksAt } from '../../commands/docket/looks.ts';
import type { Court } from '../../courts/court.ts';
import type { Storage } from '../../storage/storage.ts';
import { CliError, EXIT } from '../command.ts';

/** @throws CliError if the docket was forgotten */
export async function assertNotForgotten({ log }: Storage, court: Court, caseNumber: string): Promise<void> {
  if (!(await looksAt(log, court, caseNumber))?.isForgotten) return;
  throw new CliError(
    `${court.code} ${caseNumber} was forgotten by an order: its sources are not asked, and nothing of it is recorded.`,
    'See docket forget list. A query for it gets 404, uncharged.',
    EXIT.found,
  );
}
