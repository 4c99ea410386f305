/** A tool that sells one answer. The endpoint behind it does the work; this file only translates. */

import type { Logger } from 'pino';
import { priceOf } from '../../commands/purchase/price.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Buying } from '../paid/buy.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import { only, type PaidRequest, requested, sell } from '../paid/sell.ts';
import type { Issue } from '../parameters/issues.ts';
import { type CallRequest, readTag } from '../parameters/request-parameters.ts';
import type { AnsweringService } from '../send-problem.ts';
import type { Purpose } from '../x402/purpose.ts';
import type { Merchant } from '../x402/terms.ts';
import { readCallPayment } from './call-payment.ts';
import { openSchema } from './output-schema.ts';
import { type AnsweredCall, paidAnswers } from './paid-answer.ts';
import { readParameters } from './paid-parameters.ts';
import { type Argument, type Parameter, type Parameters, readArguments } from './parameters.ts';
import type { AskedPayment, PaymentTerms } from './payment-terms.ts';
import type { Tool, ToolCall } from './tool.ts';
import { toolResult } from './tool-result.ts';
import { untrusted } from './untrusted-text.ts';

export interface PaidToolDependencies {
  readonly service: AnsweringService;
  readonly logger: Pick<Logger, 'error'>;
  readonly merchant: Merchant;
  readonly buying: Buying;
  readonly terms: PaymentTerms;
}

export interface PaidTool<RouteParameters extends object> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** In addition to `payment_tx`. */
  readonly parameters: Parameters;
  /** The parameters of each query, if the tool accepts a list of queries. */
  readonly queryParameters?: Parameters;
  readonly returns: Readonly<Record<string, JsonObject>>;
  readonly route: PaidRoute<RouteParameters>;
  /** The endpoint's request for these arguments. */
  request(values: ReadonlyMap<string, Argument>, call: ToolCall): CallRequest;
  /** Errors that only a tool call can have. */
  check?(values: ReadonlyMap<string, Argument>): readonly Issue[];
  /** Members of the answer that contain text of dockets, written by courts and parties; omitted if there are none. */
  readonly docketText?: readonly string[];
  /** Additional members of the payment instructions. */
  instructions?(amount: bigint): JsonObject;
}

const PAYMENT_ARGUMENT = 'payment_tx';

const EXAMPLE_PAYMENT = 'AQAB… (base64 of a signed transaction)';

/** @param what the price, e.g. "0.99 USDC" */
export const paymentParameter = (what: string): Parameter => ({
  type: 'string',
  description: `Base64 (or base58) of a signed Solana transfer of ${what}, not yet sent. Leave out to get payment instructions, free.`,
  example: EXAMPLE_PAYMENT,
});

export function paidTool<RouteParameters extends object>(
  { service, merchant, buying, terms }: PaidToolDependencies,
  tool: PaidTool<RouteParameters>,
): Tool {
  const { route, name, title, description, parameters, queryParameters, returns, docketText = [] } = tool;
  const answers = paidAnswers(service, terms);
  return {
    name,
    title,
    description,
    parameters,
    ...(queryParameters ? { queryParameters } : {}),
    outputSchema: openSchema({ ...returns, ...PAYMENT_MEMBERS }),
    paid: true,
    async run(call) {
      const { requestId } = call;
      const { values, issues } = readArguments(parameters, call.sentArguments);
      const sent = tool.request(values, call);
      const tag = readTag(sent);
      const transaction = values.get(PAYMENT_ARGUMENT);
      const payment = readOnce(() =>
        readCallPayment(typeof transaction === 'string' ? transaction : null, call.x402Payment, merchant.network),
      );
      const answeredCall = (asked: AskedPayment, byX402: boolean): AnsweredCall => ({
        asked,
        description: route.description,
        requestId,
        tag,
        inX402Form: byX402 || call.speaksX402,
        noteBought: call.noteBought,
        docketText,
      });
      const asking = (amount: bigint, read: RouteParameters | null): AskedPayment => ({
        tool: name,
        argument: PAYMENT_ARGUMENT,
        amount,
        purpose: toolPurpose(merchant, name, route, read),
      });
      const answer = requested<RouteParameters, AskedPayment>(buying, {
        route,
        requestId,
        read: () => readParameters(route, sent, [...issues, ...(tool.check?.(values) ?? [])]),
        terms: (read) => asking(priceOf(route.queries(read)), read),
        asked: (asked) => asked,
        payment: () => payment()?.payment ?? null,
      });
      const sale = await sell(buying, paidRequestOf(call, tag), [answer]);
      switch (sale.sale) {
        case 'invalid':
          return answers.refuse(answeredCall(asking(0n, null), false), sale.problem);
        case 'rehearsed': {
          const [structured = ''] = sale.answers.map((composed) => composed({ requestId, tag }));
          return toolResult({ structured, ...untrusted(docketText) });
        }
        case 'unpaid': {
          const asked = only(sale.missing);
          const more = { ...sale.known, ...tool.instructions?.(asked.amount) };
          return answers.askForPayment(answeredCall(asked, false), undefined, more);
        }
        case 'refused':
          return answers.refuse(answeredCall(sale.terms ?? asking(0n, null), payment()?.byX402 ?? false), sale.problem);
        case 'bought': {
          const { terms: asked, bought } = only(sale.bought);
          return answers.outcome(answeredCall(asked, payment()?.byX402 ?? false), bought);
        }
      }
    },
  };
}

/** A call in the form that `sell` expects. */
export const paidRequestOf = (call: ToolCall, tag: string | null): PaidRequest => ({
  tag,
  startedAt: call.startedAt,
  address: () => call.address,
  isAbandoned: call.isAbandoned,
});

/** Reads a value on first use and returns the same one afterwards. */
export function readOnce<Value>(read: () => Value): () => Value {
  let known: { readonly value: Value } | null = null;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}

/** What a tool's payment is bound to: the tool and its request. */
export const toolPurpose = <RouteParameters>(
  { publicUrl }: Pick<Merchant, 'publicUrl'>,
  tool: string,
  { word, fingerprint }: Pick<PaidRoute<RouteParameters>, 'word' | 'fingerprint'>,
  parameters: RouteParameters | null,
): Purpose => ({
  word,
  call: `tool ${tool}`,
  publicUrl,
  request: parameters === null ? null : fingerprint(parameters),
});

/** Members of results that are not answers. */
export const PAYMENT_MEMBERS: Readonly<Record<string, JsonObject>> = {
  payment_required: { type: 'boolean', description: 'true: not an error; pay as next_step says' },
  payment: { type: 'object', description: 'status "pending": read result_url, do not pay again' },
};
