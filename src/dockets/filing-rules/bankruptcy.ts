/** Filings that only bankruptcy courts have. */
import { ALWAYS, type Rules } from './rule.ts';

export const BANKRUPTCY: Rules = {
  'voluntary involuntary': [[/^(?:in)?voluntary petition/, 'complaint']],
  adversary: [
    [/^adversary (?:case|proceeding)[^.]{0,40}\b(?:closed|dismissed|terminated|reopened)/, 'other'],
    [/^adversary (?:case|proceeding)\b[^.]{0,30}(?:complaint|filed|commenced|\d)/, 'complaint'],
  ],
  341: [[/^341\b/, 'hearing']],
  meeting: [[/^meeting of (?:the )?creditors|^meeting (?:held|set|continued|scheduled)/, 'hearing']],
  creditors: [
    [/^creditors'? (?:matrix|list|mailing)/, 'claim_plan_schedule'],
    [/^creditors'? meeting/, 'hearing'],
  ],
  'matrix ballot ballots': [[ALWAYS, 'claim_plan_schedule']],
  list: [
    [
      /^list of (?:\w+ )?(?:\d+ )?(?:largest |unsecured )*(?:creditors|equity|claims|claimholders)/,
      'claim_plan_schedule',
    ],
    [/^list of (?:exhibits?|witness)/, 'exhibit'],
  ],
  mailing: [],
  address: [[/^address list/, 'claim_plan_schedule']],
  largest: [[/^largest (?:unsecured )?creditors/, 'claim_plan_schedule']],
  'claim claims': [
    [/^claims? (?:construction|preclusion)(?: \w+)? (?:brief|statement|chart)/, 'brief'],
    [/^claims? construction (?:order|opinion)/, 'order'],
    [/^claims? construction (?:hearing)/, 'hearing'],
    [/^claims? construction/],
    [/^claims? (?:against|for relief|of exempt)/],
    [ALWAYS, 'claim_plan_schedule'],
  ],
  'plan plans': [[/^plans? (?:administrator|trustee|sponsor|fiduciar)/], [ALWAYS, 'claim_plan_schedule']],
  'schedule schedules': [
    [/^schedules? (?:hearing|conference|trial)/, 'hearing'],
    [/^schedules?(?:$|[ :]+(?:\/|[a-j]\b|[a-j],|[a-j]-|\(|filed|and|of|e\/f|i |summary|for))/, 'claim_plan_schedule'],
  ],
  amendment: [[/^amendments? to (?:\w+ )?(?:schedule|list|matrix|petition|statement)/, 'claim_plan_schedule']],
  summary: [
    [/^summary of (?:\w+ )?(?:schedules|assets|liabilities)/, 'claim_plan_schedule'],
    [/^summary judgment (?:motion)/, 'motion'],
  ],
  means: [[/^means test/, 'claim_plan_schedule']],
  chapter: [
    [/^chapter (?:7|11|12|13|15|9) (?:voluntary |involuntary )(?:petition)/, 'complaint'],
    [/^chapter (?:7|11|12|13) (?:statement|calculation|means test)/, 'claim_plan_schedule'],
    [/^chapter (?:7|11|12|13) (?:trustee'?s? )?(?:\d+\(?a?\)? )(?:meeting|notice)/, 'hearing', 'notice'],
  ],
  equity: [[/^equity security holders/, 'claim_plan_schedule']],
  reaffirmation: [
    [/^reaffirmation agreement/, 'stipulation'],
    [/^reaffirmation hearing/, 'hearing'],
  ],
  'employee payment-advices': [[/^employee income/, 'other']],
  compensation: [[/^compensation (?:of|statement)/, 'other']],
  confirmation: [[/^confirmation (?:hearing)/, 'hearing']],
  trustee: [
    [
      /^trustee'?s? (?:certificate|recommendation|statement) (?:of|re|regarding|for) (?:no[- ]?distribution|confirmation|341)/,
      'report',
    ],
  ],
};
