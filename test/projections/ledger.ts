/**
 * A projection for tests: each document lists, in order, the events that touched it, so that anything done twice shows.
 */
import { ContentRedacted } from '../../src/events/content.ts';
import type { DomainEvent, JsonObject } from '../../src/events/event.ts';
import { QueryAnswered } from '../../src/events/payment.ts';
import type { ProjectedEvent, Projection, Target } from '../../src/projections/projection.ts';

export interface LedgerDocument {
  readonly [key: string]: string | number | readonly string[];
  readonly entries: readonly string[];
}

/** An entry whose text is this makes the fold throw. */
export const POISON = 'poison';
/** An entry whose text is this deletes the documents that it touches. */
export const DELETE = 'delete';

/** Touches the filings in their order, then the case. */
export const entry = (filings: readonly string[], caseId: string, text: string): DomainEvent =>
  ContentRedacted.of({
    name: 'none',
    replacement: null,
    stream: caseId,
    revision: 0,
    filingIds: [...filings],
    reason: text,
  });

export function ledger(name = 'ledger'): Projection {
  const filings = `${name}-filings`;
  const cases = `${name}-cases`;
  return {
    name,
    events: [ContentRedacted, QueryAnswered],
    collections: [
      { name: filings, indexes: [] },
      { name: cases, indexes: [['size']] },
    ],
    contentOf: ({ type, data }) => {
      const { answer } = data as { answer?: string | null };
      return type === QueryAnswered.type && answer ? [answer] : [];
    },
    targets: ({ event, recorded }: ProjectedEvent): readonly Target[] => {
      if (event.type === QueryAnswered.type) return [{ collection: cases, id: recorded.stream }];
      const { filingIds, stream } = event.data as { filingIds: string[]; stream: string };
      return [...filingIds.map((id) => ({ collection: filings, id })), { collection: cases, id: stream }];
    },
    fold: (_, document, { event, contents }): JsonObject | null => {
      const entries = (document as LedgerDocument | null)?.entries ?? [];
      if (event.type === QueryAnswered.type) {
        const texts = [...contents.values()].map(({ bytes, redacted }) => `${bytes}${redacted ? ' (redacted)' : ''}`);
        return { entries: [...entries, ...(texts.length > 0 ? texts : ['(expired)'])], size: entries.length + 1 };
      }
      const { reason } = event.data as { reason: string };
      if (reason === POISON) throw new Error('this entry cannot be folded');
      return reason === DELETE ? null : { entries: [...entries, reason], size: entries.length + 1 };
    },
  };
}
