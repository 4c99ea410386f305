/**
 * This service's own docket format: one JSON object per line, as `docket cases export` writes it and `docket import`
 * reads it. It covers the whole normalised model. Reading trusts nothing: texts are masked and limited as for any
 * source, and one bad entry does not affect the others.
 */
import { z } from 'zod';
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { Country } from '../../courts/court.ts';
import { findCourt } from '../../courts/registry.ts';
import { isDay } from '../../dockets/court-time.ts';
import { maskedName, maskedText } from '../../dockets/mask.ts';
import type { DocketSnapshot, SnapshotEntry } from '../../dockets/snapshot.ts';
import { cleanText, clip, MAX_SHORT_TEXT, MAX_TEXT } from '../../dockets/text.ts';
import type { JsonObject } from '../../events/event.ts';
import { Instant } from '../../runtime/instant.ts';
import type { LeftOut, ReadDocket, ReadOptions, UnreadableDocket } from '../juriscraper/juriscraper.ts';
import { faultOf } from '../juriscraper/schema.ts';

/** Names the form of a line; another number is another form. */
export const OWN_FORMAT = 'docket-monitor/1';

const MAX_ATTACHMENTS = 1_000;
const MAX_PARTIES = 10_000;
const MAX_ATTORNEYS = 500;

const Day = z.string().refine(isDay, 'this day does not exist').nullish().transform(orNull);
const Time = Instant.nullish().transform(orNull);
const Name = z
  .string()
  .nullish()
  .transform((text) => maskedName(text ?? '', MAX_SHORT_TEXT) || null);
const Identifier = z
  .string()
  .max(200)
  .nullish()
  .transform((text) => cleanText(text ?? '') || null);
const Text = (limit: number, country: Country) =>
  z
    .string()
    .nullish()
    .transform((text) => maskedText(text ?? '', limit, country));

/** An address without invisible characters; other non-ASCII characters are escaped. */
const visibleUrl = (url: string): string => cleanText(url).replace(/[^\x21-\x7E]/gu, encodeURIComponent);

function orNull<Value>(value: Value | null | undefined): Value | null {
  return value ?? null;
}

const Header = z.object({
  case_name: Name,
  case_name_secondary: Name,
  case_name_secondary_language: z.enum(['en', 'fr']).nullish().transform(orNull),
  case_type: z
    .enum(['civil', 'criminal', 'bankruptcy', 'adversary', 'appellate', 'mdl', 'tax', 'other'])
    .nullish()
    .transform(orNull),
  nature_of_proceeding: Name,
  cause: Name,
  assigned_judge: Name,
  referred_judge: Name,
  date_filed: Day,
  date_closed: Day,
});

const Attorney = z.object({ name: z.string(), role: Name, firm: Name });
const Party = z.object({
  name: z.string(),
  role: Name,
  terminated_at: Day,
  attorneys: z.array(Attorney).max(MAX_ATTORNEYS).default([]),
});

const CrossReference = z.object({
  case_id: z.string().min(1).max(200),
  court_code: z
    .string()
    .max(64)
    .nullable()
    .transform((code) => (code === null ? null : cleanText(code))),
  relationship: z.enum([
    'consolidated_with',
    'appealed_from',
    'appealed_to',
    'related_to',
    'member_case_of_mdl',
    'same_party',
    'other',
  ]),
});

const IDENTIFIER_TYPES = [
  'pacer_doc_id',
  'acms_document_guid',
  'fct_recorded_entry_id',
  'tyler_envelope_id',
  'tyler_event_id',
  'tyler_document_id',
  'none',
] as const;

const PositiveInteger = z.int().positive().nullish().transform(orNull);

const entryIn = (country: Country) =>
  z.object({
    entry_number: z.int().nonnegative().nullish().transform(orNull),
    date_filed: Day,
    date_entered: Day,
    filed_at: Time,
    entered_at: Time,
    description: Text(MAX_TEXT, country),
    short_description: Text(MAX_SHORT_TEXT, country),
    filed_by: Name,
    document_identifier: Identifier,
    document_identifier_type: z.enum(IDENTIFIER_TYPES).default('none'),
    source_ids: z.record(z.string().max(64), z.string().max(200)).default({}),
    external_url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .nullish()
      .transform((url) => (url ? visibleUrl(url) : null)),
    attachments: z
      .array(
        z.object({
          attachment_number: PositiveInteger,
          description: Text(300, country),
          document_identifier: Identifier,
          page_count: PositiveInteger,
        }),
      )
      .max(MAX_ATTACHMENTS)
      .default([]),
    sealed: z.boolean().default(false),
  });

const ENTRY = { US: entryIn('US'), CA: entryIn('CA') } as const;

const Docket = z.object({
  court_code: z.string(),
  case_number: z.string().max(200),
  aliases: z.array(z.string().max(200)).max(100).default([]),
  asked_at: Instant.optional(),
  complete: z.boolean().default(true),
  header: Header.prefault({}),
  parties: z.array(z.unknown()).default([]),
  cross_references: z.array(z.unknown()).default([]),
  entries: z.array(z.unknown()).optional(),
});

/** Whether a JSON value claims this form, of any version. */
export const isOwnDocket = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'format' in value &&
  typeof value.format === 'string' &&
  value.format.startsWith('docket-monitor/');

/** Reads one docket. Never throws. The docket's own `asked_at` applies, unless it lies after that of the options. */
export function readOwnDocket(value: unknown, options: ReadOptions): ReadDocket | UnreadableDocket {
  if ((value as { readonly format?: unknown }).format !== OWN_FORMAT) {
    return { refused: `not of the form ${OWN_FORMAT}` };
  }
  const parsed = Docket.safeParse(value);
  if (!parsed.success) return { refused: faultOf(parsed.error) };
  const raw = parsed.data;
  const court = findCourt(raw.court_code);
  if (!court) return { refused: `unknown court ${JSON.stringify(clip(cleanText(raw.court_code), 40))}` };
  const caseNumber = cleanText(raw.case_number);
  if (!parseCaseNumber(court, caseNumber)) {
    return { refused: `not a case number of ${court.code}: ${JSON.stringify(clip(caseNumber, 60))}` };
  }
  const skipped: LeftOut[] = [];
  const items = <Item>(name: string, values: readonly unknown[], schema: z.ZodType<Item>, limit: number): Item[] =>
    values.flatMap((item, index) => {
      const where = `${name}[${index}]`;
      const read = schema.safeParse(item);
      if (read.success && index < limit) return [read.data];
      skipped.push({ where, why: read.error ? faultOf(read.error) : `a docket has at most ${limit}` });
      return [];
    });
  const { header } = raw;
  const snapshot: DocketSnapshot = {
    court,
    caseNumber,
    aliases: raw.aliases.map(cleanText),
    header: {
      caseName: header.case_name,
      caseNameSecondary: header.case_name_secondary,
      caseNameSecondaryLanguage: header.case_name_secondary_language,
      caseType: header.case_type,
      natureOfProceeding: header.nature_of_proceeding,
      cause: header.cause,
      assignedJudge: header.assigned_judge,
      referredJudge: header.referred_judge,
      dateFiled: header.date_filed,
      dateClosed: header.date_closed,
    },
    parties: items('parties', raw.parties, Party, MAX_PARTIES).flatMap(({ name, role, terminated_at, attorneys }) => {
      const own = maskedName(name, MAX_SHORT_TEXT);
      if (own === '') return [];
      const named = attorneys.map((one) => ({ ...one, name: maskedName(one.name, MAX_SHORT_TEXT) }));
      return [{ name: own, role, terminatedAt: terminated_at, attorneys: named.filter((one) => one.name !== '') }];
    }),
    crossReferences: items('cross_references', raw.cross_references, CrossReference, MAX_PARTIES).map((reference) => ({
      caseId: maskedName(reference.case_id, 200),
      courtCode: reference.court_code,
      relationship: reference.relationship,
    })),
    // Named `docket_entries`, because a report counts skipped items of that name as skipped entries.
    entries: items('docket_entries', raw.entries ?? [], ENTRY[court.country], Number.POSITIVE_INFINITY).map(entryOf),
    complete: raw.complete && options.complete && raw.entries !== undefined,
    askedAt: raw.asked_at !== undefined && raw.asked_at < options.askedAt ? raw.asked_at : options.askedAt,
    source: options.source,
  };
  const remarks: LeftOut[] =
    raw.entries === undefined && raw.complete && options.complete
      ? [{ where: 'entries', why: 'no list of entries: imported as part of the docket, as with --partial' }]
      : [];
  return { snapshot, skipped, remarks };
}

const entryOf = (raw: z.infer<ReturnType<typeof entryIn>>): SnapshotEntry => ({
  entryNumber: raw.entry_number,
  dateFiled: raw.date_filed,
  dateEntered: raw.date_entered,
  filedAt: raw.filed_at,
  enteredAt: raw.entered_at,
  description: raw.description,
  shortDescription: raw.short_description || null,
  filedBy: raw.filed_by,
  documentIdentifier: raw.document_identifier,
  documentIdentifierType: raw.document_identifier === null ? 'none' : raw.document_identifier_type,
  sourceIds: raw.source_ids,
  externalUrl: raw.external_url,
  attachments: raw.attachments.map((attachment) => ({
    attachmentNumber: attachment.attachment_number,
    description: attachment.description || null,
    documentIdentifier: attachment.document_identifier,
    pageCount: attachment.page_count,
  })),
  sealed: raw.sealed,
});

/** A docket in this form: reading it gives the same snapshot again, except for its source. */
export const writeOwnDocket = (snapshot: DocketSnapshot): JsonObject => ({
  format: OWN_FORMAT,
  court_code: snapshot.court.code,
  case_number: snapshot.caseNumber,
  aliases: [...snapshot.aliases],
  asked_at: snapshot.askedAt,
  complete: snapshot.complete,
  header: {
    case_name: snapshot.header.caseName,
    case_name_secondary: snapshot.header.caseNameSecondary,
    case_name_secondary_language: snapshot.header.caseNameSecondaryLanguage,
    case_type: snapshot.header.caseType,
    nature_of_proceeding: snapshot.header.natureOfProceeding,
    cause: snapshot.header.cause,
    assigned_judge: snapshot.header.assignedJudge,
    referred_judge: snapshot.header.referredJudge,
    date_filed: snapshot.header.dateFiled,
    date_closed: snapshot.header.dateClosed,
  },
  parties: snapshot.parties.map(({ name, role, terminatedAt, attorneys }) => ({
    name,
    role,
    terminated_at: terminatedAt,
    attorneys: attorneys.map((attorney) => ({ name: attorney.name, role: attorney.role, firm: attorney.firm })),
  })),
  cross_references: snapshot.crossReferences.map(({ caseId, courtCode, relationship }) => ({
    case_id: caseId,
    court_code: courtCode,
    relationship,
  })),
  entries: snapshot.entries.map((entry) => ({
    entry_number: entry.entryNumber,
    date_filed: entry.dateFiled,
    date_entered: entry.dateEntered,
    filed_at: entry.filedAt,
    entered_at: entry.enteredAt,
    description: entry.description,
    short_description: entry.shortDescription,
    filed_by: entry.filedBy,
    document_identifier: entry.documentIdentifier,
    document_identifier_type: entry.documentIdentifierType,
    source_ids: { ...entry.sourceIds },
    external_url: entry.externalUrl,
    attachments: entry.attachments.map((attachment) => ({
      attachment_number: attachment.attachmentNumber,
      description: attachment.description,
      document_identifier: attachment.documentIdentifier,
      page_count: attachment.pageCount,
    })),
    sealed: entry.sealed,
  })),
});
