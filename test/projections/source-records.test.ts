/** Given events about sources, when the read model folds them, then it shows each source, court and alert. */
import { describe, expect, it } from 'vitest';
import { DocketChecked } from '../../src/events/docket.ts';
import type { DomainEvent, JsonObject } from '../../src/events/event.ts';
import {
  AlertEnded,
  AlertSubscribed,
  SourcePaused,
  SourceResumed,
  SourceStandingChanged,
  WebhookApplied,
  WebhookReceived,
} from '../../src/events/source.ts';
import type { ProjectedEvent } from '../../src/projections/projection.ts';
import { sourceRecords } from '../../src/projections/source-records.ts';

const at = (minute: number) => `2026-03-02T10:${String(minute).padStart(2, '0')}:00.000000Z`;
const DOCKET = 'docket-cand-3:26-cv-00042';
const HASH = 'a'.repeat(64);

type Recorded = readonly [event: DomainEvent, minute: number, stream?: string];

/** Every document after these events, by `collection id`. */
function folded(...events: readonly Recorded[]): Readonly<Record<string, JsonObject>> {
  const documents = new Map<string, JsonObject>();
  for (const [event, minute, stream = 'source-rss'] of events) {
    const recorded = { stream, metadata: { recordedAt: at(minute) } };
    const projected = { event, recorded, contents: new Map() } as unknown as ProjectedEvent<never>;
    for (const target of sourceRecords.targets(projected)) {
      const key = `${target.collection} ${target.id}`;
      const next = sourceRecords.fold(target, documents.get(key) ?? null, projected);
      if (next === null) documents.delete(key);
      else documents.set(key, next);
    }
  }
  return Object.fromEntries(documents);
}

const checked = (outcome: 'complete' | 'partial' | 'unchanged' | 'failed' | 'abandoned', minute: number): Recorded => [
  DocketChecked.of({ source: 'rss', askedAt: at(minute), complete: false, outcome, ingestId: null }),
  minute,
  DOCKET,
];
const act = { by: 'Ann Lee', reason: 'ticket 4711' };
const pause = (court: string | null) => ({ source: 'rss', court, ...act }) as const;

describe('the read model of sources', () => {
  it('counts looks by what became of them, for the source and for the court', () => {
    const documents = folded(
      checked('partial', 1),
      checked('unchanged', 3),
      checked('unchanged', 2),
      checked('failed', 9),
    );
    for (const key of ['source-records rss', 'source-courts rss cand']) {
      expect(documents[key]).toMatchObject({
        looks: { complete: 0, partial: 1, unchanged: 2, failed: 1 },
        lastSuccessAt: at(3),
        lastLookAt: at(9),
      });
    }
    expect(documents['source-courts rss cand']).toMatchObject({ source: 'rss', court: 'cand' });
  });

  it('does not count the end of a look that had died as a look', () => {
    expect(folded(checked('abandoned', 1))['source-records rss']).toMatchObject({
      lastSuccessAt: null,
      lastLookAt: null,
    });
  });

  it('shows whether a source works, with the newest reason', () => {
    const failing = { source: 'rss', standing: 'failing', why: 'timeout' } as const;
    const documents = folded(
      [SourceStandingChanged.of({ ...failing, court: null, at: at(1) }), 1],
      [SourceStandingChanged.of({ ...failing, court: 'cand', standing: 'degraded', why: 'silent', at: at(2) }), 2],
      [SourceStandingChanged.of({ ...failing, court: null, standing: 'working', why: null, at: at(5) }), 5],
    );
    expect(documents['source-records rss']).toMatchObject({
      standing: { standing: 'working', why: null, since: at(5) },
    });
    expect(documents['source-courts rss cand']).toMatchObject({
      standing: { standing: 'degraded', why: 'silent', since: at(2) },
    });
  });

  it('shows what is paused, since when, by whom and why', () => {
    const paused = folded([SourcePaused.of(pause(null)), 1], [SourcePaused.of(pause('cand')), 2]);
    expect(paused['source-records rss']).toMatchObject({ paused: { since: at(1), ...act } });
    expect(paused['source-courts rss cand']).toMatchObject({ paused: { since: at(2), ...act } });
    const resumed = folded([SourcePaused.of(pause(null)), 1], [SourceResumed.of(pause(null)), 2]);
    expect(resumed['source-records rss']).toMatchObject({ paused: null });
  });

  it('marks courts that are paused or do not work, for as long as that lasts', () => {
    const silent = { source: 'rss', court: 'cand', why: 'silent', at: at(1) } as const;
    const degraded: Recorded = [SourceStandingChanged.of({ ...silent, standing: 'degraded' }), 1];
    const working: Recorded = [SourceStandingChanged.of({ ...silent, standing: 'working', why: null }), 2];
    const trouble = (...events: readonly Recorded[]) => folded(...events)['source-courts rss cand']?.trouble;
    expect(trouble(degraded)).toBe(true);
    expect(trouble(degraded, working)).toBeUndefined();
    expect(trouble(degraded, [SourcePaused.of(pause('cand')), 2], working)).toBe(true);
    expect(trouble([SourcePaused.of(pause('cand')), 2], [SourceResumed.of(pause('cand')), 3])).toBeUndefined();
  });

  it('counts messages that were pushed, and what became of them', () => {
    const message = { source: 'courtlistener', keyHash: HASH } as const;
    const documents = folded(
      [WebhookReceived.of({ ...message, eventType: 1, receivedAt: at(1), content: HASH }), 1],
      [WebhookReceived.of({ ...message, eventType: 2, receivedAt: at(2), content: null }), 2],
      [WebhookApplied.of({ ...message, outcome: 'recorded' }), 3],
      [WebhookApplied.of({ ...message, outcome: 'ignored' }), 3],
    );
    expect(documents['source-records courtlistener']).toMatchObject({
      webhooks: {
        received: 2,
        lastReceivedAt: at(2),
        applied: { recorded: 1, unchanged: 0, ignored: 1, unknown_case: 0, unreadable: 0 },
      },
    });
  });

  const alert = { source: 'courtlistener', sourceCaseId: '70', alertId: '7' } as const;
  const subscribed = (alertId: string, renewed: boolean, minute: number): Recorded => [
    AlertSubscribed.of({ ...alert, alertId, court: 'cand', caseNumber: '3:26-cv-00042', by: 'watched', renewed }),
    minute,
  ];

  it('lists alerts in force, with their renewal', () => {
    const documents = folded(subscribed('7', false, 1), subscribed('7', true, 5));
    expect(documents['source-alerts courtlistener 70']).toMatchObject({
      alertId: '7',
      caseNumber: '3:26-cv-00042',
      since: at(1),
      renewedAt: at(5),
    });
  });

  it('drops an alert that ended, and remembers one that was not ended here', () => {
    const ended = (why: 'unsubscribed' | 'disabled_by_source', alertId = '7'): Recorded => [
      AlertEnded.of({ ...alert, alertId, why, by: 'service' }),
      9,
    ];
    const own = folded(subscribed('7', false, 1), ended('unsubscribed'));
    expect(own['source-alerts courtlistener 70']).toBeUndefined();
    expect(own['source-records courtlistener']).toMatchObject({ alertsLost: [] });
    const lost = folded(subscribed('7', false, 1), ended('disabled_by_source'));
    expect(lost['source-records courtlistener']).toMatchObject({
      alertsLost: [{ sourceCaseId: '70', why: 'disabled_by_source', at: at(9) }],
    });
    // An end that belongs to the alert before this one.
    const other = folded(subscribed('8', false, 1), ended('unsubscribed', '7'));
    expect(other['source-alerts courtlistener 70']).toMatchObject({ alertId: '8' });
  });

  it('remembers few lost alerts, however many there are', () => {
    const events = Array.from(
      { length: 30 },
      (_, index): Recorded => [
        AlertEnded.of({ ...alert, sourceCaseId: String(index), why: 'case_gone', by: 'service' }),
        index,
      ],
    );
    const { alertsLost } = folded(...events)['source-records courtlistener'] as {
      alertsLost: { sourceCaseId: string }[];
    };
    expect(alertsLost.map(({ sourceCaseId }) => sourceCaseId)).toEqual(
      Array.from({ length: 20 }, (_, index) => String(29 - index)),
    );
  });
});
