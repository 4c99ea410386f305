import { describe, expect, it } from 'vitest';
import { CASES, FILINGS, filingDocumentId } from '../../src/dockets/case-document.ts';
import {
  detailsBlob,
  encodeBlob,
  type FilingContent,
  filingsBlob,
  REDACTED_FILING,
} from '../../src/dockets/filing-content.ts';
import { ContentRedacted } from '../../src/events/content.ts';
import {
  AliasClaimed,
  BaselineCompleted,
  DocketChecked,
  DocketDetailsChanged,
  DocketOpened,
  FilingRevised,
  FilingsMerged,
  FilingsRecorded,
  FilingWithdrawn,
  type RecordedFiling,
} from '../../src/events/docket.ts';
import type { DomainEvent, JsonObject } from '../../src/events/event.ts';
import { cases } from '../../src/projections/cases.ts';
import type { Content, Target } from '../../src/projections/projection.ts';
import type { RecordedEvent } from '../../src/storage/event-log.ts';

const STREAM = 'docket-cand-3:24-cv-01234';
const NOON = '2026-03-01T12:00:00.000000Z';
const LATER = '2026-03-02T12:00:00.000000Z';
const blobName = (name: string): string => Buffer.from(name).toString('hex').padEnd(64, '0');

const filing = (filingId: string, availableAt: string, more: Partial<RecordedFiling> = {}): RecordedFiling => ({
  filingId,
  entryNumber: 1,
  dateFiled: '2024-03-01',
  dateEntered: '2024-03-01',
  enteredAt: null,
  filedAt: null,
  filingType: 'motion',
  filingTypes: ['motion'],
  sealed: false,
  availableAt,
  backfilled: false,
  ...more,
});
const content = (description: string): FilingContent => ({
  ...REDACTED_FILING,
  redacted: false,
  description,
  documentIdentifier: '0350',
  documentIdentifierType: 'pacer_doc_id',
  attachments: [{ attachmentNumber: 1, description: 'Exhibit', documentIdentifier: null, pageCount: 2 }],
});

/** Blobs by name, as the payload store returns them. */
class Fold {
  readonly blobs = new Map<string, Content>();
  readonly documents = new Map<string, JsonObject>();
  readonly written: Target[] = [];
  #revision = 0;

  blob(name: string, filings: Record<string, FilingContent>): string {
    this.blobs.set(blobName(name), {
      bytes: encodeBlob(filingsBlob(new Map(Object.entries(filings)))),
      redacted: false,
    });
    return blobName(name);
  }

  redact(name: string, filings: Record<string, FilingContent> | null): void {
    const bytes = filings ? encodeBlob(filingsBlob(new Map(Object.entries(filings)))) : Buffer.alloc(0);
    this.blobs.set(blobName(name), { bytes, redacted: true });
  }

  then(...events: readonly DomainEvent[]): this {
    for (const event of events) {
      const revision = this.#revision++;
      const recorded = { stream: STREAM, revision, position: String(revision), type: event.type } as RecordedEvent;
      const contents = new Map<string, Content>();
      for (const name of cases.contentOf?.(event) ?? []) contents.set(name, this.blobs.get(name)!);
      for (const target of cases.targets({ event, recorded, contents })) {
        const key = `${target.collection} ${target.id}`;
        const document = cases.fold(target, this.documents.get(key) ?? null, { event, recorded, contents });
        this.written.push(target);
        if (document === null) this.documents.delete(key);
        else this.documents.set(key, document);
      }
    }
    return this;
  }

  get case() {
    return this.documents.get(`${CASES} ${STREAM}`);
  }
  filing(id: string) {
    return this.documents.get(`${FILINGS} ${filingDocumentId(STREAM, id)}`);
  }
}

const opened = DocketOpened.of({ court: 'cand', caseNumber: '3:24-cv-01234' });
const checked = (more = {}) =>
  DocketChecked.of({ source: 'file', askedAt: NOON, complete: true, outcome: 'complete', ingestId: 'i', ...more });

describe('the projection of cases', () => {
  it('shows a case only after everything that it refers to', () => {
    const fold = new Fold();
    const name = fold.blob('a', { f1: content('MOTION'), f2: content('ORDER') });
    fold.then(
      opened,
      FilingsRecorded.of({
        askedAt: NOON,
        content: name,
        baseline: true,
        filings: [filing('f1', NOON), filing('f2', LATER)],
      }),
    );
    expect(fold.written.at(-1)).toEqual({ collection: CASES, id: STREAM });
    expect(fold.case).toMatchObject({ filingCount: 2, newestTime: LATER, baseline: 'started', checked: false });
    fold.then(BaselineCompleted.of({ askedAt: NOON, filingCount: 2 }), checked());
    expect(fold.case).toMatchObject({ baseline: 'completed', checked: true, dataAsOf: NOON });
    expect(fold.filing('f1')).toMatchObject({
      case: STREAM,
      description: 'MOTION',
      availableAt: NOON,
      revisedAt: null,
    });
  });

  it('includes revisions in the newest time, except silent ones, and keeps when a filing became available', () => {
    const fold = new Fold();
    const name = fold.blob('a', { f1: content('MOTION') });
    fold.then(
      opened,
      FilingsRecorded.of({ askedAt: NOON, content: name, baseline: true, filings: [filing('f1', NOON)] }),
    );
    const silent = fold.blob('b', { f1: content('MOTION') });
    fold.then(
      FilingRevised.of({
        askedAt: NOON,
        content: silent,
        revisedAt: null,
        changed: ['source_ids'],
        filing: filing('f1', NOON),
      }),
    );
    expect([fold.case?.newestTime, fold.filing('f1')?.revisedAt]).toEqual([NOON, null]);
    const loud = fold.blob('c', { f1: content('MOTION, corrected') });
    fold.then(
      FilingRevised.of({
        askedAt: NOON,
        content: loud,
        revisedAt: LATER,
        changed: ['description'],
        filing: filing('f1', NOON),
      }),
    );
    expect(fold.case?.newestTime).toBe(LATER);
    expect(fold.filing('f1')).toMatchObject({ description: 'MOTION, corrected', availableAt: NOON, revisedAt: LATER });
  });

  it('keeps one of two merged filings', () => {
    const fold = new Fold();
    const name = fold.blob('a', { f1: content('MOTION'), f2: content('MOTION') });
    fold.then(
      opened,
      FilingsRecorded.of({
        askedAt: NOON,
        content: name,
        baseline: false,
        filings: [filing('f1', NOON), filing('f2', NOON)],
      }),
      FilingsMerged.of({ kept: 'f1', merged: 'f2', availableAt: NOON, revisedAt: LATER }),
    );
    expect(fold.filing('f2')).toBeUndefined();
    expect(fold.case).toMatchObject({ filingCount: 1, newestTime: LATER });
  });

  it('serves neither text nor documents of a withdrawn filing, also after a revision', () => {
    const fold = new Fold();
    const name = fold.blob('a', { f1: content('MOTION') });
    const revised = fold.blob('b', { f1: content('MOTION with a name') });
    fold.then(
      opened,
      FilingsRecorded.of({ askedAt: NOON, content: name, baseline: false, filings: [filing('f1', NOON)] }),
      FilingWithdrawn.of({ filingId: 'f1', reason: 'sealed', revisedAt: LATER }),
    );
    const hidden = { withdrawn: true, sealed: true, description: '', documentIdentifier: null, attachments: [] };
    expect(fold.filing('f1')).toMatchObject(hidden);
    fold.then(
      FilingRevised.of({
        askedAt: LATER,
        content: revised,
        revisedAt: null,
        changed: ['source_ids'],
        filing: filing('f1', NOON, { sealed: true }),
      }),
    );
    expect(fold.filing('f1')).toMatchObject(hidden);
    expect(fold.case?.filingCount).toBe(1);
  });

  it('records which case a number refers to', () => {
    const fold = new Fold().then(
      AliasClaimed.of({ court: 'cand', number: '3:24-cv-01234', core: '24-cv-01234', stream: STREAM }),
    );
    expect([...fold.documents.values()]).toEqual([
      { court: 'cand', number: '3:24-cv-01234', core: '24-cv-01234', case: STREAM },
    ]);
  });

  it('does not count an abandoned ingest as a check of the source', () => {
    const fold = new Fold().then(
      opened,
      checked({ outcome: 'abandoned', askedAt: LATER, complete: false, ingestId: null }),
    );
    expect(fold.case).toMatchObject({ checked: false, dataAsOf: null });
  });

  it('shows the time of which feeds said nothing, until a complete look after it; the case becomes no younger', () => {
    const look = (askedAt: string, more: object = {}) =>
      DocketChecked.of({ source: 'x', askedAt, complete: false, outcome: 'partial', ingestId: null, ...more });
    const fold = new Fold().then(DocketOpened.of({ court: 'cand', caseNumber: '3:24-cv-01234' }), look(NOON));
    const first = { from: '2026-03-01T13:00:00.000000Z', to: '2026-03-01T15:00:00.000000Z' };
    const second = { from: '2026-03-01T18:00:00.000000Z', to: '2026-03-01T19:00:00.000000Z' };
    fold.then(look('2026-03-01T16:00:00.000000Z', { gap: first }));
    expect(fold.case).toMatchObject({ dataAsOf: NOON, gap: first });
    fold.then(look('2026-03-01T19:30:00.000000Z', { gap: second }));
    expect(fold.case).toMatchObject({ dataAsOf: NOON, gap: { from: first.from, to: second.to } });
    fold.then(look(LATER));
    fold.then(look('2026-03-01T18:30:00.000000Z', { complete: true }));
    expect(fold.case).toHaveProperty('gap');
    fold.then(look(LATER, { complete: true, outcome: 'unchanged' }));
    expect(fold.case).not.toHaveProperty('gap');
  });

  it('says which look was the newest at the whole docket, whatever parts came since', () => {
    const look = (source: string, askedAt: string, complete: boolean) =>
      checked({ source, askedAt, complete, outcome: complete ? 'unchanged' : 'partial', ingestId: null });
    const fold = new Fold().then(opened, look('rss', NOON, false));
    expect(fold.case).toMatchObject({ dataAsOf: NOON, source: 'rss' });
    expect(fold.case).not.toHaveProperty('whole');
    fold.then(look('scotus', NOON, true), look('rss', LATER, false));
    expect(fold.case).toMatchObject({ dataAsOf: LATER, source: 'rss', whole: { asOf: NOON, source: 'scotus' } });
    fold.then(look('file', LATER, true), look('scotus', NOON, true));
    expect(fold.case).toMatchObject({ whole: { asOf: LATER, source: 'file' } });
  });

  it('continues with a document of an earlier version, which does not say it', () => {
    const fold = new Fold().then(opened, checked());
    const { whole: _, ...earlier } = fold.case as unknown as JsonObject;
    fold.documents.set(`${CASES} ${STREAM}`, earlier);
    fold.then(checked({ source: 'rss', askedAt: LATER, complete: false, outcome: 'partial', ingestId: null }));
    expect(fold.case).not.toHaveProperty('whole');
    fold.then(checked({ source: 'scotus', askedAt: LATER, complete: true, outcome: 'unchanged', ingestId: null }));
    expect(fold.case).toMatchObject({ whole: { asOf: LATER, source: 'scotus' } });
  });

  it('names the source of the newest look, unless that was a file', () => {
    const look = (source: string, askedAt: string) =>
      checked({ source, askedAt, complete: true, outcome: 'unchanged', ingestId: null });
    const pushed = new Fold().then(opened, look('county', NOON));
    expect(pushed.case).toMatchObject({ source: 'county', dataAsOf: NOON });
    pushed.then(look('file', LATER));
    expect(pushed.case).not.toHaveProperty('source');
    pushed.then(look('county', NOON));
    expect(pushed.case).toMatchObject({ dataAsOf: LATER });
    expect(pushed.case).not.toHaveProperty('source');
  });

  describe('after a redaction', () => {
    const filings = { f1: content('MOTION by a minor, named'), f2: content('ORDER') };
    const replacement = { f1: { ...REDACTED_FILING }, f2: content('ORDER') };
    const history = (name: string): DomainEvent[] => [
      opened,
      FilingsRecorded.of({
        askedAt: NOON,
        content: name,
        baseline: true,
        filings: [filing('f1', NOON), filing('f2', LATER)],
      }),
      checked(),
    ];
    /** Content without a replacement is gone for every filing that it held. */
    const redaction = (standIn: string | null) =>
      ContentRedacted.of({
        name: blobName('a'),
        replacement: standIn,
        stream: STREAM,
        revision: 1,
        filingIds: standIn === null ? ['f1', 'f2'] : ['f1'],
        reason: 'order',
      });
    const revise = (fold: Fold) =>
      FilingRevised.of({
        askedAt: LATER,
        content: fold.blob('r', { f1: content('MOTION by a minor') }),
        revisedAt: LATER,
        changed: ['description'],
        filing: filing('f1', NOON),
      });

    for (const kind of ['replaced', 'removed'] as const) {
      it.each([false, true])(
        `folding after it equals redacting after a fold (${kind}; revised between: %s)`,
        (revised) => {
          const live = new Fold();
          live.then(...history(live.blob('a', filings)));
          if (revised) live.then(revise(live));
          if (kind === 'replaced') live.blob('n', replacement);
          live.then(redaction(kind === 'replaced' ? blobName('n') : null));

          const rebuilt = new Fold();
          rebuilt.redact('a', kind === 'replaced' ? replacement : null);
          if (kind === 'replaced') rebuilt.blob('n', replacement);
          rebuilt.then(...history(blobName('a')));
          if (revised) rebuilt.then(revise(rebuilt));
          rebuilt.then(redaction(kind === 'replaced' ? blobName('n') : null));

          const sorted = (fold: Fold) => [...fold.documents].sort();
          expect(sorted(rebuilt)).toEqual(sorted(live));
          expect(JSON.stringify(sorted(live))).not.toContain('named');
        },
      );
    }

    it('removes parties and names with the docket’s head', () => {
      const fold = new Fold();
      const header = {
        caseName: 'Secret v. Name',
        caseNameSecondary: null,
        caseNameSecondaryLanguage: null,
        caseType: 'civil' as const,
        natureOfProceeding: null,
        cause: null,
        assignedJudge: null,
        referredJudge: null,
        dateFiled: null,
        dateClosed: null,
      };
      const parties = [{ name: 'Secret', role: 'Plaintiff', terminatedAt: null, attorneys: [] }];
      const bytes = encodeBlob(detailsBlob({ caseNumber: '3:24-cv-01234', header, parties, crossReferences: [] }));
      fold.blobs.set(blobName('a'), { bytes, redacted: false });
      fold.then(opened, DocketDetailsChanged.of({ askedAt: NOON, content: blobName('a') }));
      expect(JSON.stringify([...fold.documents])).toContain('Secret');
      fold.then(
        ContentRedacted.of({
          name: blobName('a'),
          replacement: null,
          stream: STREAM,
          revision: 1,
          filingIds: [],
          reason: 'order',
        }),
      );
      expect(JSON.stringify([...fold.documents])).not.toContain('Secret');
      expect(fold.case?.caseNumber).toBe('3:24-cv-01234');
    });
  });
});
