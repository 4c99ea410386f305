/** Combines two answers that are paid for separately, the keys and the deliveries, into one result. */
import type { JsonObject } from '../../../events/event.ts';
import { toInstant } from '../../../runtime/instant.ts';
import { metaOf } from '../../meta.ts';
import type { Bought } from '../../paid/buy.ts';
import { costInUsd } from '../../paid/paid-call.ts';
import type { AnsweringService } from '../../send-problem.ts';
import { type AnsweredCall, type PaidAnswers, RECEIPT_KEY } from '../paid-answer.ts';
import { type ToolResult, toolResult } from '../tool-result.ts';

export interface WalletPart {
  readonly call: AnsweredCall;
  readonly bought: Bought;
}

/** Both answers in the sandbox, or only that of the keys. */
export function rehearsed(keys: string, deliveries: string | null): ToolResult {
  if (deliveries === null) return toolResult({ structured: keys });
  const structured = { ...parsed(keys), ...withoutShared(parsed(deliveries)) };
  return toolResult({ structured: JSON.stringify(structured) });
}

/** The outcomes of both. A part without an answer states the reason and whether money moved. */
export function walletResult(
  { clock }: AnsweringService,
  answers: PaidAnswers,
  { requestId, tag }: { readonly requestId: string; readonly tag: string | null },
  keys: WalletPart,
  deliveries: WalletPart,
): ToolResult {
  const [shownKeys, shownDeliveries] = [keys, deliveries].map(
    ({ call, bought }) => answers.outcome(call, bought).parts,
  );
  const settled = [keys, deliveries].filter(isSettled);
  const cost = settled.reduce((sum, { bought }) => sum + BigInt(bought.receipt.amount), 0n);
  const meta = metaOf({
    request_id: requestId,
    queried_at: toInstant(clock.now()),
    query_cost_usd: costInUsd(cost),
    tag,
  });
  const keysBody = parsed(shownKeys?.structured);
  const deliveriesBody = parsed(shownDeliveries?.structured);
  const advice = adviceFor(keys, deliveries);
  const structured = {
    meta,
    wallet: keys.bought.receipt.payer,
    ...(isSettled(keys) ? withoutShared(keysBody) : { keys_outcome: keysBody }),
    ...(isSettled(deliveries) ? withoutShared(deliveriesBody) : { deliveries_outcome: deliveriesBody }),
    ...(advice === null ? {} : { next_step: advice }),
  };
  const notes = [shownKeys?.note, shownDeliveries?.note].filter((note) => note !== undefined);
  const receipts = {
    [keys.call.asked.argument]: shownKeys?.meta?.[RECEIPT_KEY] ?? null,
    [deliveries.call.asked.argument]: shownDeliveries?.meta?.[RECEIPT_KEY] ?? null,
  };
  return toolResult({
    structured: JSON.stringify(structured),
    isError: ![keys, deliveries].some((part) => isSettled(part) || isPending(part)),
    ...(notes.length ? { note: notes.join('\n') } : {}),
    meta: { 'service/receipts': receipts },
  });
}

const isSettled = ({ bought }: WalletPart): boolean => bought.outcome.outcome === 'settled';
const isPending = ({ bought }: WalletPart): boolean => bought.outcome.outcome === 'pending';

const parsed = (text = '{}'): JsonObject => JSON.parse(text);

/** Removes members that both answers have. */
const withoutShared = ({ meta: _, wallet: __, ...own }: JsonObject): JsonObject => own;

/** Whether money moved for each part, and what to do; null if both were answered. */
function adviceFor(keys: WalletPart, deliveries: WalletPart): string | null {
  if (isSettled(keys) && isSettled(deliveries)) return null;
  const sentence = (what: string, part: WalletPart): string => {
    if (isSettled(part)) return `The ${what} were answered and charged.`;
    if (isPending(part)) {
      return `The payment for the ${what} is not settled yet: do not pay again, read ${what}_outcome.payment.result_url.`;
    }
    return `The ${what} were not answered, and nothing was charged for them: ${what}_outcome says why.`;
  };
  const alone = isSettled(keys)
    ? ' To buy the deliveries alone use GET /v2/wallet/deliveries over REST; this tool always sells the keys too.'
    : '';
  return `${sentence('keys', keys)} ${sentence('deliveries', deliveries)}${alone}`;
}
