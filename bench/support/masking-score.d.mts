export interface LabelledEntry {
  readonly id: string;
  readonly split: 'tune' | 'held-out';
  readonly country: 'US' | 'CA';
  readonly text: string;
  readonly details: readonly { readonly kind: string; readonly start: number; readonly end: number }[];
}

export interface MaskingCounts {
  readonly details: number;
  readonly hidden: number;
  readonly maskings: number;
  readonly right: number;
}

export interface MaskingScore {
  readonly kinds: ReadonlyMap<string, MaskingCounts>;
  readonly all: MaskingCounts;
  readonly recall: number;
  readonly precision: number;
  readonly faults: readonly {
    readonly id: string;
    readonly kind: string;
    readonly fault: 'shown' | 'wrong';
    readonly detail: string;
    readonly masked: string;
  }[];
}

export const KINDS: readonly string[];
export function readCorpus(content: string): readonly LabelledEntry[];
export function scoreMasking(
  entries: readonly LabelledEntry[],
  mask: (text: string, country: 'US' | 'CA') => string,
): MaskingScore;
