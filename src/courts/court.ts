/** A court in the registry (docs/design/interface.md#1 and #3.1). */

export type Country = 'US' | 'CA';
export type CourtLevel = 'supreme' | 'appellate' | 'trial' | 'bankruptcy' | 'special';
export type CourtLanguage = 'en' | 'fr' | 'bilingual';
export type Coverage = 'full' | 'partial' | 'planned';

export interface Court {
  /** The court's code, e.g. `cand`. */
  readonly code: string;
  /** Other codes of the same court. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly country: Country;
  /** State, province or territory; null for a national court. */
  readonly region: string | null;
  readonly level: CourtLevel;
  /** The court system that it belongs to, e.g. `US federal district courts`. */
  readonly system: string;
  /** Source of a regular expression for a whole case number; null if the court publishes no format. */
  readonly pattern: string | null;
  readonly example: string | null;
  /** IANA name. */
  readonly timeZone: string;
  readonly language: CourtLanguage;
  readonly coverage: Coverage;
  /** `CM/ECF`, `ACMS`, `OSCN`; null if unknown. */
  readonly caseManagementSystem: string | null;
  readonly note: string | null;
}

/** A case number as a court means it, read from typed text. */
export interface CaseNumber {
  /** The one form that identifies this court's case; parsing it returns it unchanged. */
  readonly canonical: string;
  /**
   * The number without its office or division: the part that remains if a caller omits the office.
   * Equal to `canonical` if a court's numbers have no office.
   */
  readonly core: string;
  /** Whether the typed form named the office, or this court's numbers have none: such a number means one case. */
  readonly complete: boolean;
  /** The office or division that the number names, as the court writes it; null if it names none. */
  readonly office: string | null;
  /** `cv`, `cr`, `bk`, `mdl` and so on, lower case; null if the number does not show it. */
  readonly caseType: string | null;
  /** Defendant number, judges' initials and similar: set aside and kept, not interpreted. */
  readonly setAside: string | null;
}
