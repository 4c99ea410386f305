/** Notices, service, evidence, discovery, letters, reports: filings that accompany the pleadings. */
import { ALWAYS, type Rules } from './rule.ts';

export const PAPERS: Rules = {
  'appearance appearances': [
    [/^appearances? bond/, 'bond'],
    [/^appearances? (?:hearing|held|set|before)/, 'hearing'],
    [/^appearances? (?:by|through) notice of appearance/, 'appearance', 'notice'],
    [ALWAYS, 'appearance'],
  ],
  initial: [
    [
      /^initial (?:appearance|case management|status|scheduling|pretrial|hearing)(?! order| statement| report)/,
      'hearing',
    ],
  ],
  'counsel attorney attorneys solicitor': [
    [
      /^(?:counsel|attorneys?|solicitor),? (?:[\w'.,() ]{1,80} )?(?:added|terminated|withdrawn|substituted|update)/,
      'appearance',
    ],
  ],
  substitution: [
    [/^substitution of (?:counsel|attorney|solicitor|\w+ attorney|lawyer)/, 'appearance'],
    [/^substitution (?:filed|form|-|$)/, 'appearance'],
    [/^substitution of (?:exhibit|page|document|plan)/, 'notice'],
  ],
  withdrawal: [
    [/^withdrawal (?:of|and substitution of|as) (?:\w+ )?(?:counsel|attorney|appearance|solicitor)/, 'appearance'],
    [/^withdrawal of (?:(?!objection|response|motion|opposition)\w+ ){0,3}claims?/, 'claim_plan_schedule'],
    [/^withdrawal of (?:the )?(?:complaint|action|case|petition|appeal|application)/, 'dismissal'],
    [/^withdrawal/, 'notice'],
  ],
  designation: [
    [/^designation of (?:\w+ )?(?:counsel|attorney)/, 'appearance'],
    [/^designation of (?:\w+ )?(?:expert|witness|deposition)/, 'discovery'],
    [/^(?:counter-?)?designation[^.]{0,50}(?:record|contents?|appeal|items)/, 'appeal'],
    [/^designation of (?:judge|magistrate)/, 'transfer_assignment'],
  ],
  added: [
    [/^added (?:counsel|attorney)/, 'appearance'],
    [/^added judge/, 'transfer_assignment'],
  ],
  pro: [[/^pro hac vice\b(?! (?:fee|motion|application))/, 'appearance']],
  change: [
    [/^change of (?:plea|sentence)[^.]{0,40}(?:hearing|set|held)/, 'hearing', 'plea_sentencing'],
    [/^change of plea/, 'hearing', 'plea_sentencing'],
    [/^change of (?:counsel|attorney|solicitor)/, 'appearance'],
    [/^change of (?:address|name|contact)/, 'notice'],
    [/^change of venue/, 'transfer_assignment'],
  ],

  'summons summonses': [[ALWAYS, 'service']],
  'citation citations': [[/^citations?(?:$| (?:issued|returned|served|by|for|to))/, 'service']],
  'mailing served': [[ALWAYS, 'service']],
  service: [
    [/^services? (?:of|on|upon|by|returned?|executed|list|copy|acknowledged|accepted|completed|issued|$)/, 'service'],
  ],
  bnc: [
    [/^bnc (?:certificate|mailing)/, 'service'],
    [ALWAYS, 'service'],
  ],
  acknowledgment: [
    [/^acknowledge?ment of (?:\w+ )?(?:receipt|service)/, 'service'],
    [/^acknowledge?ment (?:of|form)[^.]{0,30}(?:transcript|reporter)/, 'transcript'],
  ],
  acknowledgement: [[/^acknowledgement of (?:\w+ )?(?:receipt|service)/, 'service']],
  waiver: [
    [/^waivers? of (?:the )?(?:service|summons|process)/, 'service'],
    [/^waivers? (?:service|returned)/, 'service'],
    [/^waivers? of (?:an? )?(?:indictment|rights|presentence)/, 'plea_sentencing'],
    [/^waivers?/, 'other'],
  ],
  'certificate certificates certification proof proofs return returns receipt acceptance admission': [
    [/^receipt (?:of|from|for)(?: [\w'.]+){0,3} (?:exhibits?|bond|record|transcripts?|documents?|passport|mandate)/],
    [/^receipts?\b/, 'fee'],
    [/^proofs? of claims?/, 'claim_plan_schedule'],
    [
      /^(?:certificates?|proofs?|certification)(?:\/proofs?)? of (?:\w+ ){0,2}(?:service|mailing|notice|publication|delivery)(?: of| -|,)? ?(?:\w+ ){0,4}(?:discovery|interrogator|rule 26|initial disclosure|requests? for (?:production|admission)|responses? to)/,
      'discovery',
      'service',
    ],
    [
      /^(?:certificates?|proofs?|returns?|certification|affidavit)(?:\/\w+)? of (?:\w+ )?service\b(?:(?!\b(?:motion|order|re|regarding|related|response|reply|opposition|objection)\b|[[(])[^.]){0,80}\bsubpoena/,
      'subpoena',
      'service',
    ],
    [
      /^(?:certificates?|proofs?|returns?|certification|admission|acceptance)(?:\/[\w]+)? of (?:\w+ )?(?:\w+ )?(?:service|mailing|notice|summons|publication|delivery|posting)/,
      'service',
    ],
    [
      /^(?:certificates?|certification) (?:of|re:?|regarding|as to) (?:\w+ ){0,3}(?:interested|corporate|disclosure|credit counseling|completion|financial management|debtor education|instructional)/,
      'other',
    ],
    [/^certificates? of (?:appealability)/, 'order', 'appeal'],
    [/^certificates? of (?:no objection|non-?objection|no response)/, 'notice'],
    [/^certificates? (?:of|re) (?:compliance|counsel|conference|conferral|good faith|consultation)/, 'declaration'],
    [/^certificates? of (?:record|appeal)/, 'appeal'],
    [/^certificates? of (?:readiness|trial)/, 'other'],
    [/^certificates?(?: to| for| that)? (?:record|documents?)/, 'record'],
    [/^return (?:of|on) (?:\w+ )?(?:warrant)/, 'warrant'],
    [/^return (?:of|on) (?:\w+ )?subpoena/, 'subpoena', 'service'],
    [/^certifications? (?:of|by|in|re|regarding|pursuant|and)\b/, 'declaration'],
    [/^certificates?\b/, 'other'],
  ],
  'returned executed unexecuted': [[/^(?:returned )?(?:un)?executed\b/, 'service']],

  'affidavit affidavits declaration declarations affirmation affirmations verification': [
    [
      /^\w+ of (?:\w+ )?service\b(?:(?!\b(?:motion|order|re|regarding|related|response|reply)\b|[[(])[^.]){0,80}\bsubpoena/,
      'subpoena',
      'service',
    ],
    [/^verification of (?:\w+ )?(?:matrix|mailing list)/, 'claim_plan_schedule'],
    [/^declaration (?:of|re) (?:trust|homestead)/, 'exhibit'],
    [/^[\w]+(?:\/[\w]+)? of (?:[\w']+ ){0,2}(?:service|mailing|publication|posting|delivery|notice)\b/, 'service'],
    [/^[\w]+(?:\/[\w]+)? (?:re:? |regarding )?(?:service|mailing|publication)\b/, 'service'],
    [ALWAYS, 'declaration'],
  ],
  'exhibit exhibits appendix appendices excerpts attachment attachments': [
    [/^attachments?\b(?! (?:of|to|a|b|\d))/],
    [ALWAYS, 'exhibit'],
  ],
  'witness witnesses': [
    [/^witness(?:es)?(?: and exhibit)? lists?/, 'exhibit'],
    [/^witness subpoena/, 'subpoena'],
  ],

  'transcript transcripts': [[/^transcripts? (?:of|on) (?:judgment|record on appeal)/], [ALWAYS, 'transcript']],
  reporter: [
    [
      /^reporter'?s? ?(?:\/recorder'?s?)? ?(?:record|transcript|certificate|statement|acknowledg|extension|notes)(?!.{0,12} due)/,
      'transcript',
    ],
  ],
  reporters: [[/^reporters'? (?:record|transcript)(?!.{0,12} due)/, 'transcript']],
  recorder: [[/^recorder'?s record/, 'transcript']],

  'interrogatories interrogatory deposition depositions': [
    [/^depositions? transcripts?/, 'transcript'],
    [ALWAYS, 'discovery'],
  ],
  'disclosure disclosures': [
    [
      /^disclosures? statements?(?! \(?(?:rule|pursuant|under|fed|by|of corp|re corp|identif|local|filed by [\w ]+(?:inc|llc|corp))| corporate)/,
      'claim_plan_schedule',
    ],
    [/^disclosures? (?:of|re) (?:\w+ ){0,3}compensation/, 'other'],
    [/^disclosures? (?:of|re) (?:\w+ ){0,2}(?:corporate|interested|affiliat|financial interest|interest)/, 'other'],
    [/^disclosures? statement|^disclosures? (?:pursuant to|under) (?:rule |fed\.? ?r\.? ?civ\.? ?p\.? ?)7/, 'other'],
    [ALWAYS, 'discovery'],
  ],
  corporate: [[/^corporate (?:disclosure|ownership|parent|resolution|vote)/, 'other']],
  discovery: [
    [/^discovery (?:hearing|conference)/, 'hearing'],
    [/^discovery order/, 'order'],
    [/^discovery motions?/, 'motion'],
    [/^discovery (?:letter|dispute letter)/, 'letter'],
    [/^discovery (?:plan|report)/, 'report'],
    [ALWAYS, 'discovery'],
  ],
  rule: [
    [/^rule 2004 exam/, 'discovery'],
    [/^rule 26(?:\(f\))? (?:report|plan|discovery plan|meeting report)/, 'report'],
    [/^rule 26(?:\(a\)\(?\d?\)?)? (?:\w+ )?disclosure/, 'discovery'],
    [/^rule 7\.1/, 'other'],
    [/^rule (?:5|20|40)\b[^.]{0,20}(?:documents|papers|affidavit)/, 'transfer_assignment'],
  ],
  'production inspection': [[/^production of documents?/, 'discovery']],
  'subpoena subpoenas': [
    [/^subpoenas?[^.]{0,40}(?:served|returned|ret'd|service|executed)/, 'subpoena', 'service'],
    [ALWAYS, 'subpoena'],
  ],

  'letter letters correspondence email e-mail': [
    [/^letters? (?:\w+ )?(?:motion|application)/, 'motion', 'letter'],
    [/^letters? (?:response|opposition|in opposition)/, 'response', 'letter'],
    [/^letters? (?:reply|in reply)/, 'reply', 'letter'],
    [/^letters? briefs?/, 'brief', 'letter'],
    [/^letters? orders?/, 'order', 'letter'],
    [/^letters? (?:rogatory|of request)/, 'motion'],
    [ALWAYS, 'letter'],
  ],

  'report reports': [
    [/^reports? of (?:proceedings|transcript)/, 'transcript'],
    [ALWAYS, 'report'],
  ],
  recommendation: [[/^recommendations?(?:$| (?:of|by|and|re|filed|that|on))/, 'report']],
  account: [[/^account(?:$|[,.]| and| by| of (?:the )?trustee| filed)/, 'report']],
  probation: [
    [/^probation (?:\w+ )?petition/, 'motion'],
    [/^probation (?:violation|revocation) hearing/, 'hearing'],
  ],
  'inventory accounting': [[/^(?:inventory|accounting)(?:$| (?:of|and|by|filed|report))/, 'report']],
  status: [
    [/^status (?:conference|hearing|check|call)(?! report| statement)/, 'hearing'],
    [/^status (?:conference )?(?:report|update|statement|memorandum)/, 'report'],
    [/^status letter/, 'letter'],
  ],
  case: [
    [/^case management (?:statement|report|plan)/, 'report'],
    [/^case management conf\w*(?! report| statement| order)/, 'hearing'],
    [/^case (?:called|argued|heard|submitted)/, 'hearing'],
    [/^case (?:(?:randomly|directly|electronically) )?(?:re)?assigned/, 'transfer_assignment'],
    [/^case (?:transferred|remanded|referred)/, 'transfer_assignment'],
    [/^case (?:un)?sealed/, 'sealed_event'],
    [
      /^case (?:re-?opened|began|closed|terminat\w+|closing|status|designated|file|number|associated|flag|converted|opened)/,
      'other',
    ],
    [/^case (?:docketed|opened)/, 'appeal'],
    [/^case dismissed/, 'order'],
  ],

  'plea pleas guilty': [
    [
      /^(?:guilty )?pleas? (?:and [^.]{0,20})?(?:hearing|and sentence set|and sentence hearing)/,
      'hearing',
      'plea_sentencing',
    ],
    [/^pleas? (?:in bar|to the jurisdiction)/, 'motion'],
    [ALWAYS, 'plea_sentencing'],
  ],
  'sentencing sentence sentences resentencing': [
    [/^(?:re)?sentencing (?:hearing|set|reset|held|continued|cancel|scheduled|date)/, 'hearing', 'plea_sentencing'],
    [/^(?:re)?sentencing motion/, 'motion'],
    [/^(?:re)?sentencing (?:memorandum|brief|memo)/, 'plea_sentencing', 'brief'],
    [/^(?:re)?sentencing (?:letter)/, 'plea_sentencing', 'letter'],
    [ALWAYS, 'plea_sentencing'],
  ],
  'presentence pre-sentence psr psi pre-plea': [[ALWAYS, 'plea_sentencing', 'report']],
  restitution: [[/^restitution (?:schedule|list|judgment|information)/, 'plea_sentencing']],
  undertaking: [[/^undertaking/, 'bond']],
  'bond bonds bail recognizance surety': [
    [/^(?:bonds?|bail) (?:review )?(?:hearing)/, 'hearing'],
    [/^(?:bonds?|bail) (?:report|study)/, 'report'],
    [ALWAYS, 'bond'],
  ],

  'fee fees costs payment payments payor monies remittance': [
    [/^(?:bill of costs|costs (?:taxed|bill))/, 'fee'],
    [ALWAYS, 'fee'],
  ],
  bill: [
    [/^bill of costs/, 'fee'],
    [/^bill of particulars/, 'discovery'],
  ],
  'assessment fund': [[ALWAYS, 'fee']],
  paid: [[ALWAYS, 'fee']],

  'due deadline deadlines': [[ALWAYS, 'other']],
  'cover distributed interpreter registry annotation': [[ALWAYS, 'other']],
  voir: [[/^voir dire/, 'other']],
  credit: [[/^credit counseling/, 'other']],
  financial: [
    [/^financial management/, 'other'],
    [/^financial affairs/, 'claim_plan_schedule'],
    [/^financial affidavit/, 'declaration'],
  ],
};
