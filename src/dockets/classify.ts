/** Classifies a docket entry by the head of its text (docs/design/dockets.md#filing-types). */
import { FURTHER_TYPES } from './filing-rules/also.ts';
import { APPEALS } from './filing-rules/appeals.ts';
import { BANKRUPTCY } from './filing-rules/bankruptcy.ts';
import { COURT_ACTS } from './filing-rules/court-acts.ts';
import { FRENCH } from './filing-rules/french.ts';
import { headOf } from './filing-rules/head.ts';
import { NOTICE_KEYWORDS, noticeTypes } from './filing-rules/notices.ts';
import { PAPERS } from './filing-rules/papers.ts';
import { PLEADINGS } from './filing-rules/pleadings.ts';
import type { Rule, Rules } from './filing-rules/rule.ts';
import { STATEMENTS } from './filing-rules/statements.ts';
import { WHOLE_ENTRY } from './filing-rules/whole-entry.ts';
import type { FilingType, FilingTypes } from './filing-type.ts';

/**
 * Classifies an entry: its primary type and everything else that its caption is or does. The first word that names an
 * act decides, together with what follows it, since what a text does comes before what it mentions. Reads only the head
 * of the text, in English or French; never throws.
 */
export function classifyFiling(text: string): FilingTypes {
  const head = headOf(text);
  const whole = firstFitting(WHOLE_ENTRY, head);
  if (whole !== null) return withFurther(whole, head, 0);
  WORD.lastIndex = 0;
  for (let word = WORD.exec(head); word !== null; word = WORD.exec(head)) {
    if (NOTICE_KEYWORDS.has(word[0])) return withFurther(noticeTypes(head.slice(word.index)), head, word.index);
    const rules = RULES_BY_KEYWORD.get(word[0]);
    if (rules === undefined) continue;
    const types = firstFitting(rules, head.slice(word.index));
    if (types !== null) return withFurther(types, head, word.index);
  }
  return OTHER;
}

const OTHER: FilingTypes = { primary: 'other', all: ['other'] };

const WORD = /[a-z0-9]+(?:[-'][a-z]{2,})*/g;

/** French first: its rules for words that both languages share match only French texts. */
const RULES_BY_KEYWORD = rulesByKeyword([FRENCH, COURT_ACTS, PLEADINGS, STATEMENTS, PAPERS, APPEALS, BANKRUPTCY]);

function rulesByKeyword(sets: readonly Rules[]): ReadonlyMap<string, readonly Rule[]> {
  const byKeyword = new Map<string, readonly Rule[]>();
  for (const set of sets) {
    for (const [keywords, rules] of Object.entries(set)) {
      for (const keyword of keywords.split(' ')) byKeyword.set(keyword, [...(byKeyword.get(keyword) ?? []), ...rules]);
    }
  }
  return byKeyword;
}

function firstFitting(rules: readonly Rule[], text: string): readonly FilingType[] | null {
  for (const [when, ...types] of rules) if (when.test(text)) return types.length === 0 ? null : types;
  return null;
}

const SEALED = /\b(?:sealed|under seal|restricted)\b/;

/** Adds further types of the caption; `at` is the index of the deciding keyword. */
function withFurther(types: readonly FilingType[], head: string, at: number): FilingTypes {
  const [primary = 'other'] = types;
  const all = [...types];
  const add = (type: FilingType): void => {
    if (!all.includes(type)) all.push(type);
  };
  const caption = at === 0 ? head : head.slice(at);
  for (const further of FURTHER_TYPES) {
    if (further.primary.includes(primary) && further.when.test(caption)) add(further.adds);
  }
  if (SEALED.test(head.slice(0, at)) || /^\w+(?: \w+){0,2} \(sealed\)/.test(caption)) add('sealed_event');
  return { primary, all };
}
