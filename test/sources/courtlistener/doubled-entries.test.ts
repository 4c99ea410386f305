/**
 * Entries that CourtListener has twice (docs/design/sources.md#courtlistener).
 * Given rows of one docket, when some are the same entry, then it is one; and what only resembles another stays apart.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/events/event.ts';
import { composeDocket } from '../../../src/sources/courtlistener/courtlistener.ts';
import { withoutDoubles } from '../../../src/sources/courtlistener/doubled-entries.ts';
import { readJuriscraperDocket } from '../../../src/sources/juriscraper/juriscraper.ts';

let lastId = 0;
const row = (more: JsonObject = {}, document: JsonObject | null = {}): JsonObject => ({
  id: ++lastId,
  docket: 7,
  entry_number: 12,
  date_filed: '2026-04-02',
  time_filed: null,
  description: 'MOTION to dismiss (Entered: 04/02/2026)',
  pacer_sequence_number: null,
  date_created: `2026-04-02T14:55:09.${String(lastId).padStart(6, '0')}-07:00`,
  recap_documents: document === null ? [] : [{ document_type: 1, pacer_doc_id: '067030241907', ...document }],
  ...more,
});

describe('rows of one entry', () => {
  it('are one by their document, whichever digit its request left, with the text of the one that has it', () => {
    const [stub, full] = [row({ description: '' }), row({}, { pacer_doc_id: '067130241907' })];
    for (const rows of [
      [stub, full],
      [full, stub],
    ]) {
      expect(withoutDoubles(rows)).toMatchObject([{ id: full.id, description: expect.stringMatching(/^MOTION/) }]);
    }
  });

  it('are one by PACER’s sequence, or by number, day and text if nothing identifies them', () => {
    expect(withoutDoubles([row({ pacer_sequence_number: 31 }, null), row({ pacer_sequence_number: 31 })])).toHaveLength(
      1,
    );
    expect(withoutDoubles([row({}, null), row({ description: 'MOTION to dismiss' }, null)])).toHaveLength(1);
  });

  it('of a minute entry are one only if nothing identifies one of them', () => {
    const minute = { entry_number: null, description: 'MINUTE entry' };
    const known = row({ ...minute, pacer_sequence_number: 11 }, null);
    expect(withoutDoubles([known, row(minute, null)])).toHaveLength(1);
    expect(withoutDoubles([row(minute, null), row(minute, null)])).toHaveLength(2);
    expect(withoutDoubles([known, row({ ...minute, pacer_sequence_number: 12 }, null)])).toHaveLength(2);
  });

  it('keep a seal that one of them has', () => {
    const [sealed, full] = [row({ description: '' }, { is_sealed: true }), row()];
    expect(withoutDoubles([sealed, full])).toMatchObject([{ recap_documents: [{ is_sealed: true }] }]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['numbers', row(), row({ entry_number: 13 })],
    ['documents', row(), row({}, { pacer_doc_id: '067030999999' })],
    ['sequences', row({ pacer_sequence_number: 1 }), row({ pacer_sequence_number: 2 })],
    ['texts, without ids', row({}, null), row({ description: 'ORDER' }, null)],
    ['days, without ids', row({}, null), row({ date_filed: '2026-04-03' }, null)],
  ])('with other %s are two entries', (_, a, b) => {
    expect(withoutDoubles([a, b])).toHaveLength(2);
  });

  it('are found in any order, and a list without doubles stays as it is', () => {
    const many = Array.from({ length: 40 }, (_, index) =>
      row({ entry_number: index + 1 }, { pacer_doc_id: String(67_030_000_000 + index) }),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(many), (some) => {
        expect(withoutDoubles(some)).toEqual(some);
        expect(withoutDoubles([...some, ...some.map((one) => ({ ...one, description: '' }))])).toHaveLength(
          some.length,
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe('entries that only courts of appeals have', () => {
  const read = (entry: JsonObject) => {
    const docket = { court_id: 'ca9', docket_number: '26-1234' };
    const value = composeDocket({ id: '7', docket, entries: [entry], parties: [], attorneys: [] });
    const found = readJuriscraperDocket(value, {
      askedAt: '2026-04-03T00:00:00.000000Z',
      complete: true,
      source: 'courtlistener',
    });
    if ('refused' in found) throw new Error(found.refused);
    return found.snapshot.entries[0];
  };

  it('may have attachments alone, and a document’s id where others have a number', () => {
    const attachments = [1, 2].map((number) => ({
      document_type: 2,
      attachment_number: number,
      pacer_doc_id: `00913066842${number}`,
      description: `Brief ${number}`,
    }));
    expect(read(row({ entry_number: 9_130_668_421, recap_documents: attachments }))).toMatchObject({
      entryNumber: null,
      documentIdentifier: null,
      attachments: [{ attachmentNumber: 1, documentIdentifier: '009030668421' }, { attachmentNumber: 2 }],
    });
  });

  it('may be identified by ACMS, and show nothing of a sealed attachment', () => {
    const guid = '1f0b7a0e-93d5-4d3a-8e0e-6f5a1c0f7f3b';
    const documents = [
      { document_type: 1, pacer_doc_id: '', acms_document_guid: guid },
      { document_type: 2, attachment_number: 1, pacer_doc_id: '009130668422', description: 'Medical', is_sealed: true },
    ];
    expect(read(row({ recap_documents: documents }))).toMatchObject({
      documentIdentifier: guid,
      documentIdentifierType: 'acms_document_guid',
      sealed: false,
      attachments: [{ attachmentNumber: 1, description: null, documentIdentifier: null, pageCount: null }],
    });
  });
});
