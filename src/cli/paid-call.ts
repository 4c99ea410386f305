/** One call on the service that is paid for, as an agent would make it, and what went wrong in the words of a person. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { reachableHost } from '../listen.ts';
import { type CliContext, CliError, EXIT, note } from './command.ts';
import type { Dialect } from './paying-fetch.ts';
import { chainUnreachable, walletOf } from './query-wallet.ts';
import { baseUnitsOf } from './usd.ts';

export interface PayingOptions {
  readonly dialect: Dialect;
  readonly keypair?: string;
  readonly url?: string;
  readonly rpcUrl?: string;
  /** x402's `payment-identifier`; a random one if left out. */
  readonly paymentId?: string;
  /** US dollars, decimal. */
  readonly maxUsd: string;
}

/** How long a payment without an outcome is waited for. */
const PENDING_PATIENCE_MS = 90_000;
/** How long a request whose connection broke is repeated: a service that restarts is back by then. */
const REPEATS = { patienceMs: 60_000, pauseMs: 500 };

const ErrorAnswer = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.looseObject({ hint: z.string().optional() }),
  }),
});
const PendingAnswer = z.object({
  payment: z.object({ transaction: z.string(), result_url: z.string(), retry_after: z.number() }),
});
const ReceiptText = z.object({ transaction: z.string() });

/** What was bought. */
export interface PaidCall {
  readonly body: unknown;
  /** Its signature; null where nothing was charged, or no receipt said it. */
  readonly transaction: string | null;
  /** Base58 address. */
  readonly wallet: string;
  /** Where the same answer is given again; null where nothing is kept. */
  readonly resultUrl: string | null;
}

/**
 * Pays for a call and waits for its answer.
 * @param path of the service, with its query string
 * @throws CliError if it is refused, or cannot be made
 */
export async function payFor(
  path: string,
  init: RequestInit,
  options: PayingOptions,
  context: CliContext,
): Promise<PaidCall> {
  if (!/^\d+(\.\d{1,6})?$/.test(options.maxUsd)) {
    throw new CliError(`--max-usd is not an amount: ${options.maxUsd}`, 'Give US dollars, for example 1 or 0.99.');
  }
  const { keypair, maxUsd, dialect, paymentId = randomUUID() } = options;
  if (options.paymentId !== undefined && dialect !== 'v2') {
    throw new CliError('--payment-id needs --dialect v2.', 'The other dialects have no name for a request.');
  }
  if (!/^[A-Za-z0-9_-]{16,128}$/.test(paymentId)) {
    throw new CliError('--payment-id is not one.', 'Give 16 to 128 letters, digits, - and _, for example a UUID.');
  }
  const config = readConfig(context.environment);
  const url = (options.url ?? config.publicUrl ?? `http://${reachableHost(config.host)}:${config.port}`).replace(
    /\/+$/,
    '',
  );
  const rpcUrl = options.rpcUrl ?? config.solana.rpcUrls[0] ?? `http://127.0.0.1:${config.solana.localPort}`;
  assertAddress('--url', url);
  assertAddress('--rpc-url', rpcUrl);
  const key = await walletOf({ keypair, most: baseUnitsOf(maxUsd) }, config, rpcUrl, context);

  // Loaded here: `docket --help` must not load the clients of a blockchain.
  const { payingFetch } = await import('./paying-fetch.ts');
  const { AnswerLost, persistentFetch } = await import('./persistent-fetch.ts');
  let isRepeated = false;
  const onRepeat = () => {
    isRepeated = true;
    note(context, 'The payment was not answered; asking again with the same one, which is charged once at most.');
  };
  const fetchOn = persistentFetch({ ...REPEATS, onRepeat });
  const paid = await payingFetch({ dialect, key, rpcUrl, maxUsd, fetch: fetchOn, paymentId });
  let response: Response;
  try {
    response = await paid(`${url}${path}`, init);
  } catch (error) {
    if (error instanceof AnswerLost) throw lostAnswer(url, key.address, dialect, paymentId);
    throw explained(error, { url, rpcUrl, maxUsd });
  }
  let transaction = receiptOf(response);
  let resultUrl: string | null = null;
  if (response.status === 202) {
    const pending = await untilSettled(response, context);
    transaction ??= pending.transaction;
    resultUrl = pending.resultUrl;
    response = pending.response;
  }
  const location = response.headers.get('content-location');
  if (location !== null) resultUrl = new URL(location, `${url}/`).href;
  const body: unknown = await response.json().catch(() => null);
  if (isRepeated && response.status >= 500) throw lostAnswer(url, key.address, dialect, paymentId);
  if (response.status !== 200) {
    throw refusal(response.status, body, {
      wallet: key.address,
      isLocal: config.solana.network === 'local',
      isRepeated,
    });
  }
  return { body, transaction, wallet: key.address, resultUrl };
}

/** What a client's error means to the person who ran the command. */
function explained(error: unknown, { url, rpcUrl, maxUsd }: { url: string; rpcUrl: string; maxUsd: string }): Error {
  const text = messagesOf(error);
  if (/\bspendControls\.maxAmountPerPayment\b|more than \$/.test(text)) {
    return new CliError(`The call costs more than $${maxUsd}.`, 'Allow more with --max-usd.', EXIT.found);
  }
  const isUnreachable = /fetch failed|ECONNREFUSED|ENOTFOUND/.test(text);
  if (/Failed to create payment payload/.test(text)) {
    if (isUnreachable) return chainUnreachable(rpcUrl);
    const hint = `Is ${rpcUrl} the chain that the service is paid on? Name that one with --rpc-url.`;
    return new CliError(`No payment could be made: ${text.replace(/^.*payload: /, '')}`, hint, EXIT.unavailable);
  }
  if (isUnreachable) {
    return new CliError(
      `The service at ${url} cannot be reached.`,
      'Start it with `docket serve`, or name another with --url.',
      EXIT.unavailable,
    );
  }
  return error instanceof Error ? error : new Error(text);
}

/** Whether it was bought nobody can say from here: the one thing not to do is to pay anew unseen. */
function lostAnswer(url: string, wallet: string, dialect: Dialect, paymentId: string): CliError {
  const hint =
    dialect === 'v2'
      ? `Run the same command again with --payment-id ${paymentId}: it pays only if this payment did not.`
      : `Before you pay again see whether it was charged: docket wallet balance ${wallet}`;
  return new CliError(
    `The service at ${url} was given the payment and has not answered; it may have been charged.`,
    hint,
    EXIT.unavailable,
    { code: 'answer_lost', wallet, payment_id: dialect === 'v2' ? paymentId : null },
  );
}

function assertAddress(option: string, text: string): void {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return;
  throw new CliError(`${option} is no address: ${text}`, 'Give an http or https URL, as http://127.0.0.1:8402.');
}

function messagesOf(error: unknown): string {
  const texts: string[] = [];
  for (let cause = error; cause instanceof Error && texts.length < 5; cause = cause.cause) texts.push(cause.message);
  return texts.length ? texts.join('; ') : String(error);
}

/** The transaction that a receipt names, whichever dialect it is in. */
function receiptOf({ headers }: Response): string | null {
  const text = headers.get('payment-response') ?? headers.get('x-payment-response');
  if (text === null) return null;
  const parsed = ReceiptText.safeParse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')));
  return parsed.success ? parsed.data.transaction : null;
}

/** The chain has not said yet: the answer appears at its result URL, free. */
async function untilSettled(
  first: Response,
  context: CliContext,
): Promise<{ readonly response: Response; readonly transaction: string; readonly resultUrl: string }> {
  const { payment } = PendingAnswer.parse(await first.json());
  note(context, `The payment ${payment.transaction} is not settled yet; waiting for ${payment.result_url}`);
  const deadline = performance.now() + PENDING_PATIENCE_MS;
  while (performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, payment.retry_after * 1_000));
    const response = await fetch(payment.result_url).catch(() => null);
    if (response && response.status !== 202) {
      return { response, transaction: payment.transaction, resultUrl: payment.result_url };
    }
  }
  throw new CliError(
    `The payment ${payment.transaction} is still not settled.`,
    `Do not pay again: the answer, or the refusal, appears at ${payment.result_url}`,
    EXIT.unavailable,
    { code: 'payment_pending', transaction: payment.transaction, result_url: payment.result_url },
  );
}

interface Refused {
  readonly wallet: string;
  /** Whether test money can be had for the asking. */
  readonly isLocal: boolean;
  /** Whether an earlier answer to the same payment may have been lost. */
  readonly isRepeated: boolean;
}

function refusal(status: number, body: unknown, { wallet, isLocal, isRepeated }: Refused): CliError {
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
    return refused(`${message} The wallet lacks ${String(details.shortfall_usd)} USDC.`, hint);
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
