/**
 * An error for a model: REST's error object in the terms of this transport, and the next step. It is a tool result,
 * because protocol errors do not reach the model.
 */
import { ERROR_CATALOGUE, type ErrorCode, type Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../events/event.ts';
import { toInstant } from '../../runtime/instant.ts';
import { paymentAdvice } from '../paid/payment-advice.ts';
import { type AnsweringService, type ErrorEnvelope, errorEnvelope } from '../send-problem.ts';
import { type ToolResult, toolResult } from './tool-result.ts';

/** The failed call. */
export interface RefusedCall {
  readonly tool: string;
  readonly requestId: string;
  /** The argument for its payment. */
  readonly argument?: string;
}

export interface ToolError extends ErrorEnvelope {
  readonly next_step: string;
}

/** @param alongside additional members of the result, e.g. instructions for a new payment */
export function refusal(
  service: AnsweringService,
  call: RefusedCall,
  problem: Problem,
  alongside: JsonObject = {},
): ToolResult {
  return toolResult({
    structured: JSON.stringify({ ...toolError(service, call, problem), ...alongside }),
    isError: true,
  });
}

export function toolError({ publicUrl, clock }: AnsweringService, call: RefusedCall, problem: Problem): ToolError {
  const nextStep = nextStepOf(problem, call);
  const envelope = errorEnvelope(problem, call.requestId, toInstant(clock.now()), publicUrl);
  const { error } = envelope;
  const details = translated({ ...error.details, hint: nextStep }) as JsonObject;
  return { ...envelope, error: { ...error, message: inToolWords(error.message), details }, next_step: nextStep };
}

const NOTHING_CHARGED = 'Nothing was charged.';
/** What the caller can do, for each code that a tool can return. */
function nextStepOf({ problem: code, details }: Problem, { tool, argument = 'payment_tx' }: RefusedCall): string {
  const again = `call ${tool} again`;
  const step =
    NEXT_STEPS[code]?.(details, tool, argument) ?? `${inToolWords(ERROR_CATALOGUE[code].hint)} Then ${again}.`;
  // For a payment under way, the step already says everything in the hint.
  const known =
    typeof details.hint === 'string' && code !== 'payment_already_used' ? `${inToolWords(details.hint)} ` : '';
  // If the caller sent the transfer itself, its money has moved even though this call charged nothing.
  const charged = details.reason === 'already_on_chain' ? '' : `${NOTHING_CHARGED} `;
  return `${charged}${known}${step}`;
}

type NextStep = (details: JsonObject, tool: string, argument: string) => string;

const correct: NextStep = (details, tool) =>
  `Correct ${namesIn(details)} as details.issues says (each entry has the parameter, what was received, the rule and an example), then call ${tool} again with the other arguments unchanged.`;

const later: NextStep = ({ retry_after }, tool) =>
  `Wait ${wait(retry_after)}, then call ${tool} again. A payment that was sent along was not used: it can be presented again with the same arguments until its blockhash expires; other arguments need a new one.`;

const newPayment: NextStep = (_details, tool, argument) =>
  `Call ${tool} again with the same arguments and without ${argument} to get instructions for a new payment, sign that transfer and send it as ${argument}.`;

const NEXT_STEPS: { readonly [code in ErrorCode]?: NextStep } = {
  missing_required_parameter: correct,
  invalid_parameter: correct,
  invalid_case_id: correct,
  invalid_timestamp: correct,
  last_checked_in_future: correct,
  invalid_batch_request: correct,
  batch_too_large: ({ limit }, tool) =>
    `Split the queries: at most ${limit} in one call. Call ${tool} once for each part, each with its own payment.`,
  court_not_covered: ({ suggestions }, tool) =>
    `Use a court_code that can be queried${listed(suggestions)}; service_court_list with search finds courts by name, free. Then call ${tool} again with the other arguments unchanged.`,
  case_not_found: ({ enqueued, retry_after }, tool) =>
    `Check case_id and court_code (service_court_list shows how each court writes its numbers).${
      enqueued === true ? ` The court is being asked: call ${tool} again in ${wait(retry_after)}.` : ''
    } A payment that was sent along was not used: it can be presented again with the same arguments until its blockhash expires; other arguments need a new one.`,
  ambiguous_case_id: (_details, tool) =>
    `Call ${tool} again with the whole case number, its office included, as details.pattern and details.example show (service_court_list has them for every court). A payment that was sent along was not used; sign a new one for the other arguments.`,
  invalid_payment: ({ reason }, tool, argument) =>
    typeof reason === 'string' && UNFIT_PAYMENTS.has(reason)
      ? `${UNFIT_PAYMENTS.get(reason)} Then call ${tool} again; no payment that you sent was used.`
      : `${argument} is the base64, base64url or base58 of one fully signed Solana transaction, without spaces or line breaks. ${newPayment({}, tool, argument)}`,
  payment_rejected: (details, tool, argument) =>
    `${paymentAdvice(details) ?? 'details.reason names the rule that the transfer breaks.'} Build a new one from the instructions in this result: exact amount, mint, token account, blockhash and memo. Then call ${tool} again with the same arguments and ${argument}.`,
  settlement_failed: (_details, tool, argument) =>
    `The transfer did not happen and the answer was withheld. Build a new one from the instructions in this result, then call ${tool} again with the same arguments and ${argument}.`,
  // Only a submitted payment names its transaction. Any other may still buy, so a new payment would pay twice.
  payment_already_used: ({ transaction, retry_after }, tool, argument) =>
    transaction === null
      ? `Do not pay again: another call with this payment is still at work and may yet be answered and charged. Wait ${wait(retry_after)}, then send the same call to ${tool} with the same ${argument} again.`
      : `This transfer has bought an answer already and can buy no other. ${newPayment({}, tool, argument)} The answer that it bought stays, free, at the result_url that came with it.`,
  wallet_banned: (_details, tool, argument) =>
    `Do not call ${tool} with a payment of this wallet again; another wallet may pay: ${newPayment({}, tool, argument)} What this wallet has bought stays, free, at the result_url that came with it.`,
  idempotency_conflict: (_details, tool) =>
    `Use a new payment identifier for each request, and repeat one only with exactly the same arguments. Then call ${tool} again.`,
  result_gone: newPayment,
  result_damaged: (_details, tool, argument) =>
    `Sending the same call again charges nothing, and gives the answer once the service has restored it. For an answer now: ${newPayment({}, tool, argument)}`,
  rate_limit_exceeded: ({ retry_after }, tool) =>
    `Wait ${wait(retry_after)}, then call ${tool} again. The payment was not used: it can be presented again until its blockhash expires, else sign a new one.`,
  service_unavailable: later,
  court_unavailable: later,
  query_timeout: later,
  internal_error: (_details, tool) =>
    `Call ${tool} again; if it stays, report meta.request_id. A payment that was sent along can be presented again: it never buys twice.`,
};

/** Payments that are valid separately but not together. */
const UNFIT_PAYMENTS: ReadonlyMap<string, string> = new Map([
  ['several_payments', 'Pay in one way only: either by payment_tx or by _meta["x402/payment"].'],
  ['two_wallets', 'Sign both transfers with the wallet that you ask about.'],
  ['same_payment_twice', 'Sign a second transfer, with a memo of its own, for payment_tx_deliveries.'],
  [
    'one_payment_for_two',
    'Leave include_deliveries out to pay for the keys by x402, or pay both by payment_tx_keys and payment_tx_deliveries.',
  ],
]);

const wait = (seconds: Json | undefined): string =>
  typeof seconds === 'number' ? `${seconds} second${seconds === 1 ? '' : 's'}` : 'a few seconds';

const listed = (names: Json | undefined): string =>
  Array.isArray(names) && names.length ? `, e.g. ${names.join(', ')}` : '';

/** At most this many names are listed; the rest are counted. */
const MOST_NAMED = 8;

/** The names of the invalid parameters, e.g. "case_id, last_checked". */
function namesIn({ issues }: JsonObject): string {
  const listed = Array.isArray(issues) ? (issues as readonly JsonObject[]) : [];
  const names = [...new Set(listed.map(({ parameter }) => String(parameter)))];
  if (names.length === 0) return 'the arguments';
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** REST's addresses and headers, and their equivalents in MCP. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bGET \/v2\/status\b/g, 'service_court_list'],
  [/\bGET \/v2\/case\b/g, 'service_case_query'],
  [/\bGET \/v2\/monitor\b/g, 'service_case_monitor'],
  [/\bPOST \/v2\/cases\/batch\b/g, 'service_case_batch'],
  [/\bthe header Retry-After says the same\b/g, 'in seconds'],
  [/\bThis request\b/g, 'This call'],
  [/\bRepeat the request\b/g, 'Repeat the call'],
];

function inToolWords(text: string): string {
  return WORDS.reduce((words, [pattern, word]) => words.replace(pattern, word), text);
}

/** Translates our own texts in the details; texts that the caller sent stay unchanged. */
function translated(value: Json, key = ''): Json {
  if (typeof value === 'string') return key === 'received' ? value : inToolWords(value);
  if (Array.isArray(value)) return value.map((each) => translated(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, translated(each, name)]));
}
