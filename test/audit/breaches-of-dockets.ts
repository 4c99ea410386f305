/** Breaches of the rules of dockets, content and operators, planted by an insider who recomputes every hash. */
import { FORGET_STREAM } from '../../src/events/forget.ts';
import { type Instant, plus } from '../../src/runtime/instant.ts';
import type { CopiedEvent, LogCopy } from './log-copy.ts';
import type { PlantedBreach } from './planted-breach.ts';

interface Filing {
  readonly filingId: string;
  availableAt: Instant;
}

const filingsOf = (event: CopiedEvent): readonly [Filing, ...Filing[]] =>
  event.data.filings as unknown as [Filing, ...Filing[]];

/** Gives the only filing of an event another time. */
function setTime(event: CopiedEvent, availableAt: Instant): CopiedEvent {
  filingsOf(event)[0].availableAt = availableAt;
  return event;
}

/** An event behind the docket's last. */
const append = (log: LogCopy, docket: string, type: string, data: CopiedEvent['data']): CopiedEvent => {
  const last = log.at(docket, 'DocketChecked', -1);
  return log.insert(last, { type, data });
};

const NO_ORDER = '00000000-0000-4000-8000-000000000000';

/** The removal of the last content that a docket names. */
function removalIn(log: LogCopy, docket: string): CopiedEvent {
  const removal = log.events.findLast(({ type, data }) => type === 'ContentRedacted' && data.stream === docket);
  if (!removal) throw new Error('something of it was removed');
  return removal;
}

const LATER = '2026-06-20T00:00:00.000000Z';

export const BREACHES_OF_DOCKETS: readonly PlantedBreach[] = [
  {
    name: 'a filing that is announced twice',
    rule: 'filing_announced_once',
    plant: (log, { docket }) => log.repeat(log.at(docket, 'FilingsRecorded', -1)),
  },
  {
    name: 'two filings of one time',
    rule: 'filing_time_unique',
    plant(log, { docket }) {
      const { availableAt } = filingsOf(log.at(docket, 'FilingsRecorded', -2))[0];
      return setTime(log.at(docket, 'FilingsRecorded', -1), availableAt);
    },
  },
  {
    name: 'a filing with an earlier time than the one before',
    rule: 'filing_time_rises',
    plant(log, { docket }) {
      const { availableAt } = filingsOf(log.at(docket, 'FilingsRecorded', -2))[0];
      return setTime(log.at(docket, 'FilingsRecorded', -1), plus(availableAt, -100_000_000));
    },
  },
  {
    name: 'a revision of a filing that was never recorded',
    rule: 'filing_known',
    plant(log, { docket }) {
      const revised = log.at(docket, 'FilingRevised');
      return log.set(revised, { filing: { ...(revised.data.filing as object), filingId: 'another' } as never });
    },
  },
  {
    name: 'a revision that changes when a filing became available',
    rule: 'revision_keeps_time',
    plant(log, { docket }) {
      const revised = log.at(docket, 'FilingRevised');
      return log.set(revised, { filing: { ...(revised.data.filing as object), availableAt: LATER } as never });
    },
  },
  {
    name: 'the withdrawal of a filing that was never recorded',
    rule: 'filing_known',
    plant: (log, { docket }) =>
      append(log, docket, 'FilingWithdrawn', { filingId: 'another', reason: 'removed', revisedAt: LATER }),
  },
  {
    name: 'a merged filing with the later time',
    rule: 'merge_keeps_time',
    plant(log, { docket }) {
      const [kept, merged] = [-2, -1].map((nth) => filingsOf(log.at(docket, 'FilingsRecorded', nth))[0]);
      return append(log, docket, 'FilingsMerged', {
        kept: kept?.filingId ?? '',
        merged: merged?.filingId ?? '',
        availableAt: merged?.availableAt ?? '',
        revisedAt: LATER,
      });
    },
  },
  {
    name: 'a baseline that ends twice',
    rule: 'docket_order',
    plant: (log, { docket }) => log.repeat(log.at(docket, 'BaselineCompleted')),
  },
  {
    name: 'a docket that is opened twice',
    rule: 'docket_order',
    plant: (log, { docket }) => log.repeat(log.at(docket, 'DocketOpened')),
  },
  {
    name: 'filings of a docket that was never opened',
    rule: 'docket_order',
    plant(log, { docket }) {
      log.drop(log.at(docket, 'DocketOpened'));
      return log.at(docket, 'DocketDetailsChanged');
    },
  },
  {
    name: 'a case number that changes its meaning',
    rule: 'alias_unique',
    plant(log) {
      const claimed = log.events.find(({ type }) => type === 'AliasClaimed');
      if (!claimed) throw new Error('a number was claimed');
      return log.set(log.repeat(claimed), { stream: 'docket-cand-1:99-cv-00001' });
    },
  },
  {
    name: 'removed content that the named event does not name',
    rule: 'redaction_refers',
    plant: (log, { content }) => log.set(log.at(content, 'ContentRedacted'), { revision: 0 }),
  },
  {
    name: 'a removal in the stream of other content',
    rule: 'redaction_in_its_stream',
    plant: (log, { content }) => log.set(log.at(content, 'ContentRedacted'), { name: 'a'.repeat(64) }),
  },
  {
    name: 'a docket that is checked after it was forgotten',
    rule: 'docket_forgotten_last',
    plant: (log, { docket, forgotten }) =>
      log.insert(log.at(forgotten, 'DocketForgotten'), { stream: forgotten }, log.at(docket, 'DocketChecked')),
  },
  {
    name: 'a removal by an order that was never given',
    rule: 'forget_ordered',
    plant: (log, { forgotten }) =>
      log.set(removalIn(log, forgotten), { forget: { forgetId: NO_ORDER, kind: 'docket' } }),
  },
  {
    name: 'a docket that was forgotten without an order',
    rule: 'forget_ordered',
    plant: (log, { forgotten }) => log.set(log.at(forgotten, 'DocketForgotten'), { forgetId: NO_ORDER }),
  },
  {
    name: 'an order to forget that is completed twice',
    rule: 'forget_completed',
    plant: (log) => log.repeat(log.at(FORGET_STREAM, 'ForgetCompleted')),
  },
  {
    name: 'an order to forget that is never completed',
    rule: 'forget_in_time',
    plant(log) {
      log.drop(log.at(FORGET_STREAM, 'ForgetCompleted'));
      return FORGET_STREAM;
    },
  },
  {
    name: 'an order to forget without a reason',
    rule: 'operator_named',
    plant: (log) => log.set(log.at(FORGET_STREAM, 'ForgetOrdered'), { reason: ' ' }),
  },
  {
    name: 'a redelivery without an actor',
    rule: 'operator_named',
    plant: (log, { givenUp }) => log.set(log.at(givenUp, 'DeliveryRedeliveryRequested'), { by: null }),
  },
  {
    name: 'a master key without a reason',
    rule: 'operator_named',
    plant: (log) => log.set(log.at('operator-master-key', 'MasterKeyIntroduced'), { reason: ' ' }),
  },
  {
    name: 'a master key of the version without a reason',
    rule: 'schema_of_its_time',
    plant: (log) => log.downgrade(log.at('operator-master-key', 'MasterKeyIntroduced'), 'by', 'reason'),
  },
  {
    name: 'a receiver that replaces another than the current one',
    rule: 'receiver_change_follows',
    plant: (log) => log.set(log.at('log-identity', 'ReceiverChanged'), { previous: 'another' }),
  },
  {
    name: 'a log with two identities',
    rule: 'log_founded_once',
    plant: (log) => log.repeat(log.at('log-identity', 'LogFounded')),
  },
];
