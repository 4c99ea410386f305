/** How a report of promised callbacks reads: a table of groups, and a line for each open one with what it waits for. */
import { MAX_ATTEMPTS } from '../../commands/delivery/schedule.ts';
import type { Instant } from '../../runtime/instant.ts';
import { second } from '../receipts/text.ts';
import type { Counts } from './counts.ts';
import type { Pause } from './pauses.ts';
import { type CallbackPromise, type OpenStanding, standingOf } from './promise.ts';
import { GROUPINGS, type PromiseReport } from './promise-book.ts';

const COLUMNS = [
  ['promised', 'promised'],
  ['scheduled', 'scheduled'],
  ['attempted', 'attempted'],
  ['attempts', 'attempts'],
  ['acknowledged', 'acknowledged'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['rolledBack', 'rolled back'],
  ['open', 'open'],
] as const satisfies readonly (readonly [keyof Counts, string])[];

/** @param limit of groups, and of open callbacks; 0 for all */
export function* reportLines(report: PromiseReport, by: string, now: Instant, limit = 0): Iterable<string> {
  const { total, groupCount } = report;
  let width = Math.max(by.length, 'total'.length);
  for (const [name] of report.groups(limit)) width = Math.max(width, name.length);
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell, index) => cell.padStart((COLUMNS[index]?.[1].length ?? 0) + 2)).join('')}`;
  const cellsOf = (counts: Counts) => COLUMNS.map(([key]) => String(counts[key]));
  yield row(
    by,
    COLUMNS.map(([, heading]) => heading),
  );
  for (const [name, counts] of report.groups(limit)) yield row(name, cellsOf(counts));
  if (limit > 0 && groupCount > limit) yield `… and ${groupCount - limit} more, which the total contains; see --limit`;
  yield row('total', cellsOf(total));
  const { given_up, content_withdrawn, url_unusable } = total.failedBecause;
  if (total.failed > 0) {
    yield `\nFailed: ${given_up} given up after the last attempt, ${url_unusable} with an unusable URL, ${content_withdrawn} with withdrawn content.`;
  }
  if (total.open === 0) return;
  yield '\nOpen:';
  for (const promise of report.open(limit)) {
    const { promisedAt, deliveryId, rolledBack } = promise;
    const undone = rolledBack ? '; its payment was rolled back' : '';
    const reason = reasonOf(openStanding(promise), now, report.pauseOf(promise));
    yield `  ${second(promisedAt)}  ${deliveryId}  ${GROUPINGS.host(promise)}  ${reason}${undone}`;
  }
  if (limit > 0 && total.open > limit) yield `  … and ${total.open - limit} more; see --limit`;
}

/** What an open callback waits for. @param pause of its host */
export function reasonOf(standing: OpenStanding, now: Instant, pause: Pause | null): string {
  const paused =
    pause === null ? '' : `; its host is paused since ${second(pause.since)} by ${pause.by}: ${pause.reason}`;
  switch (standing.why) {
    case 'not_scheduled':
      return `not scheduled since its payment settled at ${second(standing.since)}`;
    case 'waiting':
      return `attempt ${standing.attempt} of ${MAX_ATTEMPTS} ${standing.dueAt > now ? 'is' : 'was'} due at ${second(standing.dueAt)}${paused}`;
    case 'under_way':
      return `${standing.redelivery ? 'redelivery' : 'attempt'} ${standing.attempt} is under way since ${second(standing.since)}`;
    case 'redelivery_requested':
      return `a redelivery was requested at ${second(standing.since)}${paused}`;
  }
}

function openStanding(promise: CallbackPromise): OpenStanding {
  const standing = standingOf(promise);
  if (standing.state !== 'open') throw new Error(`callback ${promise.deliveryId} is listed as open and is not`);
  return standing;
}

export function openJson(promise: CallbackPromise, now: Instant, pause: Pause | null) {
  const { deliveryId, requestId, payment, wallet, origin, promisedAt, rolledBack } = promise;
  const standing = openStanding(promise);
  return {
    deliveryId,
    requestId,
    payment,
    wallet,
    origin,
    promisedAt,
    paymentRolledBack: rolledBack,
    why: standing.why,
    attempt: 'attempt' in standing ? standing.attempt : null,
    since: 'since' in standing ? standing.since : null,
    dueAt: 'dueAt' in standing ? standing.dueAt : null,
    hostPaused: pause,
    reason: reasonOf(standing, now, pause),
  };
}
