import { type Command, Option } from 'commander';
import { z } from 'zod';
import { readConfig } from '../config.ts';
import { type AddCommand, type CliContext, CliError, EXIT, note, print, printJson } from './command.ts';
import type { Dialect } from './paying-fetch.ts';
import { chainUnreachable, walletOf } from './query-wallet.ts';

interface QueryOptions {
  readonly caseId: string;
  readonly courtCode: string;
  readonly lastChecked?: string;
  readonly context?: string;
  readonly language?: string;
  readonly filingTypes?: string;
  readonly callbackUrl?: string;
  readonly dialect: Dialect;
  readonly keypair?: string;
  readonly url?: string;
  readonly rpcUrl?: string;
  readonly maxUsd: string;
  readonly json?: boolean;
}

/** How long a payment without an outcome is waited for. */
const PENDING_PATIENCE_MS = 90_000;

const Filing = z.object({
  entry_number: z.number().nullable(),
  filed_at: z.string(),
  filing_type: z.string(),
  description: z.string(),
});
const CaseAnswer = z.object({
  meta: z.object({ request_id: z.string(), queried_at: z.string(), query_cost_usd: z.number() }),
  case: z.object({
    case_number: z.string(),
    case_name: z.string().nullable(),
    court_name: z.string(),
    filing_count: z.number().optional(),
  }),
  delta: z.object({ change_count: z.number(), new_filings: z.array(Filing) }).optional(),
});
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

export const addQueryCommand: AddCommand = (program: Command, context) => {
  program
    .command('query')
    .description('Pay for a case query and ask it, as an agent would.')
    .requiredOption('--case-id <number>', 'case number, in any form that the court writes')
    .requiredOption('--court-code <code>', 'court code, as `docket courts` lists it')
    .option(
      '--last-checked <time>',
      'also give the filings that are new since then (meta.queried_at of the last answer)',
    )
    .addOption(new Option('--context <level>', 'how much of the case').choices(['basic', 'full']))
    .addOption(new Option('--language <code>', 'preferred language').choices(['en', 'fr']))
    .option('--filing-types <types>', 'only new filings of these types, comma-separated')
    .option('--callback-url <url>', 'also push the answer there, where the service delivers callbacks')
    .addOption(
      new Option('--dialect <name>', 'how to pay: x402 v2, x402 v1, or a transfer signed and paid for by the wallet')
        .choices(['v2', 'v1', 'self'])
        .default('v2'),
    )
    .option('--keypair <file>', 'wallet to pay from; on the local chain one is made and given test USDC if left out')
    .option('--url <address>', 'the service; default: the one that HOST and PORT name')
    .option('--rpc-url <address>', 'the chain; default: the one that the service’s settings name')
    .option('--max-usd <amount>', 'the most that the call may cost, US dollars', '1')
    .option('--json', 'one JSON object: transaction, charged_usd, change_count, queried_at, result_url, answer')
    .addHelpText(
      'after',
      `
Examples:
  $ docket query --court-code cand --case-id 3:24-cv-00042
  $ docket query --court-code cand --case-id 3:24-cv-00042 --last-checked 2026-03-01T12:00:00Z --keypair wallet.json
  $ docket query --court-code cand --case-id 3:24-cv-00042 --context full --json`,
    )
    .action((options: QueryOptions) => query(options, context));
};

async function query(options: QueryOptions, context: CliContext): Promise<void> {
  if (!/^\d+(\.\d{1,6})?$/.test(options.maxUsd)) {
    throw new CliError(`--max-usd is not an amount: ${options.maxUsd}`, 'Give US dollars, for example 1 or 0.99.');
  }
  const config = readConfig(context.environment);
  const url = (options.url ?? config.publicUrl ?? `http://${config.host}:${config.port}`).replace(/\/+$/, '');
  const rpcUrl = options.rpcUrl ?? config.solana.rpcUrls[0] ?? `http://127.0.0.1:${config.solana.localPort}`;
  const key = await walletOf(options, config, rpcUrl, context);

  // Loaded here: `docket --help` must not load the clients of a blockchain.
  const { payingFetch } = await import('./paying-fetch.ts');
  const paid = await payingFetch({ dialect: options.dialect, key, rpcUrl, maxUsd: options.maxUsd });
  let response: Response;
  try {
    response = await paid(`${url}/v2/case?${parametersOf(options)}`);
  } catch (error) {
    throw explained(error, { url, rpcUrl, maxUsd: options.maxUsd });
  }
  const receipt = receiptOf(response);
  let transaction = receipt;
  if (response.status === 202) {
    const pending = await untilSettled(response, context);
    transaction ??= pending.transaction;
    response = pending.response;
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.status !== 200) throw refusal(response.status, body, key.address);
  show({ body, transaction, wallet: key.address, response, url }, options.json === true, context);
}

function parametersOf(options: QueryOptions): URLSearchParams {
  const parameters: Readonly<Record<string, string | undefined>> = {
    case_id: options.caseId,
    court_code: options.courtCode,
    last_checked: options.lastChecked,
    context: options.context,
    language: options.language,
    filing_types: options.filingTypes,
    callback_url: options.callbackUrl,
  };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) search.set(name, value);
  return search;
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
): Promise<{ readonly response: Response; readonly transaction: string }> {
  const { payment } = PendingAnswer.parse(await first.json());
  note(context, `The payment ${payment.transaction} is not settled yet; waiting for ${payment.result_url}`);
  const deadline = Date.now() + PENDING_PATIENCE_MS;
  while (Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, payment.retry_after * 1_000));
    const response = await fetch(payment.result_url).catch(() => null);
    if (response && response.status !== 202) return { response, transaction: payment.transaction };
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

interface Shown {
  readonly body: unknown;
  readonly transaction: string | null;
  readonly wallet: string;
  readonly response: Response;
  readonly url: string;
}

function show({ body, transaction, wallet, response, url }: Shown, json: boolean, context: CliContext): void {
  const answer = CaseAnswer.parse(body);
  const { request_id, queried_at, query_cost_usd } = answer.meta;
  const resultUrl = new URL(response.headers.get('content-location') ?? `/v2/results/${request_id}`, `${url}/`).href;
  if (json) {
    printJson(context, {
      wallet,
      transaction,
      charged_usd: query_cost_usd,
      change_count: answer.delta?.change_count ?? null,
      queried_at,
      result_url: resultUrl,
      answer: body,
    });
    return;
  }
  print(context, `${answer.case.case_number}  ${answer.case.case_name ?? ''}  (${answer.case.court_name})`);
  const { filing_count } = answer.case;
  if (!answer.delta && filing_count !== undefined) {
    print(context, `${filing_count} filings so far; all of them, in the whole answer: --context full --json`);
  }
  print(context, `Paid ${query_cost_usd.toFixed(2)} USDC from ${wallet}, transaction ${transaction ?? 'unknown'}`);
  if (answer.delta) {
    const { change_count, new_filings } = answer.delta;
    print(context, change_count === 1 ? '1 new filing' : `${change_count} new filings`);
    for (const { entry_number, filed_at, filing_type, description } of new_filings) {
      print(context, `  ${entry_number ?? '-'}  ${filed_at.slice(0, 10)}  ${filing_type}  ${description}`);
    }
  }
  print(context, `Next time: --last-checked ${queried_at}`);
  print(context, `The same answer again, free: ${resultUrl}`);
}
