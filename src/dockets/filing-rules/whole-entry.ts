/** Rules that need more of an entry than what follows its first keyword; they are tried first. */
import type { Rule } from './rule.ts';

const ASKED = '(?:motions?|petitions?|applications?|requests?)';

export const WHOLE_ENTRY: readonly Rule[] = [
  // The outcome of a motion is the court's act: `Motion for leave disposed`, `Petition DENIED`.
  [/^(?!notice|letter|certificate)(?:(?!\b(?:filed|order|opinion|by)\b)[^.;[(]){3,110} disposed\b/, 'order'],
  // An order without the word: `Upon consideration of the motion ..., appellants are directed to ...`.
  [
    /^(?:upon|in consideration|having|after|for (?:the )?reasons|pursuant to|the court|it is|on the court's own|this (?:case|matter)|before the court|in light of|good cause|by order|as the court|because)\b.{0,200}\b(?:ordered|directed|granted|denied|orders|directs|grants|denies|granting|denying|dismissed)\b/,
    'order',
  ],
  [
    new RegExp(
      `^(?:(?!(?:notice|order|letter|minute|opposition|response|reply|brief|stipulated|objection)\\b)[\\w'.-]+ ){0,4}${ASKED}\\b(?:(?!\\b(?:filed|order|by|until|be|if|or|to have|re|leave to)\\b)[^.;[(]){0,90}? (?:(?:is|are|was|hereby) )*(?:granted|denied|refused|dismissed|allowed|overruled)(?:$|[.,;]| in part| as moot| with| without| and| by)`,
    ),
    'order',
  ],
  // Only the payment itself; a paper about a fee is not one.
  [
    /^(?:(?!(?:motion|application|order|notice|petition|complaint|objection|response|reply|letter|memorandum|affidavit|certificate|certification|declaration|stipulation|transcript|statement|report|request|disclosure|judgment|brief|minute|hearing|exhibit|record|bill)s?\b)[\w'./%&#-]+ ){0,7}fees?(?:$|[^\w'-])(?! ?(?:applications?|agreement|statements?|petition|schedule|waiver)\b)/,
    'fee',
  ],
  [/^[\w'%.&/ -]{0,60}\b(?:fund|assessment|account)s?(?: \(?[\w .-]{0,20}\)?)?$/, 'fee'],
  [/^adjusting entry/, 'fee'],
  // A deadline without a paper: `Appellant's brief due`.
  [/^(?!notice|order)[\w'/ ]{3,50} due(?:$|[.:;]|(?: on| by)? \d[\d/.-]*$)/, 'other'],
  // `Arraignment minute`, `Criminal minutes`, never a minute order.
  [
    /^(?:(?!(?:notice|motion|order|transcript|letter|report|approval)\b)[\w'-]+ ){0,4}minutes?(?:$|\/|[.,:;(-]| (?!order|entry order))/,
    'minute_entry',
  ],
  // A page of the Canadian registry: place, day, presiding judge.
  [/^[a-z' -]{3,20},? \d{1,2}-[a-z]{3}-\d{4} (?:before|en presence|devant|present)/, 'minute_entry', 'hearing'],
  // `Judge Poe: defendant appears in person ...`
  [
    /^(?:(?:hon(?:orable|\.)?|judge|justice|special judge|magistrate) )+[\w.' ]{2,40}(?:[:;,-] ?|\) ?).{0,80}\b(?:appears?|appeared|present|comes? on|called|heard|sworn|counsel|arraigned)\b/,
    'minute_entry',
    'hearing',
  ],
  [/^(?:case|matter|cause) (?:comes on|called|came on)\b/, 'minute_entry', 'hearing'],
  [/^(?:defendant|def|state|plaintiff|parties|deft)\.? (?:appears?|appeared|present)\b/, 'minute_entry', 'hearing'],
];
