/** The table of dockets: one row an event, or one for each filing that the event names. It has no text of a filing. */

import type { ContentRedacted } from '../../events/content.ts';
import type { DocketAliasEvent, DocketEvent, RecordedFiling } from '../../events/docket.ts';
import type { EventOf } from '../../events/event.ts';
import type { ReadableLog } from '../readable-log.ts';
import { ownEvents } from './own-events.ts';
import { column, isWithin, type RowOf, type Selection, type Table } from './table.ts';

const DOCKET_COLUMNS = {
  recorded_at: column('time', 'When the event was recorded.'),
  event: column('text', 'What happened: the type of the event.'),
  court: column('text', 'Code of the court.'),
  case_number: column('text', 'Number of the docket; for `AliasClaimed` the other number that means it.'),
  docket: column('text', 'Stream of the docket.'),
  filing_id: column('text', 'The filing, if the event names one.'),
  entry_number: column('integer', 'Number of the docket entry.'),
  date_filed: column('day', 'Day of filing, as the court gives it.'),
  date_entered: column('day', 'Day of entry, as the court gives it.'),
  filed_at: column('time', 'Exact time of filing, if the source knows it.'),
  entered_at: column('time', 'Exact time of entry, if the source knows it.'),
  available_at: column('time', 'When this service first had the filing.'),
  filing_type: column('text', 'Type of the filing.'),
  sealed: column('boolean', 'Whether the filing is sealed.'),
  backfilled: column('boolean', 'Whether it is older than the first complete view of its docket.'),
  baseline: column('boolean', 'Whether the event belongs to that first view.'),
  asked_at: column('time', 'When the source was asked.'),
  source: column('text', 'The source that was checked.'),
  complete: column('boolean', 'Whether the source showed the whole docket.'),
  outcome: column('text', 'Outcome of a check.'),
  filing_count: column('integer', 'Number of filings in the first complete view.'),
  changed: column('text', 'What changed in a filing, separated by spaces.'),
  revised_at: column('time', 'When a change of a filing was announced.'),
  merged_into: column('text', 'The filing that this one turned out to be.'),
  reason: column('text', 'Why a filing or its content was removed, or the docket forgotten.'),
  stream: column('text', 'Stream of the event.'),
  revision: column('integer', 'Revision of the event.'),
  hash: column('text', 'Hash of the event.'),
} as const;

export type DocketRow = RowOf<typeof DOCKET_COLUMNS>;

type Folded = DocketEvent | DocketAliasEvent | EventOf<typeof ContentRedacted>;

export const dockets: Table = { columns: DOCKET_COLUMNS, rows: docketRows };

/** Rows in the order of the log. */
export async function* docketRows(log: ReadableLog, selection: Selection): AsyncIterable<DocketRow> {
  for await (const { recorded, event } of ownEvents(log, ['docket-', 'content-'])) {
    const { stream, revision, metadata } = recorded;
    if (!isWithin(metadata.recordedAt, selection)) continue;
    const common = {
      ...EMPTY,
      ...docketOf(stream),
      recorded_at: metadata.recordedAt,
      event: event.type,
      stream,
      revision,
      hash: metadata.hash,
    };
    for (const facts of factsOf(event as Folded)) yield { ...common, ...facts };
  }
}

const EMPTY = Object.fromEntries(Object.keys(DOCKET_COLUMNS).map((name) => [name, null])) as DocketRow;

/** No code of a court contains a hyphen; numbers of cases do. */
function docketOf(stream: string): Pick<DocketRow, 'docket' | 'court' | 'case_number'> {
  const [, court, number] = /^docket-([^-]+)-(.+)$/s.exec(stream) ?? [];
  return court === undefined || number === undefined
    ? { docket: null, court: null, case_number: null }
    : { docket: stream, court, case_number: number };
}

function factsOf(event: Folded): readonly Partial<DocketRow>[] {
  switch (event.type) {
    case 'AliasClaimed': {
      const { court, number, stream } = event.data;
      return [{ court, case_number: number, docket: stream }];
    }
    case 'DocketOpened':
      return [{ court: event.data.court, case_number: event.data.caseNumber }];
    case 'DocketChecked': {
      const { source, askedAt, complete, outcome } = event.data;
      return [{ source, asked_at: askedAt, complete, outcome }];
    }
    case 'DocketDetailsChanged':
      return [{ asked_at: event.data.askedAt }];
    case 'FilingsRecorded': {
      const { askedAt, baseline, filings } = event.data;
      return filings.map((filing) => ({ ...filingOf(filing), asked_at: askedAt, baseline }));
    }
    case 'BaselineCompleted':
      return [{ asked_at: event.data.askedAt, filing_count: event.data.filingCount }];
    case 'FilingRevised': {
      const { askedAt, revisedAt, changed, filing } = event.data;
      return [{ ...filingOf(filing), asked_at: askedAt, revised_at: revisedAt, changed: changed.join(' ') }];
    }
    case 'FilingsMerged': {
      const { kept, merged, availableAt, revisedAt } = event.data;
      return [{ filing_id: merged, merged_into: kept, available_at: availableAt, revised_at: revisedAt }];
    }
    case 'FilingWithdrawn': {
      const { filingId, reason, revisedAt } = event.data;
      return [{ filing_id: filingId, reason, revised_at: revisedAt }];
    }
    case 'DocketForgotten':
      return [{ reason: event.data.reason }];
    case 'ContentRedacted': {
      const { stream, filingIds, reason } = event.data;
      const ids = filingIds.length > 0 ? filingIds : [null];
      return ids.map((id) => ({ ...docketOf(stream), filing_id: id, reason }));
    }
  }
}

const filingOf = (filing: RecordedFiling): Partial<DocketRow> => ({
  filing_id: filing.filingId,
  entry_number: filing.entryNumber,
  date_filed: filing.dateFiled,
  date_entered: filing.dateEntered,
  filed_at: filing.filedAt,
  entered_at: filing.enteredAt,
  available_at: filing.availableAt,
  filing_type: filing.filingType,
  sealed: filing.sealed,
  backfilled: filing.backfilled,
});
