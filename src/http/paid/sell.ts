/**
 * The checks of a paid request in their order (docs/design/request-checks.md#order-of-checks), once for every transport.
 * A transport reads a request and writes the answer to its sale.
 */

import { isProblem, type Problem } from '../../errors.ts';
import type { JsonObject } from '../../events/event.ts';
import { once } from '../../runtime/once.ts';
import type { SentRequest } from '../parameters/request-parameters.ts';
import type { PresentedPayment } from '../x402/payment-header.ts';
import type { AskedFor, Bought, Buying, VerifiedPayment } from './buy.ts';
import type { PaidRoute, SandboxAnswer, SandboxCallback } from './paid-call.ts';

/** One request, by any transport. */
export interface PaidRequest {
  /** `X-Service-Tag`, checked. */
  readonly tag: string | null;
  /** `performance.now()` when the request came. */
  readonly startedAt: number;
  /** Of the caller, as `ClientAddresses` gives it. */
  address(): string | null;
  /** Whether the caller has disconnected. */
  isAbandoned(): boolean;
  /** Why the payments cannot be used at all, before any is read; null if they can. */
  paymentFault?(): Problem | null;
  /** Why payments that are valid by themselves cannot be used together; null if they can. */
  pairFault?(payments: readonly VerifiedPayment[]): Problem | null;
}

/** One answer that a request asks for, with the payment that it brings for it. */
export interface RequestedAnswer<Parameters, Terms> {
  readonly route: PaidRoute<Parameters>;
  readonly requestId: string;
  /** The parameters, or all errors in them at once. */
  read(): Parameters | Problem | Promise<Parameters | Problem>;
  /** The terms of its payment. */
  terms(parameters: Parameters): Terms;
  /** The terms for a request without any parameter, which gets them instead of errors; null for any other request. */
  bareTerms?(): Terms | null;
  /** The terms that a payment is checked against. */
  asked(terms: Terms): AskedFor;
  /** The payment, why it cannot be read, or null if there is none. Called only when it is needed. */
  payment(): PresentedPayment | Problem | null;
  /** Buys without throwing, where an unexpected failure must not hide the answer that was bought before. */
  spared?(payment: VerifiedPayment, buy: () => Promise<Bought>): Promise<Bought>;
}

/** The outcome of a request; `terms` are those of each answer, in the order requested. */
export type Sale<Terms> =
  /** Its parameters are invalid. */
  | { readonly sale: 'invalid'; readonly problem: Problem }
  /** It is free: answered from fixtures, or none of it can be answered. */
  | {
      readonly sale: 'rehearsed';
      readonly answers: readonly SandboxAnswer[];
      readonly callbacks: readonly SandboxCallback[];
    }
  /** Payments are missing, for the answers with these terms. */
  | { readonly sale: 'unpaid'; readonly missing: readonly Terms[]; readonly known: JsonObject | undefined }
  /** A payment is invalid: the one for the answer with these terms, or all of them together (null). */
  | { readonly sale: 'refused'; readonly problem: Problem; readonly terms: Terms | null }
  | { readonly sale: 'bought'; readonly bought: readonly { readonly terms: Terms; readonly bought: Bought }[] };

/** An answer that can be sold: its parameters are valid. */
interface Sellable<Terms> {
  /** The same each time. Made only for a request that is not answered from fixtures. */
  terms(): Terms;
  asked(): AskedFor;
  rehearsal(): SandboxAnswer | Promise<SandboxAnswer> | null;
  callbacks(): readonly SandboxCallback[];
  known(): Promise<JsonObject> | undefined;
  payment(): PresentedPayment | Problem | null;
  buy(payment: VerifiedPayment, request: PaidRequest, address: string | null): Promise<Bought>;
}

/** An answer whose parameters are not read yet. */
export interface Requested<Terms> {
  read(): Promise<Sellable<Terms> | Problem>;
  bareTerms(): Terms | null;
}

/** Parameters, sandbox and payment are read only as far as `sell` comes. */
export const requested = <Parameters, Terms>(
  buying: Buying,
  answer: RequestedAnswer<Parameters, Terms>,
): Requested<Terms> => ({
  bareTerms: () => answer.bareTerms?.() ?? null,
  async read() {
    const { route, requestId, spared } = answer;
    const parameters = await answer.read();
    if (isRefusal(parameters)) return parameters;
    const terms = once(() => answer.terms(parameters));
    return {
      terms,
      asked: () => answer.asked(terms()),
      rehearsal: () => route.sandbox(parameters),
      callbacks: () => route.sandboxCallbacks?.(parameters) ?? [],
      known: () => route.beforePayment?.(parameters),
      payment: () => answer.payment(),
      buy(payment, { tag, startedAt, isAbandoned }, address) {
        const buy = () => buying.buy({ route, parameters, payment, requestId, tag, startedAt, address, isAbandoned });
        return spared ? spared(payment, buy) : buy();
      },
    };
  },
});

/**
 * Sells what a request asks for, one answer or several, each for a payment of its own. Each of the steps 2 to 5 ends for
 * all answers before the next begins. Then they are bought one after the other: the first may settle and the second fail.
 */
export async function sell<Terms>(
  buying: Buying,
  request: PaidRequest,
  answers: readonly Requested<Terms>[],
): Promise<Sale<Terms>> {
  // Steps 2 and 3: no payment is asked for a request that cannot be answered, or that is free.
  const sellable: Sellable<Terms>[] = [];
  for (const answer of answers) {
    const read = await answer.read();
    if (isProblem(read)) {
      const bare = answer.bareTerms();
      return bare === null ? { sale: 'invalid', problem: read } : { sale: 'unpaid', missing: [bare], known: undefined };
    }
    sellable.push(read);
  }
  const rehearsals = sellable.flatMap((one) => one.rehearsal() ?? []);
  if (rehearsals.length > 0) {
    if (rehearsals.length < sellable.length) throw new Error('a request was in the sandbox in part');
    // Returned before any payment is checked: a payment sent with a free request is not even read.
    return {
      sale: 'rehearsed',
      answers: await Promise.all(rehearsals),
      callbacks: sellable.flatMap((one) => one.callbacks()),
    };
  }

  // Step 4.
  const fault = request.paymentFault?.() ?? null;
  if (fault) return { sale: 'refused', problem: fault, terms: null };
  const paid = sellable.flatMap((one) => {
    const payment = one.payment();
    return payment === null ? [] : [{ one, payment }];
  });
  if (paid.length < sellable.length) {
    const missing = sellable.filter((one) => !paid.some((each) => each.one === one));
    const [first] = sellable;
    const known = sellable.length === 1 ? await first?.known() : undefined;
    return { sale: 'unpaid', missing: missing.map(({ terms }) => terms()), known };
  }

  // Step 5.
  const address = request.address();
  const verified: { readonly one: Sellable<Terms>; readonly payment: VerifiedPayment }[] = [];
  for (const { one, payment } of paid) {
    const sound = await buying.verify(payment, one.asked(), address);
    if (isProblem(sound)) return { sale: 'refused', problem: sound, terms: one.terms() };
    verified.push({ one, payment: sound });
  }
  const unfit = request.pairFault?.(verified.map(({ payment }) => payment)) ?? null;
  if (unfit) return { sale: 'refused', problem: unfit, terms: null };

  // Steps 6 to 11.
  const bought: { readonly terms: Terms; readonly bought: Bought }[] = [];
  for (const { one, payment } of verified) {
    bought.push({ terms: one.terms(), bought: await one.buy(payment, request, address) });
  }
  return { sale: 'bought', bought };
}

/** The single element, for a request with one answer. */
export function only<Of>([one]: readonly Of[]): Of {
  if (one === undefined) throw new Error('a request asked for no answer');
  return one;
}

/** Step 2 of one endpoint: its parameters, or all errors in them at once. */
export async function readRequest<Parameters>(
  route: Pick<PaidRoute<Parameters>, 'parse' | 'reconsider'>,
  request: SentRequest,
): Promise<Parameters | Problem> {
  const parameters = route.parse(request);
  return isRefusal(parameters) && route.reconsider ? route.reconsider(request, parameters) : parameters;
}

const isRefusal = (value: unknown): value is Problem => typeof value === 'object' && value !== null && isProblem(value);
