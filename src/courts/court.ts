/** A court as the registry knows it (docs/design/interface.md#1 and #3.1). */

export type Country = 'US' | 'CA';
export type CourtLevel = 'supreme' | 'appellate' | 'trial' | 'bankruptcy' | 'special';
export type CourtLanguage = 'en' | 'fr' | 'bilingual';
export type Coverage = 'full' | 'partial' | 'planned';

export interface Court {
  /** The court's code, e.g. `cand`. */
  readonly code: string;
  /** Other codes that mean the same court. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly country: Country;
  /** State, province or territory; null for a court of the whole country. */
  readonly region: string | null;
  readonly level: CourtLevel;
  /** The court system that it belongs to, e.g. `US federal district courts`. */
  readonly system: string;
  /** Regular expression source that a whole case number matches; null where the court publishes no format. */
  readonly pattern: string | null;
  readonly example: string | null;
  /** IANA name. */
  readonly timeZone: string;
  readonly language: CourtLanguage;
  readonly coverage: Coverage;
  /** `CM/ECF`, `ACMS`, `OSCN`; null where not known. */
  readonly caseManagementSystem: string | null;
  readonly note: string | null;
}

/** A case number as a court means it, read from what somebody typed. */
export interface CaseNumber {
  /** The one form that this court's cases are known by; a fixed point of parsing. */
  readonly canonical: string;
  /**
   * The number without its office or division: what stays the same where a caller leaves the office out.
   * Equal to `canonical` where a court's numbers have no office.
   */
  readonly core: string;
  /** Whether the typed form named the office, or this court's numbers have none: such a number means one case. */
  readonly complete: boolean;
  /** The office or division that the number names, as the court writes it; null where it names none. */
  readonly office: string | null;
  /** `cv`, `cr`, `bk`, `mdl` and so on, lower case; null where the number does not say. */
  readonly caseType: string | null;
  /** Defendant number, judges' initials and the like: set aside, kept, not guessed. */
  readonly setAside: string | null;
}
