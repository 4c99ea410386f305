/** What the masking rules are made of, in either language. Every repetition in them is bounded. */

export const ADDRESS_REMOVED = '[address removed]';

export interface MaskRule {
  /** What must be in a text for the rule to be worth its time. */
  readonly sign: RegExp;
  readonly pattern: RegExp;
  readonly replacement: string;
}

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre)';

/** A date, as exact as texts give one. */
export const DATE = `(?:\\d{1,4}[/.-]\\d{1,2}[/.-]\\d{1,4}|\\d{1,2}[/.-](?:19|20)\\d\\d|${MONTH}\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{2,4}|\\d{1,2}(?:er|st|nd|rd|th)?[ -](?:of )?${MONTH}\\.?,?[ -]\\d{2,4}|${MONTH}\\.? \\d{4})`;

/** A company may be named after its house; its name stays. */
export const NOT_A_COMPANY =
  '(?!\\.?,? (?:LLC|L\\.L\\.C|Inc|Corp|LP|LLP|Ltd|Co\\b|Company|Realty|Associates|Partners|Holdings|Properties|Owners|Condominium|Trust|Apartments|Bank|HDFC|Group))';

/** Lets lower-case letters of an expression match both cases, without touching the rest of the expression. */
export function caseless(source: string): string {
  return source.replace(/\\.(?:\{[^}]*\})?|[a-zà-ÿ]/g, (part) =>
    part.length === 1 ? `[${part}${part.toUpperCase()}]` : part,
  );
}
