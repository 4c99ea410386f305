/** How a report of promised callbacks reads: a table of groups, and a line for each open one with what it waits for. */
import { MAX_ATTEMPTS } from '../../commands/delivery/schedule.ts';
import type { Instant } from '../../runtime/instant.ts';
import { second } from '../receipts/text.ts';
import { type Counts, NO_COUNTS, plusCounts } from './counts.ts';
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

export const totalOf = ({ groups }: PromiseReport): Counts =>
  [...groups.values()].reduce((sum, counts) => plusCounts(sum, counts), NO_COUNTS);

/** Groups by name; days and names sort as text. */
export const sortedGroups = ({ groups }: PromiseReport): readonly (readonly [string, Counts])[] =>
  [...groups].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

export function* reportLines(report: PromiseReport, by: string, now: Instant): Iterable<string> {
  const groups = sortedGroups(report);
  const width = Math.max(by.length, 'total'.length, ...groups.map(([name]) => name.length));
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell, index) => cell.padStart((COLUMNS[index]?.[1].length ?? 0) + 2)).join('')}`;
  const cellsOf = (counts: Counts) => COLUMNS.map(([key]) => String(counts[key]));
  yield row(
    by,
    COLUMNS.map(([, heading]) => heading),
  );
  for (const [name, counts] of groups) yield row(name, cellsOf(counts));
  const total = totalOf(report);
  yield row('total', cellsOf(total));
  const { given_up, content_withdrawn, url_unusable } = total.failedBecause;
  if (total.failed > 0) {
    yield `\nFailed: ${given_up} given up after the last attempt, ${url_unusable} with an unusable URL, ${content_withdrawn} with withdrawn content.`;
  }
  if (report.open.length === 0) return;
  yield '\nOpen:';
  for (const promise of report.open) {
    const { promisedAt, deliveryId, rolledBack } = promise;
    const undone = rolledBack ? '; its payment was rolled back' : '';
    yield `  ${second(promisedAt)}  ${deliveryId}  ${GROUPINGS.host(promise)}  ${reasonOf(openStanding(promise), now)}${undone}`;
  }
}

/** What an open callback waits for. */
export function reasonOf(standing: OpenStanding, now: Instant): string {
  switch (standing.why) {
    case 'not_scheduled':
      return `not scheduled since its payment settled at ${second(standing.since)}`;
    case 'waiting':
      return `attempt ${standing.attempt} of ${MAX_ATTEMPTS} ${standing.dueAt > now ? 'is' : 'was'} due at ${second(standing.dueAt)}`;
    case 'under_way':
      return `${standing.redelivery ? 'redelivery' : 'attempt'} ${standing.attempt} is under way since ${second(standing.since)}`;
    case 'redelivery_requested':
      return `a redelivery was requested at ${second(standing.since)}`;
  }
}

function openStanding(promise: CallbackPromise): OpenStanding {
  const standing = standingOf(promise);
  if (standing.state !== 'open') throw new Error(`callback ${promise.deliveryId} is listed as open and is not`);
  return standing;
}

export function openJson(promise: CallbackPromise, now: Instant) {
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
    reason: reasonOf(standing, now),
  };
}
