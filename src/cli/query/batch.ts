/** `docket query --batch`: up to 50 cases for one payment. */

import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { usdcOf, usdcText } from '../../solana/decimal-amount.ts';
import { type CliContext, CliError, FoundWrong, print, printJson } from '../command.ts';
import { type PayingOptions, payFor, readAnswer } from './paid-call.ts';

const Filing = z.object({
  entry_number: z.number().nullable(),
  filed_at: z.string().nullable(),
  filing_type: z.string(),
  description: z.string(),
});

/** The part of an answer about one case that is shown to people. */
export const CaseAnswer = z.object({
  meta: z.object({ queried_at: z.string(), query_cost_usd: z.number() }),
  case: z.object({
    case_number: z.string(),
    case_name: z.string().nullable(),
    court_name: z.string(),
    filing_count: z.number().optional(),
  }),
  delta: z.object({ change_count: z.number(), new_filings: z.array(Filing) }).optional(),
});

const Asked = { case_id: z.string(), court_code: z.string() };
const BatchAnswer = z.object({
  meta: z.object({
    queried_at: z.string(),
    query_cost_usd: z.number(),
    batch_size: z.number(),
    successful: z.number(),
    failed: z.number(),
  }),
  results: z.array(
    z.discriminatedUnion('status', [
      z.object({ ...Asked, status: z.literal('success'), response: CaseAnswer }),
      z.object({ ...Asked, status: z.literal('error'), error: z.object({ code: z.string(), message: z.string() }) }),
    ]),
  ),
});

export interface BatchOptions extends Omit<PayingOptions, 'maxUsd'> {
  readonly maxUsd?: string;
  readonly json?: boolean;
}

/** @throws FoundWrong after everything is shown, if a query failed */
export async function queryBatch(file: string, options: BatchOptions, context: CliContext): Promise<void> {
  const batch = await readBatch(file, context);
  const size = Array.isArray(batch.queries) ? batch.queries.length : 1;
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(batch),
  };
  const paying = { ...options, maxUsd: options.maxUsd ?? String(Math.max(1, size)) };
  const paid = await payFor('/v2/cases/batch', init, paying, context);
  const { body, transaction, wallet, resultUrl } = paid;
  const { meta, results } = readAnswer(BatchAnswer, paid);
  if (options.json) {
    printJson(context, {
      wallet,
      transaction,
      charged_usd: meta.query_cost_usd,
      failed: meta.failed,
      queried_at: meta.queried_at,
      result_url: resultUrl,
      answer: body,
    });
  } else {
    for (const result of results) {
      if (result.status === 'error') {
        print(context, `${result.court_code}  ${result.case_id}  ${result.error.code}: ${result.error.message}`);
        continue;
      }
      const { response } = result;
      print(context, `${response.case.case_number}  ${response.case.case_name ?? ''}  (${response.case.court_name})`);
      printFilings(response, context, '  ');
      print(context, `  Next time: last_checked ${response.meta.queried_at}`);
    }
    if (meta.query_cost_usd > 0) {
      print(
        context,
        `Paid ${usdcText(usdcOf(String(meta.query_cost_usd)))} USDC from ${wallet}, transaction ${transaction ?? 'unknown'}`,
      );
    }
    if (resultUrl !== null) print(context, `Fetch this answer again for free: ${resultUrl}`);
  }
  if (meta.failed > 0) {
    const charge = meta.query_cost_usd > 0 ? 'one payment covers the whole batch' : 'nothing was charged';
    throw new FoundWrong(
      `${meta.failed} of ${meta.batch_size} queries failed; ${charge}.`,
      'Each failed query says why: correct it or leave it out.',
    );
  }
}

/** The new filings of an answer with a delta. */
export function printFilings({ delta }: z.infer<typeof CaseAnswer>, context: CliContext, indent: string): void {
  if (!delta) return;
  print(context, `${indent}${delta.change_count === 1 ? '1 new filing' : `${delta.change_count} new filings`}`);
  for (const { entry_number, filed_at, filing_type, description } of delta.new_filings) {
    print(
      context,
      `${indent}  ${entry_number ?? '-'}  ${filed_at?.slice(0, 10) ?? '-'}  ${filing_type}  ${description}`,
    );
  }
}

/** The body to send. The service checks its queries before it charges anything. */
async function readBatch(file: string, context: CliContext): Promise<{ readonly queries?: unknown }> {
  const hint = 'Give {"queries": [{"case_id": "…", "court_code": "…"}]}, or only the array.';
  let content: string;
  try {
    content = file === '-' ? await text(context.stdin) : await readFile(file, 'utf8');
  } catch {
    throw new CliError(`The file ${file} cannot be read.`, 'Give a JSON file, or - for stdin.');
  }
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new CliError(`${file === '-' ? 'The input on stdin' : `The file ${file}`} is not valid JSON.`, hint);
  }
  if (Array.isArray(value)) return { queries: value };
  if (typeof value !== 'object' || value === null) throw new CliError('The input is not a batch of queries.', hint);
  return value;
}
