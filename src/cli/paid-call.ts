/** One call on the service that is paid for, as an agent would make it, and what went wrong in the words of a person. */
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { type CliContext, CliError, EXIT, note } from './command.ts';
import type { Dialect } from './paying-fetch.ts';
import { chainUnreachable, walletOf } from './query-wallet.ts';
import { baseUnitsOf } from './usd.ts';

export interface PayingOptions {
  readonly dialect: Dialect;
  readonly keypair?: string;
  readonly url?: string;
  readonly rpcUrl?: string;
  /** US dollars, decimal. */
  readonly maxUsd: string;
}

/** How long a payment without an outcome is waited for. */
const PENDING_PATIENCE_MS = 90_000;

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
  const config = readConfig(context.environment);
  const url = (options.url ?? config.publicUrl ?? `http://${config.host}:${config.port}`).replace(/\/+$/, '');
  const rpcUrl = options.rpcUrl ?? config.solana.rpcUrls[0] ?? `http://127.0.0.1:${config.solana.localPort}`;
  const { keypair, maxUsd } = options;
  const key = await walletOf({ keypair, most: baseUnitsOf(maxUsd) }, config, rpcUrl, context);

  // Loaded here: `docket --help` must not load the clients of a blockchain.
  const { payingFetch } = await import('./paying-fetch.ts');
  const paid = await payingFetch({ dialect: options.dialect, key, rpcUrl, maxUsd: options.maxUsd });
  let response: Response;
  try {
    response = await paid(`${url}${path}`, init);
  } catch (error) {
    throw explained(error, { url, rpcUrl, maxUsd: options.maxUsd });
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
  if (response.status !== 200) throw refusal(response.status, body, key.address);
  return { body, transaction, wallet: key.address, resultUrl };
}

/** What a client's error means to the person who ran the command. */
function explained(error: unknown, { url, rpcUrl, maxUsd }: { url: string; rpcUrl: string; maxUsd: string }): Error {
  const text = messagesOf(error);
  if (/spend|cap|maximum|exceeds|more than \$/i.test(text)) {
    return new CliError(`The call costs more than $${maxUsd}.`, 'Allow more with --max-usd.', EXIT.found);
  }
  if (/Failed to create payment payload/.test(text)) return chainUnreachable(rpcUrl);
  if (/fetch failed|ECONNREFUSED|ENOTFOUND/.test(text)) {
    return new CliError(
      `The service at ${url} cannot be reached.`,
      'Start it with `docket serve`, or name another with --url.',
      EXIT.unavailable,
    );
  }
  return error instanceof Error ? error : new Error(text);
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
  );
}

function refusal(status: number, body: unknown, wallet: string): CliError {
  const parsed = ErrorAnswer.safeParse(body);
  if (!parsed.success) {
    return new CliError(
      `The service answered ${status} in no form known here.`,
      'Is --url the service?',
      EXIT.unavailable,
    );
  }
  const { code, message, details } = parsed.data.error;
  const reason = typeof details.reason === 'string' ? ` (${details.reason})` : '';
  const exitCode = status === 400 ? EXIT.usage : status >= 500 || status === 429 ? EXIT.unavailable : EXIT.found;
  if (details.reason === 'insufficient_funds') {
    const hint = `Give it test USDC: docket wallet fund ${wallet} --usdc 10`;
    return new CliError(`${message} The wallet lacks ${String(details.shortfall_usd)} USDC.`, hint, exitCode);
  }
  const issues = Array.isArray(details.issues) ? details.issues.map((issue) => `\n  ${JSON.stringify(issue)}`) : [];
  return new CliError(`${code}${reason}: ${message}${issues.join('')}`, details.hint ?? 'See /docs/errors.', exitCode);
}
