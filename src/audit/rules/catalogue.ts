/** Every rule that `docket audit verify` checks, by the name that it reports. */

export interface Rule {
  /** What holds if the rule is kept. */
  readonly holds: string;
}

const rule = (holds: string): Rule => ({ holds });

export const RULES = {
  hash_matches: rule("Each event's hash is that of its content and of the hash before it in its stream."),
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;
