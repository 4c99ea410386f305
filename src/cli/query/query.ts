import { type Command, Option } from 'commander';
import { usdcOf, usdcText } from '../../solana/decimal-amount.ts';
import { type AddCommand, type CliContext, CliError, print, printJson } from '../command.ts';
import { CaseAnswer, printFilings, queryBatch } from './batch.ts';
import { type PaidCall, type PayingOptions, payFor, readAnswer } from './paid-call.ts';

interface QueryOptions extends Omit<PayingOptions, 'maxUsd'> {
  readonly caseId?: string;
  readonly courtCode?: string;
  readonly lastChecked?: string;
  readonly context?: string;
  readonly language?: string;
  readonly filingTypes?: string;
  readonly callbackUrl?: string;
  readonly batch?: string;
  readonly maxUsd?: string;
  readonly json?: boolean;
}

export const addQueryCommand: AddCommand = (program: Command, context) => {
  program
    .command('query')
    .description('Make a paid case query, as an agent would.')
    .option('--case-id <number>', 'case number, in any form that the court uses')
    .option('--court-code <code>', 'court code; find it with `docket courts search`')
    .option('--last-checked <time>', 'also return filings that are new since then (meta.queried_at of the last answer)')
    .addOption(new Option('--context <level>', 'how much of the case').choices(['basic', 'full']))
    .addOption(new Option('--language <code>', 'preferred language').choices(['en', 'fr']))
    .option('--filing-types <types>', 'only new filings of these types, comma-separated')
    .option('--callback-url <url>', 'also send the signed answer to this URL once it is paid')
    .addOption(
      new Option(
        '--batch <file>',
        'query up to 50 cases for one payment: the JSON body of POST /v2/cases/batch, or only its array; - reads stdin',
      ).conflicts(['caseId', 'courtCode', 'lastChecked', 'context', 'language', 'filingTypes', 'callbackUrl']),
    )
    .addOption(
      new Option('--dialect <name>', 'how to pay: x402 v2, x402 v1, or a transfer whose network fee the wallet pays')
        .choices(['v2', 'v1', 'self'])
        .default('v2'),
    )
    .option(
      '--keypair <file>',
      'wallet to pay from; optional on the local chain, where a test wallet with USDC is created',
    )
    .option('--url <address>', 'address of the service; default: from HOST and PORT')
    .option('--rpc-url <address>', 'RPC endpoint of the chain; default: from the settings of the service')
    .option(
      '--payment-id <secret>',
      'dialect v2: your own id for this call (16 to 128 letters, digits, - and _); a repeat with it gets the same answer and never pays twice',
    )
    .option('--max-usd <amount>', 'the most that the call may cost, in US dollars; default: 1 per case')
    .option(
      '--json',
      'one JSON object: transaction, charged_usd, queried_at, result_url, answer, and change_count or failed',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ docket query --court-code cand --case-id 3:24-cv-00042
  $ docket query --court-code cand --case-id 3:24-cv-00042 --last-checked 2026-03-01T12:00:00Z --keypair wallet.json
  $ docket query --court-code cand --case-id 3:24-cv-00042 --context full --json
  $ docket query --batch queries.json --keypair wallet.json
    where queries.json holds [{"case_id": "3:24-cv-00042", "court_code": "cand"}]`,
    )
    .action((options: QueryOptions) => query(options, context));
};

async function query(options: QueryOptions, context: CliContext): Promise<void> {
  if (options.batch !== undefined) {
    await queryBatch(options.batch, options, context);
    return;
  }
  const missing = [
    ...(options.courtCode === undefined ? ['--court-code'] : []),
    ...(options.caseId === undefined ? ['--case-id'] : []),
  ];
  if (missing.length) {
    throw new CliError(
      `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing.`,
      'For example: --court-code cand --case-id 3:24-cv-00042. For many cases at once, use --batch FILE.',
    );
  }
  const paying = { ...options, maxUsd: options.maxUsd ?? '1' };
  show(await payFor(`/v2/case?${parametersOf(options)}`, {}, paying, context), options.json === true, context);
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

function show(paid: PaidCall, json: boolean, context: CliContext): void {
  const { body, transaction, wallet, resultUrl } = paid;
  const answer = readAnswer(CaseAnswer, paid);
  const { queried_at, query_cost_usd } = answer.meta;
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
    print(context, `${filing_count} filings so far; to get them all, use --context full --json`);
  }
  print(
    context,
    `Paid ${usdcText(usdcOf(String(query_cost_usd)))} USDC from ${wallet}, transaction ${transaction ?? 'unknown'}`,
  );
  printFilings(answer, context, '');
  print(context, `Next time: --last-checked ${queried_at}`);
  print(context, `Fetch this answer again for free: ${resultUrl ?? 'not kept'}`);
}
