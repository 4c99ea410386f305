/**
 * What a consumer reads through the generated types alone: if the document loses a type or gets it wrong, this does not
 * compile.
 */
export interface Bought {
  readonly sandbox: readonly Entry[];
  readonly caseName: string | null;
  readonly batch: readonly Entry[];
}

export type Entry =
  | { readonly status: 'success'; readonly caseName: string | null }
  | { readonly status: 'error'; readonly code: string; readonly charged: boolean };
