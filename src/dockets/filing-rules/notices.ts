/** Notices and statements: forms that yield to what they do. */
import { ALWAYS, type Rules } from './rule.ts';

/** `notice of`, `notice re`, `notice to`, with what clerks put between: `Notice re: Amended Notice of`. */
const NOTICE =
  "^notices?(?: \\(?(?:other|text only)\\)?)?(?:[ :-]+(?:of|re:?|regarding|to|for|by|is hereby given of|that)\\b:?)+(?: (?:an?|the|his|her|its|their|first|second|third|amended|joint|official|filing|corrected|limited|cross|electronic|impending|proposed|receipt|request|taking|intent|conditional|notice|of|and|interim|new|to take|defendants?'?|plaintiffs?'?s?))*(?: \\([^)]{1,20}\\))?";

const notice = (what: string): RegExp => new RegExp(`${NOTICE} (?:${what})`);

export const NOTICES: Rules = {
  'notice notices notification notifications': [
    [notice('deficien|defect|incomplete|missing|non-?compliance|delinquen|error|errata'), 'notice'],
    [/^notices? of (?:presentment|settlement of (?:an |the )?(?:\w+ )?(?:order|judgment))/, 'proposed_order', 'notice'],
    [
      notice(
        'proposed (?:order|judgment)|(?:lodg\\w+|submission) of (?:\\w+ )?(?:order|judgment)|proposed form of order',
      ),
      'proposed_order',
      'notice',
    ],
    [
      notice(
        '(?:(?:transmi\\w+|docketing|assembl\\w+|filing) (?:of )?)?(?:\\w+ ){0,2}?(?:interlocutory |bankruptcy |civil |criminal )?(?:cross-?)?appeal\\b(?! fee)',
      ),
      'appeal',
      'notice',
    ],
    [/^notices? of (?:discretionary|direct|interlocutory|supreme court) (?:review|appeal)/, 'appeal', 'notice'],
    [/^notices? (?:of )?docketing/, 'appeal', 'notice'],
    [notice('(?:entry of |withdrawal of |limited |special )*appearances?'), 'appearance', 'notice'],
    [
      notice(
        '(?:withdrawal|substitution|change|association|termination|addition|intention|appointment|designation)(?: (?:and|of|as|in|the))* (?:\\w+ ){0,3}(?:counsel|attorneys?|solicitors?|lawyers?|representation)',
      ),
      'appearance',
      'notice',
    ],
    [notice('(?:withdrawal as|attorney|counsel|pro hac vice)'), 'appearance', 'notice'],
    [/^notices? of request for (?:notice|service)|^notices? of request to be/, 'appearance', 'notice'],
    [
      /^notices? of applications? (?:for|with regard to|under|in respect)[^.]{0,40}(?:judicial review|section|s\.)/,
      'complaint',
      'notice',
    ],
    [/^notices? of (?:applications?)(?! (?:to|for))/, 'complaint', 'notice'],
    [/^notices? of (?:removal|petition|claim|civil claim|action|family claim)\b(?!s)/, 'complaint', 'notice'],
    [notice('motions? (?:and|with|&) (?:\\w+ )?hearing'), 'motion', 'hearing', 'notice'],
    [notice('(?:cross-?)?(?:\\w+ )?(?:motions?|applications?)\\b(?! (?:hearing|granted|denied))'), 'motion', 'notice'],
    [/^notices? (?:of )?(?:\w+ )?(?:341|meeting of creditors)/, 'hearing', 'notice'],
    [
      notice(
        '(?:\\w+ ){0,3}?(?:hearings?|setting|re-?setting|re-?scheduling|scheduling|trial|conference|oral argument|argument|arraignment|mediation conference|change of plea|plea|sentencing|meeting of creditors|status conference|calendar|postponement|adjournment|continuance|cancellation|341|evidentiary|video|telephonic)',
      ),
      'hearing',
      'notice',
    ],
    [
      notice(
        "(?:\\w+ ){0,3}?(?:deposition|interrogator|rule 2004|2004 examination|examination|oral examination|discovery|production|service of (?:[\\w' ]{0,40})?(?:discovery|disclosure|interrogator|requests?|responses?|production|expert)|disclosures?)",
      ),
      'discovery',
      'notice',
    ],
    [notice('(?:\\w+ ){0,2}?subpoenas?'), 'subpoena', 'notice'],
    [notice('(?:tentative |class |partial |global )*settlement(?! conference)'), 'settlement', 'notice'],
    [notice('(?:filing (?:of )?)?(?:\\w+ ){0,2}?transcripts?'), 'transcript', 'notice'],
    [/^notices? received [^.]{0,60}transcript/, 'transcript', 'notice'],
    [
      notice(
        '(?:case |judge |judicial )*(?:re-?assignment|re-?assigning|assignment to|assignment$|transfer(?! of claim)|recusal|judicial assignment)',
      ),
      'transfer_assignment',
      'notice',
    ],
    [
      notice('(?:claims? )?(?:transfer|assignment|withdrawal|filing) of (?:\\w+ )?(?:proofs? of )?claims?'),
      'claim_plan_schedule',
      'notice',
    ],
    [notice('(?:proofs? of claims?|requirement to file)'), 'claim_plan_schedule', 'notice'],
    [
      notice(
        '(?:voluntary |partial |stipulat\\w+ )+(?:dismissal|withdrawal of (?:the )?(?:action|complaint|petition))',
      ),
      'dismissal',
      'notice',
    ],
    [
      notice(
        '(?:discontinuance|abandonment|withdrawal of (?:the )?(?:action|complaint|appeal|petition|case|application for))',
      ),
      'dismissal',
      'notice',
    ],
    [
      /^notices? of dismissal (?:by|as to|with|without|of (?:party|defendant|action|case)|filed|pursuant|under|re)/,
      'dismissal',
      'notice',
    ],
    [notice('(?:certificate of )?(?:service|mailing)\\b'), 'service', 'notice'],
    [
      notice('(?:past due |unpaid |outstanding )*(?:\\w+ )?fees? (?:due|owed|unpaid|not paid)|payment'),
      'fee',
      'notice',
    ],
    [notice('mandate'), 'mandate', 'notice'],
    [notice('exhibits?'), 'exhibit', 'notice'],
    [notice('supplemental authorit|letter'), 'letter', 'notice'],
    [notice('(?:joinder)'), 'motion', 'notice'],
    [notice('(?:\\w+ ){0,2}?(?:opposition|objections?|non-?opposition)'), 'response', 'notice'],
    [notice('(?:bond|bail)'), 'bond', 'notice'],
    [notice('(?:verdict)'), 'verdict', 'notice'],
    [ALWAYS, 'notice'],
  ],

  'statement statements': [
    [/^(?:amended )?statements? of claims?/, 'complaint'],
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
    [/^statements? (?:of|about|re) (?:your |debtor'?s?\(?s?\)? )?social security/, 'other'],
    [/^statements? of reasons/, 'plea_sentencing'],
    [/^statements? of (?:issues?|points|jurisdiction)[^.]{0,30}(?:appeal)?/, 'appeal'],
    [
      /^statements? of (?:\w+ )?(?:undisputed|disputed|uncontested|uncontroverted|material|contested|genuine)? ?(?:material )?facts?/,
      'brief',
    ],
    [/^statements? of decision/, 'opinion'],
    [/^statements? (?:re:?|regarding|of|on) (?:\w+ )?(?:joint )?(?:status|case management)/, 'report'],
    [/^statements? in (?:support|opposition)/, 'brief'],
    [/^statements?(?:$| (?:of|re|regarding|by|filed|in|pursuant|under|on|for))/, 'other'],
  ],
};
