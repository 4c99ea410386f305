/** One call on the service that is paid for, as an agent would make it, and what went wrong in the words of a person. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { reachableHost } from '../runtime/listen.ts';
import { type CliContext, CliError, EXIT, note } from './command.ts';
import { refusal } from './paid-refusal.ts';
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
  const where = resultUrl === null ? 'No copy of it is kept.' : `It stays, free, at ${resultUrl}`;
  const name = dialect === 'v2' ? `, payment id ${paymentId}` : '';
  context.paidFor?.(`${where}\nTransaction ${transaction ?? 'unknown'}${name}`);
  return { body, transaction, wallet: key.address, resultUrl };
}

/**
 * What was bought, in the form that is shown.
 * @throws CliError that names what was paid, and where the answer stays, if it has another form
 */
export function readAnswer<Answer>(schema: z.ZodType<Answer>, { body, transaction, resultUrl }: PaidCall): Answer {
  const { data, success } = schema.safeParse(body);
  if (success) return data;
  throw new CliError(
    'The answer has no form known here; it was paid for.',
    resultUrl === null ? `Its transaction: ${transaction ?? 'unknown'}` : `It stays, free, at ${resultUrl}`,
    EXIT.unavailable,
    { code: 'answer_unreadable', transaction, result_url: resultUrl, answer: body },
  );
}

/** What a client's error means to the person who ran the command. */
function explained(error: unknown, { url, rpcUrl, maxUsd }: { url: string; rpcUrl: string; maxUsd: string }): Error {
  const text = messagesOf(error);
  if (/\bspendControls\.maxAmountPerPayment\b|more than \$/.test(text)) {
    return new CliError(`The call costs more than $${maxUsd}.`, 'Allow more with --max-usd.', EXIT.found);
  }
  if (/\bspendControls: only default assets\b|which is not USDC$/.test(text)) {
    const hint = `Nothing was signed. Is ${url} the service that you mean?`;
    return new CliError('The service asks for a token that is not USDC.', hint, EXIT.found);
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
  try {
    return ReceiptText.parse(JSON.parse(Buffer.from(text, 'base64').toString('utf8'))).transaction;
  } catch {
    // The answer is paid for, whatever the receipt says.
    return null;
  }
}

/** The chain has not said yet: the answer appears at its result URL, free. */
async function untilSettled(
  first: Response,
  context: CliContext,
): Promise<{ readonly response: Response; readonly transaction: string; readonly resultUrl: string }> {
  const pending = PendingAnswer.safeParse(await first.json().catch(() => null));
  if (!pending.success) {
    throw new CliError(
      'The service answered 202, that the payment is not settled yet, in no form known here.',
      'Do not pay again before you have looked at the wallet: docket wallet balance ADDRESS.',
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
    `Do not pay again: the answer, or the refusal, appears at ${payment.result_url}`,
    EXIT.unavailable,
    { code: 'payment_pending', transaction: payment.transaction, result_url: payment.result_url },
  );
}
