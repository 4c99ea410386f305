/** Reads the Supreme Court's file of a case into the normal form (docs/design/sources.md#supreme-court). Never throws. */
import { parseCaseNumber } from '../../courts/case-number.ts';
import type { Court } from '../../courts/court.ts';
import { firmOf } from '../../dockets/attorneys.ts';
import { maskedName } from '../../dockets/mask.ts';
import type { Attorney, CrossReference, DocketSnapshot, Party } from '../../dockets/snapshot.ts';
import { cleanText, clip, MAX_SHORT_TEXT } from '../../dockets/text.ts';
import type { Instant } from '../../runtime/instant.ts';
import { readDate } from './date.ts';
import { readProceeding } from './entry.ts';
import { lowerCourt, lowerCourtReferences } from './lower-court.ts';
import { plainText } from './plain-text.ts';
import { RawCase, RawCounsel, RawRelated } from './schema.ts';

export const SCOTUS = 'scotus';

const MAX_ENTRIES = 20_000;
const MAX_ROWS = 10_000;
const MAX_ATTORNEYS_OF_A_PARTY = 500;
const MAX_RELATED = 200;

export interface SupremeCourtFile {
  readonly snapshot: DocketSnapshot;
  /** Entries that could not be read. */
  readonly unreadable: number;
}

/** @param caseNumber the number that was asked for, in its canonical form */
export function readSupremeCourtFile(
  value: unknown,
  { court, caseNumber, askedAt }: { readonly court: Court; readonly caseNumber: string; readonly askedAt: Instant },
): SupremeCourtFile | { readonly refused: string } {
  const parsed = RawCase.safeParse(value);
  if (!parsed.success) return { refused: 'not a file of a case: CaseNumber and ProceedingsandOrder are expected' };
  const raw = parsed.data;
  const written = numberIn(raw.CaseNumber);
  const number = parseCaseNumber(court, written)?.canonical;
  // A cache between us and the Court can return another file.
  if (number !== caseNumber) return { refused: `the file is of ${JSON.stringify(clip(written, 40))}` };
  if (raw.ProceedingsandOrder.length > MAX_ENTRIES) return { refused: `more than ${MAX_ENTRIES} entries` };
  const shown = raw.ProceedingsandOrder.flatMap((item) => readProceeding(item, court) ?? []);
  // A file without any text has changed its format, and takes no text away.
  const hasTexts = shown.some(({ description }) => description !== '');
  const entries = hasTexts ? shown : shown.map(({ blanked: _, ...entry }) => entry);
  return {
    snapshot: {
      court,
      caseNumber,
      aliases: [],
      header: {
        caseName: caseNameOf(raw),
        caseNameSecondary: null,
        caseNameSecondaryLanguage: null,
        caseType: 'appellate',
        natureOfProceeding: natureOf(raw, caseNumber),
        cause: null,
        assignedJudge: null,
        referredJudge: null,
        dateFiled: readDate(raw.DocketedDate),
        dateClosed: null,
      },
      parties: [
        ...partiesOf(raw.Petitioner, 'Petitioner'),
        ...partiesOf(raw.Respondent, 'Respondent'),
        ...partiesOf(raw.Other, 'Other'),
      ],
      crossReferences: crossReferencesOf(raw, court, caseNumber),
      entries,
      complete: true,
      askedAt,
      source: SCOTUS,
    },
    unreadable: raw.ProceedingsandOrder.length - entries.length,
  };
}

/** The number without the mark of a capital case. */
const numberIn = (text: string): string => cleanText(clip(text, 200)).split('*', 1)[0]?.trim() ?? '';

const shortText = (text: string | null | undefined): string | null =>
  maskedName(plainText(clip(text ?? '', MAX_SHORT_TEXT * 2)), MAX_SHORT_TEXT) || null;

const ROLE_IN_TITLE = /, (?:Petitioner|Applicant|Appellant|Plaintiff|Movant)(?:s|\(s\))?\.?$/i;

function caseNameOf({ PetitionerTitle, RespondentTitle }: RawCase): string | null {
  const first = shortText(PetitionerTitle)?.replace(ROLE_IN_TITLE, '') ?? null;
  const second = shortText(RespondentTitle);
  return first !== null && second !== null ? clip(`${first} v. ${second}`, MAX_SHORT_TEXT) : (first ?? second);
}

const KINDS: Readonly<Record<string, string>> = { A: 'Application', M: 'Motion', O: 'Original case' };

function natureOf({ CaseNumber, bCapitalCase, sJsonCaseType }: RawCase, caseNumber: string): string {
  const letter = KINDS[/^\d\d([AMO])/.exec(caseNumber)?.[1] ?? ''];
  const kind = letter ?? (sJsonCaseType === 'IFP' ? 'Petition in forma pauperis' : 'Petition');
  return bCapitalCase || /capital case/i.test(CaseNumber.slice(0, 200)) ? `${kind}, capital case` : kind;
}

/** A row is an attorney, and names its party. */
function partiesOf(rows: readonly unknown[] | null | undefined, role: string): readonly Party[] {
  const parties = new Map<string, Attorney[]>();
  for (const row of (rows ?? []).slice(0, MAX_ROWS)) {
    const raw = RawCounsel.safeParse(row);
    const name = raw.success ? shortText(raw.data.PartyName) : null;
    if (!raw.success || name === null) continue;
    const attorneys = parties.get(name) ?? [];
    parties.set(name, attorneys);
    if (attorneys.length === MAX_ATTORNEYS_OF_A_PARTY) continue;
    const attorney = shortText(raw.data.Attorney);
    if (attorney === null || attorneys.some((known) => known.name === attorney)) continue;
    const own = attorney === name ? 'Pro se' : null;
    attorneys.push({
      name: attorney,
      role: own ?? (raw.data.IsCounselofRecord ? 'Counsel of record' : null),
      firm: firmOf(plainText(clip(raw.data.Title ?? '', MAX_SHORT_TEXT))),
    });
  }
  return [...parties].map(([name, attorneys]) => ({ name, role, terminatedAt: null, attorneys }));
}

const NUMBERS_IN_TEXT = /\b\d{2}(?:-\d{1,5}|[AMO]\d{1,4})\b/g;

function crossReferencesOf(raw: RawCase, court: Court, own: string): readonly CrossReference[] {
  const related = new Set<string>();
  const relate = (text: string): void => {
    const number = parseCaseNumber(court, numberIn(text))?.canonical;
    if (number !== undefined && number !== own && related.size < MAX_RELATED) related.add(number);
  };
  for (const item of (raw.RelatedCaseNumber ?? []).slice(0, MAX_RELATED)) {
    const one = RawRelated.safeParse(item);
    if (one.success) relate(one.data.DisplayCaseNumber);
  }
  for (const [number] of clip(raw.Links ?? '', 2_000).matchAll(NUMBERS_IN_TEXT)) relate(number);
  const below = shortText(raw.LowerCourt);
  const numbers = plainText(clip(raw.LowerCourtCaseNumbers ?? '', 2_000));
  return [
    ...lowerCourtReferences(below === null ? null : lowerCourt(below), numbers),
    ...[...related].map((caseId) => ({ caseId, courtCode: court.code, relationship: 'related_to' as const })),
  ];
}
