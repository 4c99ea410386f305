/** What `docket doctor` says of one part. */

/** What one look found; `mend` says what to do about it. */
export interface Diagnosis {
  readonly part: string;
  readonly ok: boolean;
  readonly found: string;
  readonly mend: string | null;
}

export const good = (part: string, found: string): Diagnosis => ({ part, ok: true, found, mend: null });
export const bad = (part: string, found: string, mend: string): Diagnosis => ({ part, ok: false, found, mend });
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
