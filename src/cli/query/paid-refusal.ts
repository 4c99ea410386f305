/** Explains an error response of the service to a person, and passes its details to programs. */
import { z } from 'zod';
import { CliError, EXIT } from '../command.ts';

const ErrorAnswer = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.looseObject({ hint: z.string().optional() }),
  }),
});
export interface Refused {
  readonly wallet: string;
  /** Whether the chain gives test money on request. */
  readonly isLocal: boolean;
  /** Whether an earlier answer to the same payment may be lost. */
  readonly isRepeated: boolean;
}

export function refusal(status: number, body: unknown, { wallet, isLocal, isRepeated }: Refused): CliError {
  const parsed = ErrorAnswer.safeParse(body);
  if (!parsed.success) {
    return new CliError(
      `The service answered ${status} with an unrecognized body.`,
      'Check that --url points to Docket Monitor.',
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
      `The answer was lost. Its payment was submitted as transaction ${details.transaction}.`,
      'This dialect cannot fetch an answer again, because it has no payment identifiers; --dialect v2 can.',
    );
  }
  const missing = isLocal ? MISSING.get(String(details.reason)) : undefined;
  const hint = missing
    ? `Give the wallet test money: docket wallet fund ${wallet} ${missing}`
    : spelt(advised ?? 'See /docs/errors.', details);
  if (details.reason === 'insufficient_funds') {
    return refused(`${message} The wallet is short of ${String(details.shortfall_usd)} USDC.`, hint);
  }
  const issues = Array.isArray(details.issues) ? details.issues.map((issue) => `\n  ${JSON.stringify(issue)}`) : [];
  // Only for errors of the query itself: an error about a payment says in its own message what was charged.
  const isQuery = status === 404 || code === 'ambiguous_case_id' || (status >= 500 && code !== 'result_damaged');
  const charge = isQuery ? ' Nothing was charged.' : '';
  return refused(`${code}${reason}: ${message}${charge}${issues.join('')}`, hint);
}

/** The hint with each pointer into details replaced by its value, because a person is not shown the details. */
const spelt = (hint: string, details: Readonly<Record<string, unknown>>): string =>
  hint.replace(/\bdetails\.(\w+)/g, (pointer, name) => {
    const value = details[name];
    if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')) {
      return value.join(', ');
    }
    return typeof value === 'string' || typeof value === 'number' ? String(value) : pointer;
  });

/** The `docket wallet fund` option that fixes each shortage on the local chain. */
const MISSING: ReadonlyMap<string, string> = new Map([
  ['insufficient_funds', '--usdc 10'],
  ['insufficient_sol_for_network_fee', '--sol 0.01'],
]);
