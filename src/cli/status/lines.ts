/** `docket status` as text: one labelled block for each subject, in lines that fit the terminal. */
import { skipCommand } from '../../projections/halt.ts';
import { MOST_EVENTS_COUNTED, type ProjectionReport } from '../../projections/status.ts';
import { type CallbackHost, MOST_COUNTED } from '../../queries/callback-hosts.ts';
import {
  isUnreadable,
  type Section,
  type ShownMoney,
  type StorageStatus,
  type Unreadable,
} from '../../queries/status.ts';
import type { KeptAlarm } from '../../queries/status-alarms.ts';
import type { CallbackStatus } from '../../queries/status-callbacks.ts';
import { DAYS_OF_SPEND } from '../../queries/status-fee-payer.ts';
import type { LogStatus } from '../../queries/status-log.ts';
import type { PaymentStatus } from '../../queries/status-payments.ts';
import type { SourceStatus } from '../../queries/status-sources.ts';
import { MICROS_PER_SECOND, type Micros, toMicros } from '../../runtime/instant.ts';
import { solText, usdcText } from '../../solana/decimal-amount.ts';
import { successOf } from '../sources/live-sources.ts';
import { nodeLines } from './nodes.ts';
import type { NodePart, StatusSnapshot } from './snapshot.ts';
import { age, bytes, count, counted, positionText, type Row, seconds, utc } from './text.ts';

const MOST_ALARMS = 8;

/** The rows of the overview. Pure, so that a snapshot always reads the same. */
export function statusRows(snapshot: StatusSnapshot): readonly Row[] {
  const now = toMicros(snapshot.at);
  const { storage } = snapshot;
  return [
    { label: 'status', text: `${utc(snapshot.at)}, ${snapshot.engines}` },
    ...serviceRows(snapshot, now),
    ...(isUnreadable(storage) ? unread('storage', storage) : storageRows(storage, now)),
    ...feePayerRows(snapshot, now),
    { label: 'disk', text: snapshot.freeBytes === null ? 'unknown' : `${bytes(snapshot.freeBytes)} free` },
    ...(isUnreadable(storage) ? [] : [...nodeLines(storage.nodes, now), ...alarmRows(storage.alarms, now)]),
  ];
}

/** One row, and one more if there is a hint. */
const unread = (label: string, { unreadable, hint }: Unreadable): readonly Row[] => [
  { label, text: `cannot be read: ${unreadable}` },
  ...(hint === undefined ? [] : [{ label: '', text: `  ${hint}` }]),
];

function serviceRows({ service, parts, storage }: StatusSnapshot, now: Micros): readonly Row[] {
  if (service !== 'running' && isUnreadable(storage)) {
    return [
      { label: 'service', text: 'none answers at ADMIN_PORT; nodes elsewhere cannot be seen without the storage' },
    ];
  }
  if (service === 'stopped') {
    return [{ label: 'service', text: 'not running; what follows is read from the storage. Start it: docket serve' }];
  }
  if (service === 'elsewhere') {
    const text =
      'not running on this storage; the service on ADMIN_PORT serves another DATA_DIR. What follows is read from the storage';
    return [{ label: 'service', text }];
  }
  const nodes = new Set(parts.map(({ node }) => node)).size;
  const having = (status: NodePart['status']) => parts.filter((part) => part.status === status);
  const bad = [...having('down'), ...having('degraded')];
  const summary = `${counted(having('nominal').length, 'part')} nominal, ${having('degraded').length} degraded, ${having('down').length} down`;
  return [
    { label: 'service', text: `running, ${counted(nodes, 'node')}: ${summary}` },
    ...bad.flatMap((part) => partRows(part, nodes > 1, now)),
  ];
}

function partRows({ part, node, status, since, reason, code, hint }: NodePart, named: boolean, now: Micros): Row[] {
  const where = named ? ` on ${node}` : '';
  const about = `${code ? `${code}, ` : ''}for ${age(since, now)}`;
  return [
    { label: '', text: `${status.toUpperCase()} ${part}${where}: ${reason ?? 'no reason given'} (${about})` },
    ...(hint ? [{ label: '', text: `  ${hint}` }] : []),
  ];
}

function storageRows(
  { log, projections, payments, callbacks, sources, money }: StorageStatus,
  now: Micros,
): readonly Row[] {
  return [
    ...(isUnreadable(log) ? unread('log', log) : [{ label: 'log', text: logText(log) }]),
    ...(isUnreadable(projections) ? unread('projections', projections) : projectionRows(projections, now)),
    ...(isUnreadable(payments)
      ? unread('payments', payments)
      : [{ label: 'payments', text: paymentsText(payments, now) }]),
    ...(isUnreadable(callbacks) ? unread('callbacks', callbacks) : callbackRows(callbacks, now)),
    ...(isUnreadable(sources) ? unread('sources', sources) : sourceRows(sources, now)),
    ...(isUnreadable(money) ? unread('today', money) : [{ label: 'today', text: moneyText(money) }]),
  ];
}

function paymentsText(
  { inFlight, pending, oldestSubmittedAt, confirming, inDoubt }: PaymentStatus,
  now: Micros,
): string {
  const of = (number: number) => count(number, MOST_COUNTED);
  const oldest = oldestSubmittedAt === null ? '' : `, the oldest for ${age(oldestSubmittedAt, now)}`;
  return `${of(inFlight)} in flight, ${of(pending)} pending${oldest}; ${of(confirming)} confirmed and not final, ${of(inDoubt)} given up within the last hour`;
}

const moneyText = ({ usdc, answers, complete }: ShownMoney): string =>
  `${usdcText(usdc)} USDC for ${counted(answers, 'answer')} since 00:00 UTC${incompleteText(complete)}`;

function incompleteText(complete: boolean | null): string {
  if (complete === true) return '';
  return complete === null
    ? '; possibly INCOMPLETE: whether the read model revenue is behind the log is unknown'
    : '; INCOMPLETE: the read model revenue is behind the log';
}

function logText({ position, rate }: LogStatus): string {
  if (position === null) return 'empty';
  const at = `position ${positionText(position)}`;
  if (rate === null) return `${at}; the rate is known while a node runs`;
  const perSecond = rate.events / Math.max(1, rate.seconds);
  const text = perSecond >= 10 ? Math.round(perSecond).toLocaleString('en') : perSecond.toFixed(1);
  return `${at}; ${rate.more ? 'more than ' : ''}${text} events/s in the last ${seconds(Math.max(1, rate.seconds))}`;
}

function projectionRows(reports: readonly ProjectionReport[], now: Micros): readonly Row[] {
  const behind = reports.filter(({ active }) => active.halt !== null || active.eventsBehind > 0);
  const current = reports.length - behind.length;
  const building = reports.filter((report) => report.building !== null);
  const width = Math.max(0, ...[...behind, ...building].map(({ projection }) => projection.length));
  return [
    {
      label: 'projections',
      text: behind.length === 0 ? `all ${reports.length} up to date` : `${current} of ${reports.length} up to date`,
    },
    ...behind.flatMap((report) => behindRows(report, width, now)),
    ...building.flatMap(({ projection, building: next }) =>
      next === null
        ? []
        : [
            {
              label: '',
              text: `${projection.padEnd(width)}  generation ${next.generation} is being built: ${Math.floor(next.percent)} %, ${eventsText(next.eventsBehind)} to go${next.halt ? `, HALTED: ${next.halt.error}` : ''}; docket projections status`,
            },
          ],
    ),
  ];
}

/** An engine that must read to count stops at 10,000. */
const eventsText = (events: number): string =>
  events === 10_000 ? '10,000+ events' : `${count(events, MOST_EVENTS_COUNTED)} event${events === 1 ? '' : 's'}`;

function behindRows({ projection, active }: ProjectionReport, width: number, now: Micros): readonly Row[] {
  const { eventsBehind, secondsBehind, lastProgressAt, halt } = active;
  const lag = `${eventsText(eventsBehind)} and ${seconds(secondsBehind)} behind`;
  const moved = lastProgressAt === null ? 'never moved' : `moved ${age(lastProgressAt, now)} ago`;
  const name = projection.padEnd(width);
  if (halt === null) return [{ label: '', text: `${name}  ${lag}, ${moved}` }];
  return [
    {
      label: '',
      text: `${name}  HALTED at position ${positionText(halt.position)}, ${halt.type} ${halt.revision} of ${halt.stream}: ${halt.error}; ${lag}`,
    },
    {
      label: '',
      text: `  Correct the cause, or skip the event: ${skipCommand(projection, halt.position)}`,
    },
  ];
}

function callbackRows(
  { open, due, overdue, oldestOverdueSeconds, hosts, moreHosts }: CallbackStatus,
  now: Micros,
): readonly Row[] {
  const oldest = due > 0 ? `, the oldest for ${seconds(oldestOverdueSeconds)}` : '';
  const of = (number: number) => count(number, MOST_COUNTED);
  return [
    { label: 'callbacks', text: `${of(open)} open, ${of(due)} due${oldest}; ${of(overdue)} overdue by 5 min or more` },
    ...hosts.map((host) => ({ label: '', text: hostText(host, now) })),
    ...(moreHosts ? [{ label: '', text: 'and more hosts: docket hosts list' }] : []),
  ];
}

function hostText({ origin, open, due, overdue, lastOutcome, paused }: CallbackHost, now: Micros): string {
  const of = (number: number) => count(number, MOST_COUNTED);
  const last =
    lastOutcome === null
      ? ''
      : `; last ${lastOutcome.failureClass ?? 'acknowledged'}${lastOutcome.responseCode ? ` ${lastOutcome.responseCode}` : ''} ${age(lastOutcome.at, now)} ago`;
  const pause = paused ? `PAUSED for ${age(paused.since, now)} by ${paused.by} (${paused.reason}); ` : '';
  return `${origin}  ${pause}${of(open)} open, ${of(due)} due, ${of(overdue)} overdue${last}`;
}

/** Nothing where no source is configured or was ever used. */
function sourceRows(sources: readonly SourceStatus[], now: Micros): readonly Row[] {
  return sources.map(({ source, standing, why, paused, lastSuccessAt, courtsInTrouble: courts }, index) => {
    const works = standing === 'working' ? 'working' : `${standing.toUpperCase()}: ${why ?? 'unknown'}`;
    const state = paused ? `PAUSED for ${age(paused.since, now)} by ${paused.by} (${paused.reason})` : works;
    const success = successOf(source);
    const last = lastSuccessAt === null ? `no ${success} yet` : `last ${success} ${age(lastSuccessAt, now)} ago`;
    const trouble = courts > 0 ? `; ${counted(courts, 'court')} in trouble: docket sources show ${source}` : '';
    return { label: index === 0 ? 'sources' : '', text: `${source}  ${state}, ${last}${trouble}` };
  });
}

function feePayerRows({ feePayer }: StatusSnapshot, now: Micros): readonly Row[] {
  const label = 'fee payer';
  if (isUnreadable(feePayer)) return unread(label, feePayer);
  const { address, lamports, at, days, lamportsPerDay } = feePayer;
  const sol = (amount: bigint) => `${solText(amount)} SOL`;
  const lasts =
    lamportsPerDay === null
      ? 'how long it lasts is unknown'
      : days === null
        ? `nothing spent in ${DAYS_OF_SPEND} days`
        : `lasts ${days >= 10_000 ? 'more than 10,000 days' : counted(Math.floor(days), 'day')} at ${sol(lamportsPerDay)} a day`;
  // A balance is read every few seconds while the chain answers.
  const old = now - toMicros(at) > 60 * MICROS_PER_SECOND ? ` (read ${age(at, now)} ago)` : '';
  return [{ label, text: `${sol(BigInt(lamports))}${old}, ${lasts}; ${address}` }];
}

function alarmRows(alarms: Section<readonly KeptAlarm[]>, now: Micros): readonly Row[] {
  if (isUnreadable(alarms)) return unread('alarms', alarms);
  if (alarms.length === 0) return [{ label: 'alarms', text: 'none in the last 7 days' }];
  const shown = alarms.slice(0, MOST_ALARMS);
  const more = alarms.length - shown.length;
  return [
    ...shown.map((alarm, index) => ({ label: index === 0 ? 'alarms' : '', text: alarmText(alarm, now) })),
    ...(more > 0 ? [{ label: '', text: `and ${more} more: --json shows all` }] : []),
  ];
}

function alarmText({ name, host, count: times, first, last, message, details }: KeptAlarm, now: Micros): string {
  const ago = age(last, now);
  const often = times > 1 ? `, ${times.toLocaleString('en')} times in ${age(first, toMicros(last))}` : '';
  const subject = ['payment', 'blob', 'projection', 'stream', 'peer', 'file', 'path'].flatMap((key) =>
    details[key] ? [`${key} ${details[key]}`] : [],
  );
  const about = [details.reason ?? message, ...subject].join(', ');
  return `${name} ${ago} ago on ${host}${often}: ${about}`;
}
