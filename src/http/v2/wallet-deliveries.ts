/** `GET /v2/wallet/deliveries`: what became of a wallet's callbacks (docs/design/interface.md#4.7 and #2.7). */
import { proveCall } from '../../commands/signing-key/sign-in.ts';
import { problem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { Reach } from '../../projections/reach.ts';
import { findDeliveries } from '../../queries/delivery-history.ts';
import { notYetShown } from '../../queries/known.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { metaOf } from '../meta.ts';
import { type PaidRoute, PRICE_BASE_UNITS } from '../paid/paid-call.ts';
import { type DeliveriesRequest, readDeliveriesRequest } from '../parameters/deliveries-request.ts';
import { deliveriesBody, sandboxDeliveries } from './wallet-deliveries-answer.ts';

export interface WalletDeliveriesDependencies {
  readonly log: EventLog;
  readonly readStore: Pick<ReadStore, 'find'>;
  /** Of the read model of deliveries. */
  readonly reach: Reach;
  readonly payloads: Pick<PayloadStore, 'resolve'>;
  readonly clock: Clock;
}

/** What a wallet signs to see its history; REST and MCP ask for the same. */
export const DELIVERIES_STATEMENT = 'Show the callback deliveries of this wallet';

export function walletDeliveriesRoute({
  log,
  readStore,
  reach,
  payloads,
  clock,
}: WalletDeliveriesDependencies): PaidRoute<DeliveriesRequest> {
  return {
    method: 'GET',
    path: '/v2/wallet/deliveries',
    word: 'deliveries',
    description: 'What became of the callbacks of your wallet, attempt by attempt',
    signIn: { statement: DELIVERIES_STATEMENT, needsBound: false },
    parse: (request) => readDeliveriesRequest(request, clock.now()),
    sandbox: (request) => (request.sandbox ? sandboxDeliveries(request, clock) : null),
    price: () => PRICE_BASE_UNITS,
    fingerprint: ({ status, limit, after, since, court, caseNumber }) =>
      canonicalJson({
        status,
        limit,
        after: after && [after.createdAt, after.deliveryId],
        since,
        court,
        case_number: caseNumber,
      }),
    async answer({ status, limit, after, since, court, caseNumber }, { requestId, costUsd, tag, isBound, ...call }) {
      const { wallet, proof } = call;
      const context = { commandId: requestId, requestId, correlationId: requestId, causationId: null, actor: 'http' };
      const refused = await proveCall({ log, clock }, call, false, context);
      if (refused) return refused;
      // Nobody pays for a history that lacks what has happened.
      if (!(await reach.showsEverything())) return notYetShown();
      const filter = { wallet, status, court, caseNumber, attemptedAfter: since };
      const page = await findDeliveries(readStore, filter, { limit, after });
      // A payment that any 402 could have asked for opens nothing: the history is its wallet's alone.
      if (page.deliveries.length > 0 && !isBound && proof === null) {
        return problem('payment_rejected', { reason: 'payment_not_bound' });
      }
      // A URL that is damaged is shown as one that is kept no longer: the rest of the history is told all the same.
      const { found: targets } = await resolveIntact(
        payloads,
        page.deliveries.map(({ target }) => target),
      );
      const meta = metaOf({ request_id: requestId, queried_at: toInstant(clock.now()), query_cost_usd: costUsd, tag });
      const body = deliveriesBody(meta, wallet, page, (name) => {
        const target = targets.get(name);
        return target && !target.replaced ? target.content.toString() : null;
      });
      return { body: Buffer.from(JSON.stringify(body)), answeredCases: 1 };
    },
  };
}
