/** A tool that sells one answer: the endpoint behind it does everything but the talking. */
import type { Logger } from 'pino';
import { isProblem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import type { Buying } from '../paid/buy.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import type { Issue } from '../parameters/issues.ts';
import { readTag, type SentRequest } from '../parameters/request-parameters.ts';
import type { AnsweringService } from '../send-problem.ts';
import type { Purpose } from '../x402/purpose.ts';
import type { Merchant } from '../x402/terms.ts';
import { readCallPayment } from './call-payment.ts';
import { openSchema } from './output-schema.ts';
import { type AnsweredCall, paidAnswers } from './paid-answer.ts';
import { readParameters } from './paid-parameters.ts';
import { type Argument, type Parameter, type Parameters, readArguments } from './parameters.ts';
import type { PaymentTerms } from './payment-terms.ts';
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
  /** Beside `payment_tx`. */
  readonly parameters: Parameters;
  /** Of each query, where the tool takes a list of them. */
  readonly queryParameters?: Parameters;
  readonly returns: Readonly<Record<string, JsonObject>>;
  readonly route: PaidRoute<RouteParameters>;
  /** The request over REST that the arguments stand for. */
  request(values: ReadonlyMap<string, Argument>, call: ToolCall): SentRequest;
  /** Faults that only a tool's call can have. */
  check?(values: ReadonlyMap<string, Argument>): readonly Issue[];
  /** Members of the answer that hold texts of dockets, written by courts and parties; none: left out. */
  readonly docketText?: readonly string[];
  /** More members of the payment instructions. */
  instructions?(amount: bigint): JsonObject;
}

export const PAYMENT_ARGUMENT = 'payment_tx';

const EXAMPLE_PAYMENT = 'AQAB… (base64 of a signed transaction)';

/** @param what it pays, e.g. "0.99 USDC" */
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
      const read = await readParameters(route, sent, [...issues, ...(tool.check?.(values) ?? [])]);
      const answeredCall = (amount: bigint, byX402: boolean): AnsweredCall => ({
        asked: {
          tool: name,
          argument: PAYMENT_ARGUMENT,
          amount,
          purpose: toolPurpose(merchant, name, route, isProblem(read) ? null : read),
        },
        description: route.description,
        requestId,
        tag,
        inX402Form: byX402 || call.speaksX402,
        noteBought: call.noteBought,
        docketText,
      });
      if (isProblem(read)) return answers.refuse(answeredCall(0n, false), read);

      const rehearsal = route.sandbox(read);
      // Before any payment is looked at: one that is sent along is not even read.
      if (rehearsal !== null) {
        return toolResult({ structured: (await rehearsal)({ requestId, tag }), ...untrusted(docketText) });
      }

      const amount = route.price(read);
      const transaction = values.get(PAYMENT_ARGUMENT);
      const sentPayment = readCallPayment(
        typeof transaction === 'string' ? transaction : null,
        call.x402Payment,
        merchant.network,
      );
      const answered = answeredCall(amount, sentPayment?.byX402 ?? false);
      if (sentPayment === null) {
        const known = await route.beforePayment?.(read);
        return answers.askForPayment(answered, undefined, { ...known, ...tool.instructions?.(amount) });
      }

      const payment = await buying.verify(sentPayment.payment, answered.asked, call.address);
      if (isProblem(payment)) return answers.refuse(answered, payment);
      const { startedAt, address, isAbandoned } = call;
      const caller = { startedAt, address, isAbandoned };
      const bought = await buying.buy({ route, parameters: read, payment, requestId, tag, ...caller });
      return answers.outcome(answered, bought);
    },
  };
}

/** What a tool's payment is bound to: the tool, and what is asked of it. */
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

/** Members of results that are no answer. */
export const PAYMENT_MEMBERS: Readonly<Record<string, JsonObject>> = {
  payment_required: { type: 'boolean', description: 'true: not an error; pay as next_step says' },
  payment: { type: 'object', description: 'status "pending": read result_url, do not pay again' },
};
