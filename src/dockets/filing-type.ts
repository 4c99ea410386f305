import { z } from 'zod';

/**
 * The filing types; the primary type and all others that apply are from this list
 * (docs/design/dockets.md#filing-types).
 */
export const FILING_TYPES = [
  'complaint',
  'answer',
  'motion',
  'response',
  'reply',
  'brief',
  'declaration',
  'exhibit',
  'proposed_order',
  'order',
  'opinion',
  'judgment',
  'minute_entry',
  'hearing',
  'transcript',
  'notice',
  'appearance',
  'service',
  'stipulation',
  'dismissal',
  'settlement',
  'discovery',
  'subpoena',
  'letter',
  'report',
  'charging_document',
  'plea_sentencing',
  'verdict',
  'bond',
  'warrant',
  'appeal',
  'record',
  'mandate',
  'claim_plan_schedule',
  'fee',
  'transfer_assignment',
  'sealed_event',
  'other',
] as const;

export const FilingType = z.enum(FILING_TYPES);
export type FilingType = z.infer<typeof FilingType>;

export interface FilingTypes {
  readonly primary: FilingType;
  /** The primary type first. */
  readonly all: readonly FilingType[];
}
