/** What `docket find` prints of each kind of thing: what it is, its trail, and the commands that show more. */
import { type CaseDocument, lookAnswered } from '../../dockets/case-document.ts';
import type { FoundThing } from '../../queries/find-thing.ts';
import type { PaymentTrail } from '../../queries/payment-trail.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import type { RecordedEvent } from '../../storage/event-log.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import { urlWithoutQuery } from '../deliveries/deliveries.ts';
import { second } from '../status/text.ts';

interface Ports {
  readonly payloads: Pick<PayloadStore, 'resolve'>;
}

export interface FoundCaseDocument {
  readonly stream: string;
  readonly document: CaseDocument;
}

const row = (name: string, value: string): string => `  ${name.padEnd(12)} ${value}`;
const more = (commands: readonly string[]): readonly string[] =>
  commands.map((command, index) => row(index === 0 ? 'more' : '', command));

export async function thingLines({ payloads }: Ports, thing: FoundThing): Promise<readonly string[]> {
  switch (thing.kind) {
    case 'delivery': {
      const { deliveryId, status, attempts, createdAt, wallet, requestId, target, origin } = thing.record;
      const url = await urlWithoutQuery(payloads, target);
      return [
        `delivery ${deliveryId}`,
        row('status', `${status}, ${attempts} of 7 attempts, created ${second(createdAt)}`),
        row('to', url ?? `${origin} (the URL is no longer stored)`),
        row('wallet', wallet),
        row('request', requestId),
        ...more([
          `docket deliveries show ${deliveryId}`,
          // A URL that could not be read has no host.
          ...(parseUrl(origin) === null ? [] : [`docket find ${origin}`]),
        ]),
        ...(thing.trail === null ? [] : ['', ...trailLines(thing.trail)]),
      ];
    }
    case 'wallet': {
      const { wallet, firstSeen, lastSeen, settled, answeredCalls } = thing.record;
      return [
        `wallet ${wallet}`,
        row('seen', `first ${second(firstSeen)}, last ${second(lastSeen)}`),
        row('paid', `${usdcText(BigInt(settled))} USDC, ${answeredCalls} payments`),
        ...more([
          `docket wallets show ${wallet}`,
          `docket audit receipts --wallet ${wallet}`,
          `docket deliveries list --wallet ${wallet}`,
        ]),
      ];
    }
    case 'host': {
      const { origin, open, due, overdue, paused, acknowledged, unsuccessful } = thing.host;
      return [
        `host ${origin}`,
        row('callbacks', `${open} open, ${due} due, ${overdue} overdue`),
        row('last 7 days', `${acknowledged} acknowledged, ${unsuccessful} without success`),
        ...(paused ? [row('paused', `since ${second(paused.since)} by ${paused.by}: ${paused.reason}`)] : []),
        ...more(['docket hosts list', 'docket deliveries list --status retrying']),
      ];
    }
    case 'event':
      return eventLines(thing.event);
    default:
      return [
        ...(thing.kind === 'payment' ? [] : [`${thing.kind} ${shown(thing)} belongs to`]),
        ...trailLines(thing.trail),
      ];
  }
}

/** A result is named by its request: the rest of its id is a secret. */
const shown = ({ kind, id }: Extract<FoundThing, { trail: PaymentTrail; id: string }>): string =>
  kind === 'result' ? `of request ${id}` : id;

function trailLines(trail: PaymentTrail): readonly string[] {
  const { payment, status, wallet, endpoint, amount, dialect, transaction, answer, key } = trail;
  return [
    `payment ${payment}`,
    row('status', `${status.replace('_', ' ')}, ${usdcText(BigInt(amount))} USDC, ${dialect}, ${endpoint}`),
    row('wallet', wallet),
    ...(transaction === null ? [] : wide('transaction', transaction)),
    ...trail.requests.map(({ requestId, at, error }) =>
      row('request', `${requestId}  ${second(at)}${error === null ? '' : `  no answer: ${error}`}`),
    ),
    ...(answer === null
      ? []
      : [
          row(
            'answer',
            `${answer.cases} ${answer.cases === 1 ? 'query' : 'queries'}${courtsText(answer.courts)}, kept until ${second(answer.keepUntil)}`,
          ),
        ]),
    ...(key === null ? [] : [row('key', `${key.does === 'rotate' ? 'made' : 'shown'}: ${key.keyId}`)]),
    ...trail.deliveries.map(({ deliveryId, status: state, origin }) =>
      row('delivery', `${deliveryId}  ${(state ?? 'promised').padEnd(9)}  ${origin}`),
    ),
    ...trail.steps.map(({ at, type, reason }, index) =>
      row(index === 0 ? 'events' : '', `${second(at)}  ${type}${reason === null ? '' : `  ${reason}`}`),
    ),
    ...more([
      ...trail.deliveries.slice(0, 3).map(({ deliveryId }) => `docket deliveries show ${deliveryId}`),
      `docket wallets show ${wallet}`,
      ...(key === null ? [] : [`docket keys list --wallet ${wallet}`]),
    ]),
    ...wide('', `docket audit replay payments --stream payment-${payment}`),
  ];
}

/** A value too long for the line of its name. */
const wide = (name: string, value: string): readonly string[] =>
  value.length <= 84 ? [row(name, value)] : [...(name === '' ? [] : [`  ${name}`]), `    ${value}`];

const courtsText = (courts: readonly { readonly court: string; readonly cases: number }[]): string =>
  courts.length === 0
    ? ''
    : ` (${courts
        .slice(0, 5)
        .map(({ court, cases }) => `${court} ${cases}`)
        .join(', ')}${courts.length > 5 ? ', …' : ''})`;

const eventLines = ({ id, type, stream, revision, position, metadata }: RecordedEvent): readonly string[] => [
  `event ${id}`,
  row('type', type),
  ...wide('stream', stream),
  row('place', `revision ${revision}, position ${position}`),
  row('recorded', `${second(metadata.recordedAt)} by ${metadata.actor}`),
  ...(metadata.requestId === null ? [] : [row('request', metadata.requestId)]),
  ...(metadata.requestId === null ? [] : more([`docket find ${metadata.requestId}`])),
  ...wide('', `docket audit replay all --stream ${stream}`),
];

export async function thingJson({ payloads }: Ports, thing: FoundThing): Promise<unknown> {
  switch (thing.kind) {
    case 'delivery':
      return {
        kind: thing.kind,
        delivery: { ...thing.record, url: await urlWithoutQuery(payloads, thing.record.target) },
        payment: thing.trail,
      };
    case 'event': {
      const { data: _, ...event } = thing.event;
      return { kind: thing.kind, event };
    }
    case 'wallet':
      return { kind: thing.kind, wallet: thing.record };
    case 'host':
      return { kind: thing.kind, host: thing.host };
    default:
      return { kind: thing.kind, id: thing.id, payment: thing.trail };
  }
}

const asOf = (document: CaseDocument): string => {
  const at = lookAnswered(document).asOf;
  return at === null ? 'never' : second(at);
};

export const caseJson = ({ stream, document }: FoundCaseDocument) => ({
  kind: 'case',
  stream,
  court_code: document.court,
  case_number: document.caseNumber,
  case_name: document.header?.caseName ?? null,
  filings: document.filingCount,
  data_as_of: lookAnswered(document).asOf,
});

export const caseLines = ({ stream, document }: FoundCaseDocument): readonly string[] => [
  `case ${document.court} ${document.caseNumber}`,
  ...(document.header ? [row('name', document.header.caseName ?? '')] : []),
  row('filings', `${document.filingCount}, as of ${asOf(document)}`),
  ...more([
    `docket cases show ${document.court} ${document.caseNumber}`,
    `docket audit replay dockets --stream ${stream}`,
    'docket revenue --by court',
  ]),
];
