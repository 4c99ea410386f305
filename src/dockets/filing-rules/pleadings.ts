/** Requests, claims and answers of the parties. */
import { ALWAYS, type Rules } from './rule.ts';

export const PLEADINGS: Rules = {
  'complaint complaints': [
    [/^complaints? (?:\([^)]{1,20}\) ?)?as to\b/, 'charging_document'],
    [ALWAYS, 'complaint'],
  ],
  'counter-claim counter-claims counterclaim counterclaims crossclaim crossclaims cross-claim cross-complaint cross-bill':
    [[ALWAYS, 'complaint']],
  felony: [[/^felony (?:complaint|information)/, 'charging_document']],
  misdemeanor: [[/^misdemeanor (?:complaint|information)/, 'charging_document']],
  criminal: [
    [/^criminal complaint/, 'charging_document'],
    [/^criminal (?:information)\b/, 'charging_document'],
    [/^criminal minutes/, 'minute_entry'],
  ],
  'indictment indictments': [[ALWAYS, 'charging_document']],
  information: [
    [
      /^information (?:sheet|sheets|notice|request|form|statement|system|technology|about|regarding|re|on how|to|and belief|card)\b/,
    ],
    [
      /^information(?:$|[ ]?[(:;,.-]|\s+(?:as to|by|filed|charging|felony|in|returned|signed|with|against|received|of))/,
      'charging_document',
    ],
  ],
  accusation: [[ALWAYS, 'charging_document']],
  'nolle nol-pros nonsuit': [[ALWAYS, 'dismissal']],

  'motion motions': [
    [/^motions? (?:hearing|hearings|calendar|conference)\b/, 'hearing'],
    [/^motions? (?:referred|no longer referred)/, 'transfer_assignment'],
    [/^motions? (?:under advisement|taken under|submitted)/, 'hearing'],
    [/^motions? record/, 'motion'],
    [/^motions? orders?\b/, 'order'],
    [/^motions? (?:transcript)/, 'transcript'],
    [ALWAYS, 'motion'],
  ],
  'application applications': [
    [
      /^applications? for leave(?:,)?(?: and| to commence| to apply)?(?: an application)?(?: for)? ?(?:and for )?judicial review/,
      'complaint',
    ],
    [/^applications? for judicial review|^applications? under (?:section|s\.)/, 'complaint'],
    [/^applications? for leave to appeal/, 'appeal'],
    [/^applications? record/, 'record'],
    [ALWAYS, 'motion'],
  ],
  'petition petitions': [
    [/^petitions? cover sheet/, 'other'],
    [/^petitions? for (?:panel |limited )?(?:re-?hearing|en banc|reconsideration|review en banc|panel)/, 'motion'],
    [
      /^petitions? (?:by [\w' ]{1,40} )?for (?:a )?(?:writs? of )?(?:certiorari|mandamus|prohibition|review|permission to appeal|leave to appeal|allowance of appeal|discretionary review|permission|appeal)/,
      'appeal',
    ],
    [/^petitions? for (?:a )?(?:writ of )?habeas corpus ad\b/, 'motion'],
    [
      /^petitions? (?:for (?:amendment|modification|warrant|summons|action|revocation|probation|order|attorney|fees|admission|issuance|payment|extension|rehearing|leave|relief from (?:automatic )?stay|an order)|to (?:revoke|modify|vacate|enforce|amend|extend|withdraw|admit|appear|reopen|intervene))/,
      'motion',
    ],
    [ALWAYS, 'complaint'],
  ],
  'request requests': [
    [
      /^requests? for (?:the )?(?:production|admissions?|disclosures?|inspection|discovery|entry upon|responses)/,
      'discovery',
    ],
    [/^requests? (?:to produce|to admit)/, 'discovery'],
    [
      /^requests? for (?:the )?(?:issuance|reissuance|service)(?: of)?(?: an?)?(?: alias)? ?(?:summons|subpoena|writ)?/,
      'service',
    ],
    [/^requests? (?:for|to issue) (?:alias )?summons/, 'service'],
    [/^requests? for (?:special |courtesy )?(?:notices?|service of notice)(?! of)/, 'appearance'],
    [/^requests? for notices? of/, 'notice'],
    [/^requests? for (?:official |a )?transcripts?/, 'transcript'],
    [/^requests? for (?:\w+ )?dismissal/, 'dismissal'],
    [/^requests? to (?:ircc|\w+ pursuant to rule 9)/, 'other'],
    [/^requests? for (?:an? )?(?:interpreter|jury|conference room)/, 'other'],
    [ALWAYS, 'motion'],
  ],
  'demand demands': [
    [/^demands? for (?:production|discovery|inspection|bill of particulars|documents|interrogatories)/, 'discovery'],
    [/^demands? for (?:trial by )?jury|^demands? for trial/, 'other'],
  ],
  'cross-motion cross-motions counter-motion countermotion cross-application demurrer requisition': [
    [ALWAYS, 'motion'],
  ],
  'suggestion suggestions': [
    [/^suggestions? (?:of|on) (?:bankruptcy|death)/, 'notice'],
    [/^suggestions? in (?:opposition)/, 'response', 'brief'],
    [/^suggestions? in support/, 'brief'],
  ],

  'answer answers': [
    [/^answers? (?:\w+ ){0,3}interrogator/, 'discovery'],
    [/^answers? (?:and )?(?:objections?|responses?) to (?:\w+ ){0,4}interrogator/, 'discovery'],
    [/^answers? (?:due|deadline)/, 'other'],
    [/^answers? (?:brief)/, 'brief'],
    [ALWAYS, 'answer'],
  ],
  answering: [
    [/^answering (?:brief|memorandum) in opp/, 'response', 'brief'],
    [/^answering brief/, 'brief'],
  ],
  'defence defense defenses defences': [
    [/^defen[cs]es? (?:counsel|attorney|witness|exhibits?|expert|team|contractor|language)/],
    [/^defen[cs]es?(?:$| (?:of|to|and|on|filed|by))/, 'answer'],
  ],
  'response responses': [
    [/^responses? (?:due|deadline)/, 'other'],
    [
      /^responses? (?:(?:and|&) )?(?:objections? )?to (?:[\w'.]+ ){0,5}(?:request for production|requests? for (?:admission|production)|interrogator|discovery request)/,
      'discovery',
    ],
    [ALWAYS, 'response'],
  ],
  'responsive responding': [
    [/^respon(?:sive|ding) (?:brief|memorandum)/, 'response', 'brief'],
    [ALWAYS, 'response'],
  ],
  'opposition oppositions opposing non-opposition nonopposition resistance traverse': [
    [/^opposition (?:brief|memorandum)/, 'response', 'brief'],
    [ALWAYS, 'response'],
  ],
  'objection objections objecting': [
    [/^objections? (?:due|deadline)/, 'other'],
    [ALWAYS, 'response'],
  ],
  'reply replies surreply sur-reply rejoinder': [
    [/^(?:sur-?)?repl(?:y|ies) (?:brief|memorandum)?s? ?(?:due|deadline)/, 'other'],
    [/^(?:sur-?)?repl(?:y|ies) (?:brief|memorandum|memoranda|factum)/, 'reply', 'brief'],
    [ALWAYS, 'reply'],
  ],

  'brief briefs': [
    [/^briefs? due/, 'other'],
    [/^briefs? (?:[\w'.,]+ ){0,6}in (?:opposition|response)/, 'response', 'brief'],
    [/^briefs? (?:in )?(?:opposition|response) (?:to|filed|by|re)/, 'response', 'brief'],
    [/^briefs? (?:[\w'.,]+ ){0,4}in reply/, 'reply', 'brief'],
    [ALWAYS, 'brief'],
  ],
  briefing: [[/^briefing (?:order|schedule (?:set|established|issued|entered))/, 'order']],
  'memorandum memoranda memorandums memo memos': [
    [/^memo\w*[ -](?:endorse|endorsement)/, 'order'],
    [
      /^memorand\w+ (?:opinion|decision|disposition|of decision)(?:,? (?:and|&) order)?\b.{0,3}order/,
      'opinion',
      'order',
    ],
    [
      /^memorand\w+,? (?:opinion|decision|disposition|of decision)(?=,? (?:and|&) (?:amended )?order)/,
      'opinion',
      'order',
    ],
    [/^memorand\w+ (?:opinion|decision|disposition|of decision)/, 'opinion'],
    [/^memorand\w+(?:,| and| &|\/) (?:\w+ )?(?:opinion|decision)/, 'opinion'],
    [/^memorand\w+(?:,| and| &|\/) (?:\w+ )?order\b/, 'order', 'opinion'],
    [/^memorand\w+ order/, 'order'],
    [/^memorand\w+ (?:[\w'.,]+ ){0,8}(?:in )?(?:opposition|opposing|response)\b/, 'response', 'brief'],
    [/^memorand\w+ (?:[\w'.,]+ ){0,5}in reply|^memorand\w+ reply/, 'reply', 'brief'],
    [/^memorand\w+ (?:to|from) (?:file|the file|clerk|registry|court)|^memorand\w+ (?:of|to) (?:record|file)/, 'other'],
    [/^memorand\w+ of (?:understanding|agreement|settlement)/, 'settlement'],
    [/^memorand\w+ of appearance/, 'appearance'],
    [ALWAYS, 'brief'],
  ],
  'points factum representations': [
    [/^points (?:and|&) authorities (?:[\w'.,]+ ){0,4}in opposition/, 'response', 'brief'],
    [/^points (?:and|&) authorities/, 'brief'],
    [/^factum\b/, 'brief'],
    [/^representations\b/, 'brief'],
  ],
  amicus: [
    [/^amic(?:us|i) (?:curiae )?appearance/, 'appearance'],
    [/^amic(?:us|i) (?:curiae )?(?:letter)/, 'letter'],
    [/^amic(?:us|i)(?: curiae)?(?: brief|$)/, 'brief'],
  ],
  authorities: [[/^authorities\b/, 'brief']],
  authority: [[/^authority(?:$| (?:filed|by|re|in|letter))/, 'notice']],

  'stipulation stipulations stipulated stip agreed': [
    [
      /^(?:stipulated|agreed)(?: (?!order|judgment|motion)\w+){0,3} (?:motion|request|application)/,
      'motion',
      'stipulation',
    ],
    [/^(?:stipulated|agreed)(?: \w+){0,4} (?:judge?ment|decree)/, 'judgment', 'stipulation'],
    [/^(?:stipulated|agreed)(?: \w+){0,4} order/, 'order', 'stipulation'],
    [/^stipulat\w+(?: of counsel)?,? (?:and|&|with|\/) ?(?:\[|\()?proposed/, 'stipulation', 'proposed_order'],
    [/^stipulat\w+[^.]{0,60}\[?\(?proposed/, 'stipulation', 'proposed_order'],
    [/^stipulat\w+(?: of [\w ]{1,30})?,? (?:and|&|\/) (?:\w+ ){0,2}order/, 'order', 'stipulation'],
    [/^stipulat\w+ w\/ ?order (?:granted|signed)/, 'order', 'stipulation'],
    [/^stipulat\w+,? (?:and|&) (?:\w+ )?judge?ment/, 'judgment', 'stipulation'],
    [/^stipulat\w+ (?:of|for|re|to) (?:\w+ ){0,3}(?:dismissal|dismiss|discontinuance)/, 'dismissal', 'stipulation'],
    [/^stipulat\w+ of settlement/, 'settlement', 'stipulation'],
    [ALWAYS, 'stipulation'],
  ],
  consent: [
    [/^consent (?:(?!to)\w+ )?(?:judge?ment|decree)/],
    [/^consent to (?:\w+ )?judge?ment/, 'stipulation'],
    [/^consent (?:to|of|by|form|filed|and)/, 'other'],
  ],
  'dismissal dismissed discontinuance': [
    [/^dismissed(?:$|[.,;]| (?:with|without|as|for|by|per))/, 'order'],
    [/^dismissal (?:hearing|docket)/, 'hearing'],
    [/^dismissal (?:order)/, 'order'],
    [/^(?:dismissal|discontinuance)/, 'dismissal'],
  ],
  'settlement settlements': [
    [/^settlements? conference (?:statement|brief|memorandum)/, 'brief'],
    [/^settlements? (?:conference|hearing)/, 'hearing'],
    [/^settlement of (?:an |the )?(?:\w+ )?(?:order|judgment)/, 'proposed_order'],
    [/^settlement (?:letter|statement)/, 'letter'],
    [ALWAYS, 'settlement'],
  ],
  'proposed unsigned lodged': [
    [/^(?:proposed|unsigned|lodged)[ \])]+(?:[\w'-]+ ){0,5}(?:order|judge?ment|decree|findings)/, 'proposed_order'],
    [/^proposed (?:jury instruction|voir dire|verdict form|jury|instruction|exhibit|witness)/, 'other'],
    [/^proposed summons/, 'service'],
    [/^proposed (?:joint |case |discovery |scheduling )*(?:plan|schedule)\b/, 'report'],
    [/^lodged\b.{0,50}\border/, 'proposed_order'],
  ],
  presentment: [[ALWAYS, 'proposed_order']],
};
