/** What `docket doctor` reports about one part. */

/** The result of one check; `hint` says how to fix a failure. */
export interface Diagnosis {
  readonly part: string;
  readonly ok: boolean;
  readonly found: string;
  readonly hint: string | null;
}

export const good = (part: string, found: string): Diagnosis => ({ part, ok: true, found, hint: null });
export const bad = (part: string, found: string, hint: string): Diagnosis => ({ part, ok: false, found, hint });
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
