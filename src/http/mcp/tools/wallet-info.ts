/**
 * `service_wallet_info`: the answer of `GET /v2/wallet/keys` and, for a second payment, that of `GET
 * /v2/wallet/deliveries`. Both payments are checked before either buys; each is settled only if its part is answered.
 */
import { PRICE_BASE_UNITS, priceOf } from '../../../commands/purchase/price.ts';
import { isProblem, type Problem, problem } from '../../../errors.ts';
import { usdcText } from '../../../solana/decimal-amount.ts';
import type { Bought, VerifiedPayment } from '../../paid/buy.ts';
import type { PaidRoute } from '../../paid/paid-call.ts';
import { only, type PaidRequest, requested, sell } from '../../paid/sell.ts';
import type { Issue } from '../../parameters/issues.ts';
import { readTag } from '../../parameters/request-parameters.ts';
import { newRequestId } from '../../send-problem.ts';
import { SIGN_IN_WITH_X } from '../../x402/sign-in.ts';
import { readCallPayment } from '../call-payment.ts';
import { MCP_PATH } from '../endpoint.ts';
import { openSchema } from '../output-schema.ts';
import { type AnsweredCall, paidAnswers } from '../paid-answer.ts';
import { readParameters, requestOf } from '../paid-parameters.ts';
import {
  PAYMENT_MEMBERS,
  type PaidToolDependencies,
  paidRequestOf,
  paymentParameter,
  readOnce,
  toolPurpose,
} from '../paid-tool.ts';
import { type Parameters, readArguments } from '../parameters.ts';
import type { AskedPayment } from '../payment-terms.ts';
import { refusal } from '../refusal.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { type ToolResult, toolResult } from '../tool-result.ts';
import { rehearsed, type WalletPart, walletResult } from './wallet-result.ts';

const NAME = 'service_wallet_info';
const KEYS = 'payment_tx_keys';
const DELIVERIES = 'payment_tx_deliveries';

const PARAMETERS: Parameters = {
  include_deliveries: {
    type: 'boolean',
    description: 'Also return the history of callback deliveries, for a second payment.',
    default: false,
    example: 'true',
  },
  deliveries_limit: {
    type: 'integer',
    description: 'How many deliveries, newest first, 1 to 200.',
    default: 50,
    example: '50',
  },
  [KEYS]: paymentParameter('0.99 USDC, for the keys'),
  [DELIVERIES]: {
    ...paymentParameter('0.99 USDC, for the deliveries'),
    description:
      'A second, different transfer of 0.99 USDC by the same wallet. Required only if include_deliveries is true.',
  },
};

export interface WalletRoutes<KeysRequest extends object, DeliveriesRequest extends object> {
  readonly keys: PaidRoute<KeysRequest>;
  readonly deliveries: PaidRoute<DeliveriesRequest>;
}

export function walletInfoTool<KeysRequest extends object, DeliveriesRequest extends object>(
  { service, logger, merchant, buying, terms }: PaidToolDependencies,
  routes: WalletRoutes<KeysRequest, DeliveriesRequest>,
): Tool {
  const answers = paidAnswers(service, terms);

  /** Instructions for each missing transfer, each with its own memo. */
  const askForSeveral = (missing: readonly AskedPayment[], requestId: string): ToolResult => {
    const payments = missing.map((asked) => ({ argument: asked.argument, ...terms.transfer(asked) }));
    const [first, second] = payments;
    const [asked] = missing;
    if (!first || !asked) throw new Error('no payment is missing');
    const steps = second
      ? `Two payments are needed: make two transfers of one wallet as said here, the first with memo ${first.memo} for ${KEYS}, the second with memo ${second.memo} for ${DELIVERIES}, and send both in one call.`
      : `${first.argument} is missing; what you sent is not used before both are there. Send both in one call, by one wallet.`;
    const { argument: _, ...transfer } = first;
    const more = { payments, total_usdc: usdcText(priceOf(payments.length)) };
    const signIn = missing.find((part) => part.signIn)?.signIn;
    const instructions = terms.instructions({ ...asked, ...(signIn && { signIn }) }, requestId, more, transfer);
    return toolResult({
      structured: JSON.stringify({ ...instructions, next_step: `${steps} ${String(instructions.next_step)}` }),
    });
  };

  /** An unexpected failure of the second purchase must not hide the outcome of the first. */
  const spared = async (payment: VerifiedPayment, requestId: string, buy: () => Promise<Bought>): Promise<Bought> => {
    try {
      return await buy();
    } catch (error) {
      logger.error({ err: error, requestId }, 'a purchase failed');
      const facts = { limits: null, timings: { verify: 0, query: null, settle: null, record: null } };
      const { dialect, amount, transaction } = payment;
      return {
        outcome: { outcome: 'refused', problem: problem('internal_error'), ...facts },
        receipt: { dialect, network: merchant.network, payer: transaction.wallet, amount: String(amount) },
      };
    }
  };

  const run = async (call: ToolCall): Promise<ToolResult> => {
    const { requestId } = call;
    const { values, issues } = readArguments(PARAMETERS, call.sentArguments);
    const include = values.get('include_deliveries') === true;
    const sentKeys = textOf(values.get(KEYS));
    const sentDeliveries = textOf(values.get(DELIVERIES));
    const keysRequest = requestOf(call, {});
    const limit = values.get('deliveries_limit');
    const deliveriesRequest = requestOf(call, { limit: limit === undefined ? undefined : String(limit) });
    const tag = readTag(keysRequest);
    const refuse = (refused: Problem) => refusal(service, { tool: NAME, requestId }, refused);

    const found = sentDeliveries !== null && !include ? [...issues, NOT_ASKED_FOR] : issues;
    // Parsed even if not requested, because any error in them is an error of the call.
    const deliveries = await readParameters(routes.deliveries, deliveriesRequest, found, { limit: 'deliveries_limit' });
    if (isProblem(deliveries)) return refuse(deliveries);

    const keysPayment = readOnce(() =>
      readCallPayment(sentKeys, include ? undefined : call.x402Payment, merchant.network),
    );
    const secondId = newRequestId();
    const forKeys = requested<KeysRequest, AskedPayment>(buying, {
      route: routes.keys,
      requestId,
      read: () => readParameters(routes.keys, keysRequest, []),
      terms: (keys) => ({
        tool: NAME,
        argument: KEYS,
        amount: PRICE_BASE_UNITS,
        purpose: toolPurpose(merchant, NAME, routes.keys, keys),
      }),
      asked: (asked) => asked,
      payment: () => keysPayment()?.payment ?? null,
    });
    const { signIn } = routes.deliveries;
    const forDeliveries = requested<DeliveriesRequest, AskedPayment>(buying, {
      route: routes.deliveries,
      requestId: secondId,
      read: () => deliveries,
      terms: () => ({
        tool: NAME,
        argument: DELIVERIES,
        amount: PRICE_BASE_UNITS,
        purpose: toolPurpose(merchant, NAME, routes.deliveries, deliveries),
        ...(signIn && {
          signIn: {
            terms: {
              publicUrl: merchant.publicUrl,
              path: MCP_PATH,
              statement: signIn.statement,
              chainId: merchant.network.caip2,
            },
            needsBound: signIn.needsBound,
            sent: call.headers[SIGN_IN_WITH_X]?.toString(),
          },
        }),
      }),
      asked: (asked) => asked,
      payment: () => readCallPayment(sentDeliveries, undefined, merchant.network)?.payment ?? null,
      spared: (payment, buy) => spared(payment, secondId, buy),
    });
    const answeredCall = (asked: AskedPayment, id = requestId): AnsweredCall => ({
      asked,
      description: asked.argument === KEYS ? routes.keys.description : routes.deliveries.description,
      requestId: id,
      tag,
      inX402Form: !include && ((keysPayment()?.byX402 ?? false) || call.speaksX402),
      noteBought: call.noteBought,
    });

    const request: PaidRequest = {
      ...paidRequestOf(call, tag),
      paymentFault: () => (include && call.x402Payment !== undefined && call.x402Payment !== null ? ONE_FOR_TWO : null),
      pairFault: refusePair,
    };
    const sale = await sell(buying, request, include ? [forKeys, forDeliveries] : [forKeys]);
    switch (sale.sale) {
      case 'invalid':
        return refuse(sale.problem);
      case 'rehearsed': {
        const [keys = '', shownDeliveries = null] = sale.answers.map((composed) => composed({ requestId, tag }));
        return rehearsed(keys, shownDeliveries);
      }
      case 'unpaid':
        return include
          ? askForSeveral(sale.missing, requestId)
          : answers.askForPayment(answeredCall(only(sale.missing)));
      case 'refused':
        return sale.terms ? answers.refuse(answeredCall(sale.terms), sale.problem) : refuse(sale.problem);
      case 'bought': {
        const [keys, second] = sale.bought;
        if (!keys) throw new Error('a sale without an answer');
        const keysPart: WalletPart = { call: answeredCall(keys.terms), bought: keys.bought };
        if (!second) return answers.outcome(keysPart.call, keysPart.bought);
        const deliveriesPart: WalletPart = { call: answeredCall(second.terms, secondId), bought: second.bought };
        return walletResult(service, answers, { requestId, tag }, keysPart, deliveriesPart);
      }
    }
  };

  return {
    name: NAME,
    title: 'Keys and callbacks of a wallet',
    description:
      'Ids of the keys that sign the callbacks of your wallet (the first call makes one; secrets are never shown) and, with include_deliveries, the history of those callbacks. 0.99 USD for the keys, 0.99 USD more for deliveries, each in a payment of its own. Not for queries of cases. Without payments it returns payment instructions, free.',
    parameters: PARAMETERS,
    outputSchema: openSchema({
      wallet: { type: 'string' },
      current_key_id: { type: 'string' },
      deliveries: { type: 'array', items: { type: 'object' }, description: 'Newest first.' },
      ...PAYMENT_MEMBERS,
    }),
    paid: true,
    run,
  };
}

/** A blank argument counts as absent, since models fill in omitted arguments. */
const textOf = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

const NOT_ASKED_FOR: Issue = {
  parameter: DELIVERIES,
  code: 'invalid_parameter',
  received: 'a payment',
  rule: 'Only with include_deliveries true, which asks for what it pays.',
  example: null,
};

const ONE_FOR_TWO = problem(
  'invalid_payment',
  { reason: 'one_payment_for_two' },
  `One x402 payment cannot pay for keys and deliveries: they are paid apart. Leave include_deliveries out, or pay both by ${KEYS} and ${DELIVERIES}.`,
);

/** Why two payments cannot be used together; neither is charged. */
function refusePair([keys, deliveries]: readonly VerifiedPayment[]): Problem | null {
  if (!keys || !deliveries) return null;
  if (keys.transaction.messageHash === deliveries.transaction.messageHash) {
    return problem(
      'invalid_payment',
      { reason: 'same_payment_twice' },
      `${KEYS} and ${DELIVERIES} are the same transfer, which can buy one answer only. Sign a second one with a memo of its own.`,
    );
  }
  if (keys.transaction.wallet === deliveries.transaction.wallet) return null;
  return problem(
    'invalid_payment',
    { reason: 'two_wallets' },
    `${KEYS} and ${DELIVERIES} come from different wallets. Sign both transfers with the wallet that you ask about.`,
  );
}
