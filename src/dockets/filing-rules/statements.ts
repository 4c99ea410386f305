/** Statements: classified by their content rather than their form. */
import type { Rules } from './rule.ts';

export const STATEMENTS: Rules = {
  'statement statements': [
    [/^statements? of claims?/, 'complaint'],
    [/^statements? of defen[cs]e/, 'answer'],
    [
      /^statements? (?:of|in|re|regarding) (?:non-?opposition|no opposition|no position|opposition|objection|response)/,
      'response',
    ],
    [
      /^statements? of (?:intention|intent|financial|affairs|current monthly|income|monthly|schedules?|executory|assets)/,
      'claim_plan_schedule',
    ],
    [/^statements? of (?:corporate|disclosure|interest|financial interest|ownership)/, 'other'],
    [/^statements? of reasons/, 'plea_sentencing'],
    [/^statements? of (?:the )?(?:issues?|points|jurisdiction)/, 'appeal'],
    [
      /^statements? of (?:the )?(?:\w+ )?(?:(?:un|in)?disputed |uncontested |uncontroverted |material |contested |genuine )*facts?/,
      'brief',
    ],
    [/^statements? of decision/, 'opinion'],
    [/^statements? (?:re:?|regarding|of|on) (?:\w+ )?(?:joint )?(?:status|case management)/, 'report'],
    [/^statements? in (?:support|opposition)/, 'brief'],
    [/^statements?(?:$|[ ,:](?:of|re|regarding|by|filed|in|pursuant|under|on|for)\b)/, 'other'],
  ],
};
