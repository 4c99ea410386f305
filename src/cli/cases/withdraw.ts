/** `docket cases withdraw`: removes the text of a filing from the docket, stored answers and open callbacks. */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { withdrawText } from '../../commands/docket/withdraw-text.ts';
import { QUERY_DEADLINE_MS } from '../../commands/purchase/query-run.ts';
import { cases } from '../../projections/cases.ts';
import { createProjectionRunner } from '../../projections/runner.ts';
import { systemClock } from '../../runtime/instant.ts';
import type { Position } from '../../storage/event-log.ts';
import { leaseOwner } from '../../storage/lease-owner.ts';
import { type CliContext, CliError, EXIT, note, print, printJson } from '../command.ts';
import type { ImportStorage } from '../import/import.ts';
import { CATCH_UP_HINT } from '../list-completeness.ts';
import { type OperatorAct, readAct } from '../operator-act.ts';

export interface WithdrawOptions extends OperatorAct {
  readonly filing: string;
  readonly json?: true;
}

/** How long after its deadline a query's answer may still be stored. */
const GRACE_MS = 5_000;

/** How long the read model of cases may take to show the withdrawal. */
const SHOWN_WITHIN_MS = 60_000;

/** Milliseconds. */
export interface WithdrawalWaits {
  readonly queriesMs?: number;
  readonly shownWithinMs?: number;
}

export async function withdraw(
  storage: ImportStorage,
  context: CliContext,
  stream: string,
  { filing, json, ...act }: WithdrawOptions,
  { queriesMs = QUERY_DEADLINE_MS + GRACE_MS, shownWithinMs = SHOWN_WITHIN_MS }: WithdrawalWaits = {},
): Promise<void> {
  const { by, reason } = readAct(act);
  const untilQueriesEnded = async (redactedUpTo: Position): Promise<void> => {
    await untilShown(storage, redactedUpTo, shownWithinMs);
    note(context, `Waiting ${queriesMs / 1000} s for running queries to finish…`);
    await delay(queriesMs);
  };
  const ports = { ...storage, clock: systemClock, untilQueriesEnded };
  const report = await withdrawText(ports, { stream, filingId: filing, by, reason });
  if (!report.known) {
    throw new CliError(
      `${stream} has no filing ${filing.slice(0, 100)}.`,
      'See docket cases show … --json for its filing_id.',
      EXIT.found,
    );
  }
  const { contents, answers, callbacks } = report;
  if (json) return printJson(context, { stream, filing_id: filing, by, reason, contents, answers, callbacks });
  print(context, `${filing} withdrawn by ${by}: ${reason}`);
  print(context, `contents of the docket replaced: ${contents}`);
  print(context, `stored answers replaced: ${answers.length}`);
  for (const requestId of answers) print(context, `  ${requestId}`);
  print(context, `callbacks cancelled: ${callbacks.length}`);
  for (const deliveryId of callbacks) print(context, `  ${deliveryId}`);
}

/** Applies a removal to the read model when no service does. @throws CliError if the read model does not catch up */
export async function untilShown(
  storage: ImportStorage,
  position: Position,
  withinMs: number,
  what = 'withdrawal',
): Promise<void> {
  const runner = createProjectionRunner({
    ...storage,
    projections: [cases],
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    owner: leaseOwner(),
  });
  try {
    await runner.start();
    if (await runner.waitFor(cases.name, position, withinMs)) return;
    const [status] = await runner.status();
    throw new CliError(
      `The ${what} is not complete: it is recorded, but answers can still show the text, because the read model of ` +
        `cases is behind the log (${status?.state ?? 'missing'}).`,
      `${CATCH_UP_HINT} Then run this command again.`,
      EXIT.unavailable,
    );
  } finally {
    await runner.stop();
  }
}
