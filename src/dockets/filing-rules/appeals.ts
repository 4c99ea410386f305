/** Appeals, their paperwork, and the records that are transmitted with them. */
import { ALWAYS, type Rules } from './rule.ts';

export const APPEALS: Rules = {
  'appeal appeals': [
    [/^appeals? (?:fee|filing fee)/, 'fee'],
    [/^appeals? books?/, 'record'],
    [/^appeals? bond/, 'bond'],
    [/^appeals? (?:court|judge|division|tribunal|hearing|council|panel)\b/],
    [ALWAYS, 'appeal'],
  ],
  'cross-appeal cross-appeals cross-petition': [[ALWAYS, 'appeal']],
  certiorari: [[/^certiorari (?:is )?(?:granted|denied|dismissed)/, 'order']],
  'certiorari mandamus usca': [
    [/^usca (?:mandate)/, 'mandate'],
    [/^usca (?:order|opinion|judgment)/],
    [ALWAYS, 'appeal'],
  ],
  'appellate-court': [
    [/^appellate-court (?:case |docket )?(?:no|number|#)/, 'appeal'],
    [/^appellate-court mandate/, 'mandate'],
  ],
  docketed: [[/^docketed\b/, 'appeal']],
  docketing: [[/^docketing (?:statement|notice|letter|form)/, 'appeal']],
  'transmission transmittal transmitted': [
    [/^transmi\w+(?: of)?[^.]{0,60}(?:appeal|usca|circuit|record|court of appeals)/, 'appeal'],
  ],
  'record records': [
    [/^records? excerpts?/, 'exhibit'],
    [/^records? (?:due|deadline)/, 'other'],
    [/^records? (?:on|of|for) (?:the )?appeal/, 'appeal'],
    [/^records? - records? on appeal/, 'appeal'],
    [/^records? (?:transmitted|sent|returned|received|filed|requested)/, 'appeal'],
    [/^records?(?:$| (?:of|from|containing|on behalf|in)\b)/, 'record'],
  ],
  tribunal: [[/^tribunal(?:'s)? record/, 'record']],
  administrative: [[/^administrative record/, 'record']],
  'applicant respondent plaintiff defendant': [[/^\w+'?s? (?:application )?record\b(?! on| of)/, 'record']],
  certified: [
    [/^certified (?:and first class )?mail\b/, 'service'],
    [/^certified (?:tribunal|administrative) record/, 'record'],
    [/^certified cop(?:y|ies) of (?:the )?(?:\w+ )?(?:decision|record|tribunal|file)/, 'record'],
  ],
};
