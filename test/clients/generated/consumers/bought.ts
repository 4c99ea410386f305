/** What a consumer reads by the generated types alone: a type that the document loses or gets wrong does not compile. */
export interface Bought {
  readonly sandbox: readonly Entry[];
  readonly caseName: string | null;
  readonly batch: readonly Entry[];
}

export type Entry =
  | { readonly status: 'success'; readonly caseName: string | null }
  | { readonly status: 'error'; readonly code: string; readonly charged: boolean };
