/** A refusal of the service in the words of a person, and for programs with all that it said. */
import { z } from 'zod';
import { CliError, EXIT } from './command.ts';

const ErrorAnswer = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.looseObject({ hint: z.string().optional() }),
  }),
});
export interface Refused {
  readonly wallet: string;
  /** Whether test money can be had for the asking. */
  readonly isLocal: boolean;
  /** Whether an earlier answer to the same payment may have been lost. */
  readonly isRepeated: boolean;
}

export function refusal(status: number, body: unknown, { wallet, isLocal, isRepeated }: Refused): CliError {
  const parsed = ErrorAnswer.safeParse(body);
  if (!parsed.success) {
    return new CliError(
      `The service answered ${status} in no form known here.`,
      'Is --url the service?',
      EXIT.unavailable,
    );
  }
  const { code, message, details } = parsed.data.error;
  const why = details.reason ?? details.component;
  const reason = typeof why === 'string' ? ` (${why})` : '';
  const exitCode = status === 400 ? EXIT.usage : status >= 500 || status === 429 ? EXIT.unavailable : EXIT.found;
  const { accepts: _terms, hint: advised, ...facts } = details;
  const refused = (text: string, hint: string) => new CliError(text, hint, exitCode, { code, status, details: facts });
  if (code === 'payment_already_used' && isRepeated && typeof details.transaction === 'string') {
    return refused(
      `The answer is lost; the payment for it was submitted as transaction ${details.transaction}.`,
      'This dialect has no name for a request by which its answer could be asked for again; --dialect v2 has.',
    );
  }
  const lacks = isLocal ? LACKING.get(String(details.reason)) : undefined;
  const hint = lacks
    ? `Give it test money: docket wallet fund ${wallet} ${lacks}`
    : spelt(advised ?? 'See /docs/errors.', details);
  if (details.reason === 'insufficient_funds') {
    return refused(`${message} The wallet is short of ${String(details.shortfall_usd)} USDC.`, hint);
  }
  const issues = Array.isArray(details.issues) ? details.issues.map((issue) => `\n  ${JSON.stringify(issue)}`) : [];
  // Said of what may have had a payment with it; of a payment itself its own message says it.
  const isQuery = status === 404 || code === 'ambiguous_case_id' || (status >= 500 && code !== 'result_damaged');
  const charge = isQuery ? ' Nothing was charged.' : '';
  return refused(`${code}${reason}: ${message}${charge}${issues.join('')}`, hint);
}

/** A hint that points at details, with what they say: a person is not shown the details. */
const spelt = (hint: string, details: Readonly<Record<string, unknown>>): string =>
  hint.replace(/\bdetails\.(\w+)/g, (pointer, name) => {
    const value = details[name];
    if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')) {
      return value.join(', ');
    }
    return typeof value === 'string' || typeof value === 'number' ? String(value) : pointer;
  });

/** What the local chain's faucet gives a wallet that lacks it. */
const LACKING: ReadonlyMap<string, string> = new Map([
  ['insufficient_funds', '--usdc 10'],
  ['insufficient_sol_for_network_fee', '--sol 0.01'],
]);
