/** Further types of an entry: what its caption is or does in addition to its primary type. */
import type { FilingType } from '../filing-type.ts';

interface Further {
  readonly primary: readonly FilingType[];
  /** Tested against the head from the deciding keyword on. */
  readonly when: RegExp;
  readonly adds: FilingType;
}

/** An act joined to the first one in the same caption: `answer and counterclaim`. */
const joined = (what: string): RegExp => new RegExp(`^[^.;:([]{2,50}?(?:,| and| &| with|/) ?(?:\\w+ )?(?:${what})`);

export const FURTHER_TYPES: readonly Further[] = [
  {
    primary: ['order'],
    when: /^[^.;([]{0,80}\b(?:setting|scheduling|schedule|sets|set for|resetting|rescheduling|continuing)\b[^.;([]{0,60}\b(?:hearing|conference|trial|argument|arraignment|plea)/,
    adds: 'hearing',
  },
  {
    primary: ['order'],
    when: /^[^.;([]{0,50}\b(?:re-?assign|transferring|transfer(?:s|red)? (?:case|to)|of (?:re)?assignment|of transfer|of recusal|remanding)/,
    adds: 'transfer_assignment',
  },
  {
    primary: ['answer'],
    when: joined('counter-?claims?|cross-?claims?|third[- ]party complaint|cross-?complaint'),
    adds: 'complaint',
  },
  { primary: ['motion'], when: joined('memorandum|brief|points and authorities'), adds: 'brief' },
  { primary: ['motion'], when: /^notices? of hearing|^[^.;([]{0,60}and notice of hearing/, adds: 'hearing' },
  { primary: ['opinion'], when: joined('order\\b'), adds: 'order' },
  { primary: ['opinion'], when: joined('judge?ment'), adds: 'judgment' },
  {
    primary: ['minute_entry'],
    when: /\b(?:hearing|conference|trial|arraignment|argument|sentencing|appearance|plea|revocation|held on|proceedings held|meeting)\b/,
    adds: 'hearing',
  },
  {
    primary: ['minute_entry'],
    when: /\b(?:sentencing|sentenced|change of plea|plea of|pleads? guilty|plea entered)\b/,
    adds: 'plea_sentencing',
  },
  {
    primary: ['hearing'],
    when: /^[^.;]{0,40}\b(?:change of plea|sentencing|plea and sentence)/,
    adds: 'plea_sentencing',
  },
  { primary: ['transcript'], when: /^notices?\b/, adds: 'notice' },
  { primary: ['response'], when: /^(?:brief|memorand|points)/, adds: 'brief' },
];
