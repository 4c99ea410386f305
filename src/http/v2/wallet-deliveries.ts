/** `GET /v2/wallet/deliveries`: what became of a wallet's callbacks (specification 4.7 and 2.7). */
import { canonicalJson } from '../../events/canonical-json.ts';
import { type Clock, toInstant } from '../../instant.ts';
import type { Reach } from '../../projections/reach.ts';
import { findDeliveries } from '../../queries/delivery-history.ts';
import { notYetShown } from '../../queries/known.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { metaOf } from '../meta.ts';
import { type PaidRoute, PRICE_BASE_UNITS } from '../paid-call.ts';
import { type DeliveriesRequest, readDeliveriesRequest } from '../parameters/deliveries-request.ts';
import { deliveriesBody, sandboxDeliveries } from './wallet-deliveries-answer.ts';

export interface WalletDeliveriesDependencies {
  readonly readStore: Pick<ReadStore, 'find'>;
  /** Of the read model of deliveries. */
  readonly reach: Reach;
  readonly payloads: Pick<PayloadStore, 'resolve'>;
  readonly clock: Clock;
}

export function walletDeliveriesRoute({
  readStore,
  reach,
  payloads,
  clock,
}: WalletDeliveriesDependencies): PaidRoute<DeliveriesRequest> {
  return {
    method: 'GET',
    path: '/v2/wallet/deliveries',
    description: 'What became of the callbacks of your wallet, attempt by attempt',
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
    async answer({ status, limit, after, since, court, caseNumber }, { requestId, wallet, costUsd, tag }) {
      // Nobody pays for a history that lacks what has happened.
      if (!(await reach.showsEverything())) return notYetShown();
      const filter = { wallet, status, court, caseNumber, attemptedAfter: since };
      const page = await findDeliveries(readStore, filter, { limit, after });
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
