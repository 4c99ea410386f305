/**
 * Whether a payment's memo names the call that it pays for (docs/design/payments.md#purpose). Only memos in the service's
 * own form name one; what else they hold is a hash of parameters that no event has.
 */

import type { PaymentInstruction } from '../../solana/verify-transaction-instructions.ts';

/** The word of each call in a short memo. */
const WORDS: Readonly<Record<string, string>> = {
  'GET /v1/case': 'case',
  'GET /v2/case': 'case',
  'GET /v1/monitor': 'monitor',
  'GET /v2/monitor': 'monitor',
  'POST /v2/cases/batch': 'batch',
  'GET /v2/wallet/keys': 'keys',
  'POST /v2/wallet/keys': 'rotate-key',
  'GET /v2/wallet/deliveries': 'deliveries',
};
const SHORT = /^docket1 (\S+) /;
/** A tool over MCP is named by itself, and not by its endpoint. */
const IN_WORDS = /^Docket Monitor 1: pays for ((?:GET|POST) \S+) at /;

/** The call that a memo names instead; null if it names this one, or none. */
export function otherCallIn(instructions: readonly PaymentInstruction[], endpoint: string): string | null {
  for (const read of instructions) {
    if (read.kind !== 'memo') continue;
    const text = read.text.toString();
    const word = SHORT.exec(text)?.[1];
    if (word !== undefined && Object.hasOwn(WORDS, endpoint) && WORDS[endpoint] !== word) return word;
    const call = IN_WORDS.exec(text)?.[1];
    if (call !== undefined && call !== endpoint) return call;
  }
  return null;
}
