/** `docket cases withdraw`: the text of a filing is gone from the docket, from stored answers and from open callbacks. */
import { setTimeout as delay } from 'node:timers/promises';
import { withdrawText } from '../commands/docket/withdraw-text.ts';
import { QUERY_DEADLINE_MS } from '../commands/purchase/query-run.ts';
import { systemClock } from '../runtime/instant.ts';
import { type CliContext, CliError, EXIT, note, print, printJson } from './command.ts';
import type { ImportStorage } from './import.ts';

export interface WithdrawOptions {
  readonly filing: string;
  readonly by: string;
  readonly reason: string;
  readonly json?: true;
}

/** How long after its deadline a query's answer may still be stored. */
const GRACE_MS = 5_000;

export async function withdraw(
  storage: ImportStorage,
  context: CliContext,
  stream: string,
  { filing, by, reason, json }: WithdrawOptions,
  waitMs = QUERY_DEADLINE_MS + GRACE_MS,
): Promise<void> {
  for (const [option, text] of Object.entries({ by, reason })) {
    if (text.trim() === '' || text.length > 500)
      throw new CliError(`--${option} is empty or too long.`, 'Give 1 to 500 characters.');
  }
  const untilQueriesEnded = (): Promise<void> => {
    note(context, `Waiting ${waitMs / 1000} s for queries under way…`);
    return delay(waitMs);
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
  print(context, `callbacks not sent any more: ${callbacks.length}`);
  for (const deliveryId of callbacks) print(context, `  ${deliveryId}`);
}
