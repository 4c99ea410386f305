/** The parts of the masking rules, in either language. Every repetition in them is bounded. */

export const ADDRESS_REMOVED = '[address removed]';

export interface MaskRule {
  /** A text must match this for the rule to be worth running. */
  readonly sign: RegExp;
  readonly pattern: RegExp;
  readonly replacement: string;
}

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre)';

/** A date in any notation found in texts. */
export const DATE = `(?:\\d{1,4}[/.-]\\d{1,2}[/.-]\\d{1,4}|\\d{1,2}[/.-](?:19|20)\\d\\d|${MONTH}\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{2,4}|\\d{1,2}(?:er|st|nd|rd|th)?[ -](?:of )?${MONTH}\\.?,?[ -]\\d{2,4}|${MONTH}\\.? \\d{4})`;

/** A company may be named after its house; its name is kept. */
export const NOT_A_COMPANY =
  '(?!\\.?,? (?:LLC|L\\.L\\.C|Inc|Corp|LP|LLP|Ltd|Co\\b|Company|Realty|Associates|Partners|Holdings|Properties|Owners|Condominium|Trust|Apartments|Bank|HDFC|Group))';

/** Lets the lower-case letters of an expression match both cases; the rest of the expression is unchanged. */
export function caseless(source: string): string {
  return source.replace(/\\.(?:\{[^}]*\})?|[a-zà-ÿ]/g, (part) =>
    part.length === 1 ? `[${part}${part.toUpperCase()}]` : part,
  );
}
