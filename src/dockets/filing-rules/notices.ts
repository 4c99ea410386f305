/** Notices: classified by their subject rather than their form. */
import type { FilingType } from '../filing-type.ts';
import type { Rule } from './rule.ts';

export const NOTICE_KEYWORDS: ReadonlySet<string> = new Set(['notice', 'notices', 'notification', 'notifications']);

/** Words that clerks put between `notice` and its subject: `Notice re: Amended Notice of Filing of the`. */
const BETWEEN =
  /^(?:[\s:,/-]*(?:of|re|regarding|to|for|by|that|and|is hereby given|an?|the|his|her|its|their|first|second|third|fourth|amended|joint|official|filing|corrected|limited|cross|electronic|impending|receipt|taking|taken|intent|intention|conditional|notices?|interim|new|take|submission|submitting|submit|file|defendants?'?s?|plaintiffs?'?s?|debtors?'?s?|trustee'?s?|party'?s?|continued|emergency|telephonic|request|\(other\)|\(text only\)|supplemental|further|renewed|revised)(?=[\s:,/()-]|$))+[\s:,/-]*/;

/** `Notice by Trustee Jane Roe of Intent`. */
const BY_WHOM = /^ by:? (?:[\w.'&,/-]+ ){1,8}?(?=(?:of|re|re:|regarding) )/;

/** Tested against a notice from the word itself on, for forms that decide by themselves. */
const FORMS: readonly Rule[] = [
  [/^notices? of (?:presentment|settlement of (?:an |the )?(?:\w+ )?(?:order|judgment))/, 'proposed_order'],
  [/^notices?,? (?:and )?(?:\[|\()?proposed (?:\w+ )?(?:order|judgment)/, 'proposed_order'],
  [
    /^notices? (?:re-?)?(?:setting|scheduling|continuing|vacating|cancell?ing|advancing)\b[^.]{0,70}(?:hearing|conference|trial|argument|arraignment|sentencing|plea)/,
    'hearing',
  ],
  [/^notices? received [^.]{0,60}transcript/, 'transcript'],
  [/^notices? of request (?:for (?:notice|service)|to be)/, 'appearance'],
  [/^notices? of (?:\w+ )?(?:intent|intention) to (?:respond|oppose)/, 'notice'],
  [/^notices? of (?:intent|intention) to (?:request|redact)[^.]{0,30}redact/, 'notice'],
  [/^notices? of (?:intent|intention)[ ,]+to (?:appear|act in person)\b/, 'appearance'],
  [/^notices? of (?:attorney|counsel)\b/, 'appearance'],
  [/^notices? to (?:(?:withdraw|substitute|change)[^.]{0,20}(?:attorney|counsel|appearance))/, 'appearance'],
  [
    /^notices? to (?:attorney|counsel|parties|filer|the parties|all)\b(?!.{0,80}(?:assign|hearing|conference))/,
    'notice',
  ],
];

/** The subject of a notice, without the words in between. */
const OBJECTS: readonly Rule[] = [
  [
    /^(?:\w+ )?(?:deficien|defect|incomplete|missing|non-?compliance|delinquen|error|errata|docket correction|correction)/,
    'notice',
  ],
  [
    /^(?:proposed (?:\w+ ){0,3}(?:order|judge?ment)|(?:lodg\w+|submission) (?:of )?(?:\w+ ){0,2}(?:order|judgment)|proposed form of order)/,
    'proposed_order',
  ],
  [/^(?:transmi\w+|docketing|assembl\w+)\b(?: of)?[^.;(]{0,50}(?:appeal|record|usca|circuit|\broa\b)/, 'appeal'],
  [/^docketing\b/, 'appeal'],
  [/^appeals? (?:fee|filing fee|rights?|deadline|information)/, 'notice'],
  [/^(?:(?!hearing|motion|entry|withdrawal|ruling|order)\w+ ){0,2}(?:cross-?)?appeals?\b/, 'appeal'],
  [/^(?:discretionary|direct|interlocutory|supreme court|petition for) (?:review|appeal)/, 'appeal'],
  [/^petitions? for (?:writ of )?(?:certiorari|review)/, 'appeal'],
  [/^(?:entry of |withdrawal of |limited |special |general |attorney |counsel )*appearances?/, 'appearance'],
  [
    /^(?:withdrawal|substitution|change|association|termination|addition|appointment|designation|unavailability)(?: (?:and|of|as|in|the))+ (?:(?!address|name|contact|by|filed|firm)\w+ ){0,3}(?:counsel|attorneys?|solicitors?|lawyers?|representation)(?! (?:address|availab))/,
    'appearance',
  ],
  [
    /^(?:withdrawal as|withdrawal and substitution|substitution|pro hac vice|change of (?:law )?firm|attorney (?:appearance|withdrawal|substitution))/,
    'appearance',
  ],
  [/^applications? for leave to appeal/, 'appeal'],
  [/^applications? (?:for (?:leave(?! to)|judicial review)|with regard to|under|in respect|$)/, 'complaint'],
  [/^applications? (?:on behalf|filed|dated|against|by the applicant)/, 'complaint'],
  [
    /^(?:removal|petition|claims?|civil claim|action|family claim|adversary proceeding|state court complaint)(?:$| (?!(?:by|to|for) )|[.,;])(?!filing|transfer|bar date|objection|register)/,
    'complaint',
  ],
  [/^removal\b/, 'complaint'],
  [/^(?:cross-?)?(?:\w+ )?motions? (?:and|with|&) (?:\w+ )?hearing/, 'motion', 'hearing'],
  [/^(?:\w+ ){0,2}transcripts?/, 'transcript'],
  [
    /^(?:cross-?)?(?:(?!hearing|conference|trial|entry|ruling|order|withdrawal)\w+ ){0,2}?(?:motions?|applications?)\b(?! (?:hearing|granted|denied|calendar))/,
    'motion',
  ],
  [/^(?:first )?meeting of (?:the )?creditors|^341|^(?:chapter \d+ )(?:bankruptcy )?case/, 'hearing'],
  [
    /^proofs? of claims?|^(?:transfer|assignment|withdrawal|objection to transfer) of (?:\w+ )?claims?|^claims? (?:transfer|filing|bar)|^requirement to file (?:a )?(?:proof|statement)/,
    'claim_plan_schedule',
  ],
  [
    /^(?:chapter \d+ |amended |proposed )*(?:plan|disclosure statement|schedules?)\b(?! (?:hearing|confirmation))/,
    'claim_plan_schedule',
  ],
  [
    /^(?:voluntary |partial |stipulat\w+ )+(?:dismissal|discontinuance|withdrawal of (?:the )?(?:action|complaint|petition))/,
    'dismissal',
  ],
  [
    /^(?:discontinuance|withdrawal|abandonment) of (?:the )?(?:[\w']+ ){0,2}(?:motion|document|application|request|paper|filing|objection|response|doc)/,
    'notice',
  ],
  [
    /^(?:discontinuance|abandonment of (?:the )?(?:action|appeal|application)|withdrawal of (?:the )?(?:action|complaint|appeal|petition|case))/,
    'dismissal',
  ],
  [
    /^dismissal (?:by|as to|with|without|of (?:party|defendant|action|case|certain|all)|filed|pursuant|under|re)/,
    'dismissal',
  ],
  [/^(?:voluntary )?dismissal$|^non-?suit/, 'dismissal'],
  [
    /^(?:(?!entry|order|motion|withdrawal)[\w-]+ ){0,3}?(?:hearings?|setting|agenda|re-?setting|re-?scheduling|scheduling|trial|conference|conf|argument|arraignment|plea|sentencing|calendar|postponement|adjournment|continuance|cancellation|video|telephonic|argument calendar|date and time|initial appearance|change of plea|mediation)\b(?! (?:order|brief|memorandum|exhibits?|report))/,
    'hearing',
  ],
  [
    /^(?:(?!entry|order|motion|withdrawal)\w+ ){0,3}?(?:depositions?|interrogator\w+|rule 2004|2004 examination|examination|oral examination|discovery|production|disclosures?)/,
    'discovery',
  ],
  [
    /^service (?:of|by|for)[\w' ,.]{0,60}(?:discovery|disclosure|interrogator|requests?|responses?|production|expert|admission)/,
    'discovery',
  ],
  [/^(?:\w+ ){0,2}?subpoenas?/, 'subpoena'],
  [/^(?:tentative |class |partial |global |proposed )*settlements?\b(?! conference)/, 'settlement'],
  [
    /^(?:case |judge |judicial |magistrate |random |direct |district )*(?:re-?assignment|re-?assigning|re-?assigned|assignment|transfer|recusal|judge assignment|transferred)\b/,
    'transfer_assignment',
  ],
  [/^(?:(?:certificate|proof|affidavit|return) of )?(?:service|mailing)\b/, 'service'],
  [
    /^(?:past due |unpaid |outstanding )*(?:\w+ )?fees? (?:due|owed|unpaid|not paid)|^payment|^(?:filing )?fees? (?:due|not paid)/,
    'fee',
  ],
  [/^mandate/, 'mandate'],
  [/^(?:trial |hearing )*(?:exhibits?|appendix)/, 'exhibit'],
  [/^(?:affidavit|declaration)/, 'declaration'],
  [/^(?:(?!additional)\w+ )?authorit(?:y|ies)/, 'notice'],
  [/^joinder/, 'notice'],
  [/^(?:\w+ ){0,2}?(?:opposition|objections?|non-?opposition)\b/, 'response'],
  [/^(?:bond|bail)/, 'bond'],
  [/^(?:stipulation)/, 'stipulation'],
  [/^(?:plea agreement|pre-?sentence|sentencing|change of plea)/, 'plea_sentencing'],
  [/^(?:report|monthly operating report|(?:trustee'?s? )?final report|status report)/, 'report'],
  [/^[^.;(]{0,60}\b(?:randomly assigned|direct assignment|re-?assign(?:ed|ment))\b/, 'transfer_assignment'],
];

/** The types of a notice; `text` begins with the word itself. */
export function noticeTypes(text: string): readonly FilingType[] {
  const word = /^\w+/.exec(text)?.[0] ?? '';
  const object = text.slice(word.length).replace(BY_WHOM, ' ').replace(BETWEEN, '');
  const types = fitting(FORMS, text) ?? fitting(OBJECTS, object) ?? [];
  return types.includes('notice') ? types : [...types, 'notice'];
}

function fitting(rules: readonly Rule[], text: string): readonly FilingType[] | null {
  for (const [when, ...types] of rules) if (when.test(text)) return types;
  return null;
}
