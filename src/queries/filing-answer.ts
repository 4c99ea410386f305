/** A filing in the form of answers (docs/design/interface.md#2.3). */

import type { FilingDocument } from '../dockets/case-document.ts';
import { dayAsTimestamp, dayAt } from '../dockets/court-time.ts';
import type { JsonObject } from '../events/event.ts';
import { toMicros } from '../runtime/instant.ts';

/** @param timeZone of the court: a day is a day in the court's time zone */
export function filingAnswer(filing: FilingDocument, timeZone: string): JsonObject {
  const filedAt = filing.filedAt ?? startOf(filing.dateFiled ?? dayEntered(filing, timeZone), timeZone);
  return {
    filing_id: filing.filingId,
    entry_number: filing.entryNumber,
    filed_at: filedAt,
    filed_at_precision: filedAt === null ? null : filing.filedAt === null ? 'day' : 'second',
    entered_at: filing.enteredAt,
    available_at: filing.availableAt,
    backfilled: filing.backfilled,
    revised_at: filing.revisedAt,
    filing_type: filing.filingType,
    filing_types: filing.filingTypes,
    filed_by: filing.filedBy,
    description: filing.description,
    document_identifier: filing.documentIdentifier,
    document_identifier_type: filing.documentIdentifierType,
    external_url: filing.externalUrl,
    attachments: filing.attachments.map((attachment) => ({
      attachment_number: attachment.attachmentNumber,
      description: attachment.description,
      document_identifier: attachment.documentIdentifier,
      page_count: attachment.pageCount,
    })),
    sealed: filing.sealed,
  };
}

const startOf = (day: string | null, timeZone: string) => (day === null ? null : dayAsTimestamp(timeZone, day));

/** A feed says only when an entry was made, which is its day of filing for as long as no docket sheet says another. */
const dayEntered = ({ enteredAt }: FilingDocument, timeZone: string): string | null =>
  enteredAt === null ? null : dayAt(timeZone, toMicros(enteredAt)).day;
