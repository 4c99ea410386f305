/** One paid call to the service, made as an agent would make it, with errors explained to a person. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readConfig } from '../../config.ts';
import { reachableHost } from '../../runtime/listen.ts';
import { parseUrl } from '../../runtime/parse-url.ts';
import { AmountUnreadable, usdcOf } from '../../solana/decimal-amount.ts';
import { type CliContext, CliError, EXIT, note } from '../command.ts';
import { refusal } from './paid-refusal.ts';
import type { Dialect } from './paying-fetch.ts';
import { chainUnreachable, walletOf } from './wallet.ts';

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

/** How long to wait for a payment without an outcome. */
const PENDING_PATIENCE_MS = 90_000;
/** How long to repeat a request whose connection broke: a service that restarts is back within this time. */
const REPEATS = { patienceMs: 60_000, pauseMs: 500 };

const PendingAnswer = z.object({
  payment: z.object({ transaction: z.string(), result_url: z.string(), retry_after: z.number() }),
});
const ReceiptText = z.object({ transaction: z.string() });

/** What was bought. */
export interface PaidCall {
  readonly body: unknown;
  /** Signature of the payment; null if nothing was charged or no receipt names it. */
  readonly transaction: string | null;
  /** Base58 address. */
  readonly wallet: string;
  /** Where the same answer can be fetched again; null if nothing is kept. */
  readonly resultUrl: string | null;
}

/**
 * Pays for a call and waits for its answer.
 * @param path of the service, with its query string
 * @throws CliError if the call is rejected or cannot be made
 */
export async function payFor(
  path: string,
  init: RequestInit,
  options: PayingOptions,
  context: CliContext,
): Promise<PaidCall> {
  const most = mostOf(options.maxUsd);
  const { keypair, maxUsd, dialect, paymentId = randomUUID() } = options;
  if (options.paymentId !== undefined && dialect !== 'v2') {
    throw new CliError('--payment-id needs --dialect v2.', 'Only v2 supports payment identifiers.');
  }
  if (!/^[A-Za-z0-9_-]{16,128}$/.test(paymentId)) {
    throw new CliError('Invalid --payment-id.', 'Give 16 to 128 letters, digits, - and _, for example a UUID.');
  }
  const config = readConfig(context.environment);
  const url = (options.url ?? config.publicUrl ?? `http://${reachableHost(config.host)}:${config.port}`).replace(
    /\/+$/,
    '',
  );
  const rpcUrl = options.rpcUrl ?? config.solana.rpcUrls[0] ?? `http://127.0.0.1:${config.solana.localPort}`;
  assertAddress('--url', url);
  assertAddress('--rpc-url', rpcUrl);
  const key = await walletOf({ keypair, most }, config, rpcUrl, context);

  // Loaded here, because `docket --help` must not load the clients of a blockchain.
  const { payingFetch } = await import('./paying-fetch.ts');
  const { AnswerLost, persistentFetch } = await import('./persistent-fetch.ts');
  let isRepeated = false;
  const onRepeat = () => {
    isRepeated = true;
    note(context, 'No answer to the payment; retrying with the same payment, which is charged at most once.');
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
  const where = resultUrl === null ? 'No copy of it is kept.' : `Fetch it again for free at ${resultUrl}`;
  const name = dialect === 'v2' ? `, payment id ${paymentId}` : '';
  context.paidFor?.(`${where}\nTransaction ${transaction ?? 'unknown'}${name}`);
  return { body, transaction, wallet: key.address, resultUrl };
}

/**
 * Parses the answer that was bought.
 * @throws CliError that names the payment, and where to fetch the answer again, if the answer has another form
 */
export function readAnswer<Answer>(schema: z.ZodType<Answer>, { body, transaction, resultUrl }: PaidCall): Answer {
  const { data, success } = schema.safeParse(body);
  if (success) return data;
  throw new CliError(
    'Unrecognized response; the payment succeeded.',
    resultUrl === null ? `Transaction: ${transaction ?? 'unknown'}` : `Fetch it again for free at ${resultUrl}`,
    EXIT.unavailable,
    { code: 'answer_unreadable', transaction, result_url: resultUrl, answer: body },
  );
}

/** Turns an error of a client library into one that the user of the command understands. */
function explained(error: unknown, { url, rpcUrl, maxUsd }: { url: string; rpcUrl: string; maxUsd: string }): Error {
  const text = messagesOf(error);
  if (/\bspendControls\.maxAmountPerPayment\b|more than \$/.test(text)) {
    return new CliError(`The call costs more than $${maxUsd}.`, 'Allow more with --max-usd.', EXIT.found);
  }
  if (/\bspendControls: only default assets\b|which is not USDC$/.test(text)) {
    const hint = `Nothing was signed. Check that ${url} is the service you intended.`;
    return new CliError('The service asks for payment in a token that is not USDC.', hint, EXIT.found);
  }
  const isUnreachable = /fetch failed|ECONNREFUSED|ENOTFOUND/.test(text);
  if (/Failed to create payment payload/.test(text)) {
    if (isUnreachable) return chainUnreachable(rpcUrl);
    const hint = `Check that ${rpcUrl} is an endpoint of the chain that the service uses; set another with --rpc-url.`;
    return new CliError(`The payment could not be made: ${text.replace(/^.*payload: /, '')}`, hint, EXIT.unavailable);
  }
  if (isUnreachable) {
    return new CliError(
      `The service at ${url} is unreachable.`,
      'Start it with `docket serve`, or set another address with --url.',
      EXIT.unavailable,
    );
  }
  return error instanceof Error ? error : new Error(text);
}

/** The outcome of the payment is unknown here, so the user must check before paying again. */
function lostAnswer(url: string, wallet: string, dialect: Dialect, paymentId: string): CliError {
  const hint =
    dialect === 'v2'
      ? `Run the same command again with --payment-id ${paymentId}: it pays only if this payment did not succeed.`
      : `Before you pay again, check whether it was charged: docket wallet balance ${wallet}`;
  return new CliError(
    `The service at ${url} received the payment but did not answer; it may have been charged.`,
    hint,
    EXIT.unavailable,
    { code: 'answer_lost', wallet, payment_id: dialect === 'v2' ? paymentId : null },
  );
}

function assertAddress(option: string, text: string): void {
  if (/^https?:\/\//.test(text) && parseUrl(text) !== null) return;
  throw new CliError(
    `${option} is not a URL: ${text}`,
    'Give an http or https URL, for example http://127.0.0.1:8402.',
  );
}

function messagesOf(error: unknown): string {
  const texts: string[] = [];
  for (let cause = error; cause instanceof Error && texts.length < 5; cause = cause.cause) texts.push(cause.message);
  return texts.length ? texts.join('; ') : String(error);
}

/** The transaction named in a receipt of any dialect. */
function receiptOf({ headers }: Response): string | null {
  const text = headers.get('payment-response') ?? headers.get('x-payment-response');
  if (text === null) return null;
  try {
    return ReceiptText.parse(JSON.parse(Buffer.from(text, 'base64').toString('utf8'))).transaction;
  } catch {
    // An unreadable receipt does not undo the payment.
    return null;
  }
}

/** Waits while the chain has not settled the payment; the answer then appears at its result URL for free. */
async function untilSettled(
  first: Response,
  context: CliContext,
): Promise<{ readonly response: Response; readonly transaction: string; readonly resultUrl: string }> {
  const pending = PendingAnswer.safeParse(await first.json().catch(() => null));
  if (!pending.success) {
    throw new CliError(
      'The service answered 202 (payment not settled yet) with an unrecognized body.',
      'Before you pay again, check the wallet: docket wallet balance ADDRESS.',
      EXIT.unavailable,
    );
  }
  const { payment } = pending.data;
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
    `Do not pay again: the answer or the error appears at ${payment.result_url}`,
    EXIT.unavailable,
    { code: 'payment_pending', transaction: payment.transaction, result_url: payment.result_url },
  );
}

/** Base units of USDC. */
function mostOf(maxUsd: string): bigint {
  try {
    return usdcOf(maxUsd);
  } catch (error) {
    if (!(error instanceof AmountUnreadable)) throw error;
    throw new CliError(`--max-usd is not an amount: ${error.message}.`, 'Give US dollars, for example 1 or 0.99.');
  }
}
