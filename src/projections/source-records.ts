/**
 * Read model of live sources (docs/design/sources.md#standing): whether each works, what is paused, when it last
 * provided something for which court, and its alerts. Sources that push and files count as sources, too.
 */
import { unreachable } from '../commands/decider.ts';
import { courtOfDocket, DocketChecked } from '../events/docket.ts';
import type { EventOf } from '../events/event.ts';
import {
  AlertEnded,
  AlertSubscribed,
  SourcePaused,
  SourceResumed,
  SourceStandingChanged,
  WebhookApplied,
  WebhookReceived,
} from '../events/source.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Projection, Target } from './projection.ts';

/** By name of the source. */
export const SOURCE_RECORDS = 'source-records';
/** By name of the source and court: `rss cand`. */
export const SOURCE_COURTS = 'source-courts';
/** Alerts in force, by name of the source and its id of the case. */
export const SOURCE_ALERTS = 'source-alerts';

export type Paused = { readonly since: Instant; readonly by: string; readonly reason: string };

export type Standing = {
  readonly standing: EventOf<typeof SourceStandingChanged>['data']['standing'];
  readonly why: string | null;
  readonly since: Instant;
};

/** What became of looks at cases, by `outcome` of `DocketChecked`. */
export type Looks = { readonly [outcome in EventOf<typeof DocketChecked>['data']['outcome']]: number };

/** A source as a whole, or one court of it. */
export type SourceStanding = {
  /** Null: nothing was recorded, so it has worked since it was configured. */
  readonly standing: Standing | null;
  readonly paused: Paused | null;
  readonly looks: Looks;
  /** When it was last asked with success, or last pushed. */
  readonly lastSuccessAt: Instant | null;
  /** When it was last looked at, with or without success. */
  readonly lastLookAt: Instant | null;
};

export type LostAlert = {
  readonly sourceCaseId: string;
  readonly why: EventOf<typeof AlertEnded>['data']['why'];
  readonly at: Instant;
};

export type SourceRecord = SourceStanding & {
  readonly webhooks: {
    readonly received: number;
    readonly lastReceivedAt: Instant | null;
    readonly applied: { readonly [outcome in EventOf<typeof WebhookApplied>['data']['outcome']]: number };
  };
  /** Alerts that CourtListener ended by itself, newest first. */
  readonly alertsLost: readonly LostAlert[];
};

export type SourceCourt = SourceStanding & {
  readonly source: string;
  readonly court: string;
  /** Paused, or not working. Absent otherwise, so that an index of it has only such courts. */
  readonly trouble?: true;
};

export type SourceAlert = {
  readonly source: string;
  readonly sourceCaseId: string;
  readonly alertId: string;
  readonly court: string;
  readonly caseNumber: string;
  readonly by: string;
  readonly since: Instant;
  readonly renewedAt: Instant | null;
};

const EVENTS = [
  DocketChecked,
  SourcePaused,
  SourceResumed,
  SourceStandingChanged,
  WebhookReceived,
  WebhookApplied,
  AlertSubscribed,
  AlertEnded,
] as const;
type Event = EventOf<(typeof EVENTS)[number]>;

/** So that a source that ends many alerts does not make its document large. */
const MOST_LOST = 20;

const ofSource = (source: string): Target => ({ collection: SOURCE_RECORDS, id: source });
const ofCourt = (source: string, court: string): Target => ({ collection: SOURCE_COURTS, id: `${source} ${court}` });

export const sourceRecords: Projection<Event> = {
  name: SOURCE_RECORDS,
  events: EVENTS,
  collections: [
    { name: SOURCE_RECORDS, indexes: [] },
    { name: SOURCE_COURTS, indexes: [['trouble'], ['source']] },
    { name: SOURCE_ALERTS, indexes: [['source']] },
  ],
  forOperators: true,

  targets({ event: { type, data }, recorded }) {
    switch (type) {
      case 'DocketChecked': {
        const court = courtOfDocket(recorded.stream);
        return court === undefined ? [] : [ofCourt(data.source, court), ofSource(data.source)];
      }
      case 'SourcePaused':
      case 'SourceResumed':
      case 'SourceStandingChanged':
        return [data.court === null ? ofSource(data.source) : ofCourt(data.source, data.court)];
      case 'WebhookReceived':
      case 'WebhookApplied':
        return [ofSource(data.source)];
      case 'AlertSubscribed':
        return [{ collection: SOURCE_ALERTS, id: `${data.source} ${data.sourceCaseId}` }];
      case 'AlertEnded':
        return [{ collection: SOURCE_ALERTS, id: `${data.source} ${data.sourceCaseId}` }, ofSource(data.source)];
      default:
        return unreachable(type);
    }
  },

  fold(target, document, { event, recorded }) {
    const at = recorded.metadata.recordedAt;
    switch (target.collection) {
      case SOURCE_RECORDS:
        return foldSource((document as SourceRecord | null) ?? NEW_SOURCE, event, at);
      case SOURCE_COURTS: {
        const space = target.id.lastIndexOf(' ');
        const [source, court] = [target.id.slice(0, space), target.id.slice(space + 1)];
        return foldCourt((document as SourceCourt | null) ?? { ...NEW_STANDING, source, court }, event, at);
      }
      default:
        return foldAlert(document as SourceAlert | null, event, at);
    }
  },
};

const NEW_STANDING: SourceStanding = {
  standing: null,
  paused: null,
  looks: { complete: 0, partial: 0, unchanged: 0, stale: 0, failed: 0, abandoned: 0 },
  lastSuccessAt: null,
  lastLookAt: null,
};

const NEW_SOURCE: SourceRecord = {
  ...NEW_STANDING,
  webhooks: {
    received: 0,
    lastReceivedAt: null,
    applied: { recorded: 0, unchanged: 0, ignored: 0, unknown_case: 0, unreadable: 0 },
  },
  alertsLost: [],
};

function foldStanding<Document extends SourceStanding>(document: Document, event: Event, at: Instant): Document {
  switch (event.type) {
    case 'SourcePaused': {
      const { by, reason } = event.data;
      // The first pause is what applies.
      return document.paused ? document : { ...document, paused: { since: at, by, reason } };
    }
    case 'SourceResumed':
      return { ...document, paused: null };
    case 'SourceStandingChanged': {
      const { standing, why, at: since } = event.data;
      return { ...document, standing: { standing, why, since } };
    }
    case 'DocketChecked': {
      const { outcome, askedAt } = event.data;
      const looks = { ...document.looks, [outcome]: document.looks[outcome] + 1 };
      // It was written for another look that had died.
      if (outcome === 'abandoned') return { ...document, looks };
      const lastLookAt = later(document.lastLookAt, askedAt);
      if (outcome === 'failed') return { ...document, looks, lastLookAt };
      return { ...document, looks, lastLookAt, lastSuccessAt: later(document.lastSuccessAt, askedAt) };
    }
    default:
      return document;
  }
}

function foldCourt(document: SourceCourt, event: Event, at: Instant): SourceCourt {
  const { trouble: _, ...folded } = foldStanding(document, event, at);
  return isTroubled(folded) ? { ...folded, trouble: true } : folded;
}

/** Whether it is paused, or does not work as it should. */
export const isTroubled = ({ paused, standing }: Pick<SourceStanding, 'paused' | 'standing'>): boolean =>
  paused !== null || (standing !== null && standing.standing !== 'working');

function foldSource(document: SourceRecord, event: Event, at: Instant): SourceRecord {
  const { webhooks } = document;
  switch (event.type) {
    case 'WebhookReceived': {
      const lastReceivedAt = later(webhooks.lastReceivedAt, event.data.receivedAt);
      return { ...document, webhooks: { ...webhooks, received: webhooks.received + 1, lastReceivedAt } };
    }
    case 'WebhookApplied': {
      const { outcome } = event.data;
      const applied = { ...webhooks.applied, [outcome]: webhooks.applied[outcome] + 1 };
      return { ...document, webhooks: { ...webhooks, applied } };
    }
    case 'AlertEnded': {
      const { why } = event.data;
      if (why !== 'disabled_by_source' && why !== 'case_gone') return document;
      const lost = { sourceCaseId: event.data.sourceCaseId, why, at };
      return { ...document, alertsLost: [lost, ...document.alertsLost].slice(0, MOST_LOST) };
    }
    default:
      return foldStanding(document, event, at);
  }
}

function foldAlert(document: SourceAlert | null, event: Event, at: Instant): SourceAlert | null {
  if (event.type === 'AlertSubscribed') {
    const { renewed, ...alert } = event.data;
    const isRenewal = renewed && document !== null;
    return { ...alert, since: isRenewal ? document.since : at, renewedAt: renewed ? at : null };
  }
  if (event.type !== 'AlertEnded') return document;
  // A late end of an alert that another one has replaced.
  return document?.alertId === event.data.alertId ? null : document;
}

const later = (known: Instant | null, at: Instant): Instant => (known === null || at > known ? at : known);
