/** Acts of courts and their clerks: orders, judgments, opinions, minutes, hearings, warrants, transfers. */
import { ALWAYS, type Rules } from './rule.ts';

const HEARING = '(?:hearing|conference|argument|trial|arraignment|mediation|meeting)';

export const COURT_ACTS: Rules = {
  'order orders ordered': [
    [/^orders? to show cause (?:hearing|set)/, 'hearing'],
    [/^orders? (?:form|request)\b/, 'other'],
    [/^orders?,? ?\(?(?:proposed|unsigned|lodged|submitted)\b/, 'proposed_order'],
    [/^orders? (?:for|of|re:?) (?:official )?transcripts? (?:by|from|filed|received)\b/, 'transcript'],
    [/^orders? (?:and|&) (?:partial |final |default |amended |consent )?judge?ment\b/, 'order', 'judgment'],
    [/^orders?(?:,| and| &) (?:memorandum )?(?:opinion|reasons|findings)\b/, 'order', 'opinion'],
    [/^orders? (?:and|&) stipulat/, 'order', 'stipulation'],
    [ALWAYS, 'order'],
  ],
  'endorsement endorsements endorsed': [[/^endorsement of (?:claim|note|check)/], [ALWAYS, 'order']],
  'direction directions directive directives': [
    [/^directions? (?:of|to|by|from|received|dated|given|issued|rendered|on|for|\(|:|$)/, 'order'],
    [/^directives?\b/, 'order'],
  ],
  discharged: [[ALWAYS, 'order']],
  discharge: [[/^discharge (?:of|order|granted|entered)|^discharge$/, 'order']],
  'injunction tro': [[/^injunction (?:granted|issued|entered|dissolved)/, 'order']],
  writ: [
    [/^writ of (?:certiorari|mandamus|prohibition)/, 'appeal'],
    [/^writ of habeas corpus ad\b/, 'order'],
    [/^writ of habeas/, 'complaint'],
    [ALWAYS, 'warrant'],
  ],
  'granted denied': [[/^\w+(?: in part)?(?:$|[.,;:]| (?:by|as|and|in|with|on)\b)/, 'order']],
  default: [
    [/^default (?:judge?ment|decree)/, 'judgment'],
    [/^default (?:entered|by clerk|as to|issued|noted)|^default$/, 'order'],
  ],
  clerk: [
    [/^clerk'?s? entry of default/, 'order'],
    [/^clerk'?s? (?:default )?judgment/, 'judgment'],
    [/^clerk'?s? (?:minutes|notes)/, 'minute_entry', 'hearing'],
    [
      /^clerk'?s? (?:certificate|record|transcript)[^.]{0,30}(?:on|of) appeal|^clerk'?s? (?:supplemental )?record/,
      'appeal',
    ],
  ],
  clerks: [[/^clerks? (?:supplemental )?record (?!.{0,12}due)/, 'appeal']],
  entry: [
    [/^entry of (?:clerk'?s )?default/, 'order'],
    [/^entry of (?:[\w']+ )?judge?ment/, 'judgment'],
  ],
  'judgment judgement judgments': [
    [/^judge?ments? (?:debtor|creditor|roll|lien|docket)\b/],
    [
      /^judge?ments? (?:and|&|\/) (?:commitment|sentence)|^judge?ments? in (?:a )?criminal|^judge?ment of conviction/,
      'judgment',
      'plea_sentencing',
    ],
    [/^judge?ments? (?:and|&) orders?\b/, 'judgment', 'order'],
    [/^judge?ments?[^.]{0,40} as (?:a |the )?mandate/, 'mandate'],
    [/^judge?ments? (?:satisfied|satisfaction)/, 'other'],
    [ALWAYS, 'judgment'],
  ],
  decree: [[ALWAYS, 'judgment']],
  'opinion opinions': [
    [/^opinions? letter/, 'letter'],
    [/^opinions?,? (?:and|&|\/) orders?\b/, 'opinion', 'order'],
    [/^opinions?,? (?:and|&|\/) (?:final )?judge?ments?\b/, 'opinion', 'judgment'],
    [ALWAYS, 'opinion'],
  ],
  'decision decisions': [
    [/^decisions? (?:and|&) order/, 'order', 'opinion'],
    [
      /^decisions?(?:$|[.:,]| (?:re|on|by|of the (?:court|judge)|rendered|affirming|denying|granting|filed|issued|signed|dated))/,
      'opinion',
    ],
  ],
  'ruling rulings': [[/^rulings?\b/, 'order']],
  'curiam disposition dissent concurrence': [
    [/^curiam order/, 'order'],
    [/^disposition of (?:the )?adversary/, 'order'],
    [/^disposition (?:hearing|conference)/, 'hearing'],
    [/^disposition (?:of|by|sheet|date|code)/],
    [ALWAYS, 'opinion'],
  ],
  reasons: [
    [/^reasons(?:,? (?:for|of)[^.]{0,40})? and (?:for )?judge?ment\b/, 'opinion', 'judgment'],
    [/^reasons(?:,? (?:for|of)[^.]{0,40})? and orders?\b/, 'opinion', 'order'],
    [/^reasons (?:for|of|dated|delivered|given|rendered|filed|by)/, 'opinion'],
  ],
  findings: [
    [/^findings(?: of fact)?,?(?: and| &| or|,| \/)* recommend/, 'report'],
    [/^findings[^.]{0,60}recommendation/, 'report'],
    [/^findings[^.]{0,60}\border\b/, 'opinion', 'order'],
    [/^findings[^.]{0,60}\bjudge?ment\b/, 'opinion', 'judgment'],
    [/^findings (?:of|and|&)/, 'opinion'],
  ],
  'minute minutes': [
    [/^minute (?:order|entry order)|^minutes? \(?order\b/, 'order'],
    [ALWAYS, 'minute_entry'],
  ],
  proceedings: [[/^proceedings (?:held|before|had)\b|^proceedings:?$/, 'minute_entry', 'hearing']],
  proceeding: [[/^proceeding (?:memo|sheet|held)/, 'minute_entry', 'hearing']],
  courtroom: [[/^courtroom (?:minutes|minute|notes|deputy)/, 'minute_entry']],
  [HEARING_WORDS()]: [
    [new RegExp(`^${HEARING}s? (?:exhibits?|exhibit list)`), 'exhibit'],
    [new RegExp(`^${HEARING}s? (?:brief|memorandum|statement)`), 'brief'],
    [new RegExp(`^${HEARING}s? transcripts?`), 'transcript'],
    [new RegExp(`^${HEARING}s? minutes`), 'minute_entry', 'hearing'],
    [new RegExp(`^${HEARING}s? (?:order|orders)\\b`), 'order', 'hearing'],
    [new RegExp(`^${HEARING}s? (?:report|questionnaire|certificate)`), 'report'],
    [/^arguments? (?:statement|acknowledg)/, 'other'],
    [/^trial waiver/, 'other'],
    [/^trial record/, 'record'],
    [/^conferences? of (?:the )?(?:justices?|\w+ \d)/, 'other'],
    [/^mediation (?:agreement|settlement)/, 'settlement'],
    [ALWAYS, 'hearing'],
  ],
  pretrial: [
    [/^pretrial (?:order|scheduling order)/, 'order'],
    [/^pretrial services? (?:report|violation)/, 'report'],
    [/^pretrial (?:memorandum|brief)/, 'brief'],
  ],
  calendared: [[ALWAYS, 'hearing']],
  'set reset scheduled rescheduled': [
    [
      new RegExp(
        `^(?:re)?set(?:/reset)?(?: or reset)? (?:deadlines?|scheduling order deadlines?)(?!.{0,25}${HEARING})`,
      ),
      'other',
    ],
    [new RegExp(`^(?:re)?(?:set|scheduled)[^.]{0,60}${HEARING}`), 'hearing'],
    [/^(?:re)?set (?:for|on) (?:argument|submission|hearing|trial|oral)/, 'hearing'],
  ],
  submitted: [[/^submitted (?:on|after|without|at)\b/, 'hearing']],
  argued: [[ALWAYS, 'hearing']],
  'verdict verdicts': [[ALWAYS, 'verdict']],
  acquittal: [[/^acquittal\b/, 'verdict']],
  jury: [
    [/^jury (?:trial|selection|impanel|panel (?:sworn|selected)|deliberat|voir)/, 'hearing'],
    [/^jury verdict/, 'verdict'],
    [
      /^jury'?s? (?:trial )?(?:demand|instruction|list|note|question|charge|fee|poll|roll|seating|strike|request|waiver)/,
      'other',
    ],
  ],
  'warrant warrants capias': [[ALWAYS, 'warrant']],
  'mandate remittitur': [[ALWAYS, 'mandate']],
  'assigned reassigned reassigning assignment reassignment': [
    [/^re?assigned case -/],
    [/^assignment\/transfer of claim|^assignment of claims?/, 'claim_plan_schedule'],
    [/^assignment of (?:rents|lease|judgment|error)/],
    [ALWAYS, 'transfer_assignment'],
  ],
  'assign reassign': [[/^(?:re)?assign (?:judges?|case|magistrate|district|to)\b/, 'transfer_assignment']],
  'transferred transferring transfer transfers': [
    [/^transfers?(?:\/assignment)? (?:agreement|\(?claims?|of claims?)/, 'claim_plan_schedule'],
    [/^transfers? order/, 'order', 'transfer_assignment'],
    [ALWAYS, 'transfer_assignment'],
  ],
  'recusal recused referral referred remanded remand': [[ALWAYS, 'transfer_assignment']],
  judge: [
    [/^judge (?:update|assigned|added|reassigned|change)/, 'transfer_assignment'],
    [/^judge [\w. ]{2,30} (?:added|assigned|no longer|recused)/, 'transfer_assignment'],
  ],
  'sealed restricted vault unsealed': [
    // The paper itself is named next.
    [
      /^(?:sealed|restricted) (?:document|event|filing)[^a-z0-9]{1,6}(?:sealed )?(?:motion|order|response|reply|memorandum|brief|notice|letter|judgment|declaration|affidavit|exhibit|transcript|report|stipulation|application|petition|objection|opposition|minute|plea|indictment|complaint)/,
    ],
    [
      /^(?:un)?sealed (?:document|event|filing|record|entry|proceeding|case|matter|docket|attachment|item|envelope|material)/,
      'sealed_event',
    ],
    [/^restricted (?:document|filing|access|entry)/, 'sealed_event'],
    [/^vault\b/, 'sealed_event'],
    [/^unsealed(?: as to|$| by| per| pursuant| on|[.,(])/, 'sealed_event'],
    [/^sealed(?:$|[.,;(*]| \(| by | per | pursuant | as to | and )/, 'sealed_event'],
  ],
  unsealing: [[ALWAYS, 'sealed_event']],
};

function HEARING_WORDS(): string {
  return 'hearing hearings conference conferences argument arguments trial arraignment arraignments mediation';
}
