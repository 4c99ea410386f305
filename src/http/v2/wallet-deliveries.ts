/** `GET /v2/wallet/deliveries`: the history of a wallet's callbacks (docs/design/interface.md#4.7 and #2.7). */
import { proveCall } from '../../commands/signing-key/sign-in.ts';
import { problem } from '../../errors.ts';
import { canonicalJson } from '../../events/canonical-json.ts';
import type { Freshness } from '../../projections/freshness.ts';
import { findDeliveries } from '../../queries/delivery-history.ts';
import { notYetShown } from '../../queries/known.ts';
import { pausedAmong } from '../../queries/operator-acts.ts';
import { type Clock, toInstant } from '../../runtime/instant.ts';
import type { EventLog } from '../../storage/event-log.ts';
import { resolveIntact } from '../../storage/intact-payloads.ts';
import type { PayloadStore } from '../../storage/payload-store.ts';
import type { ReadStore } from '../../storage/read-store.ts';
import { metaOf } from '../meta.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import { type DeliveriesRequest, readDeliveriesRequest } from '../parameters/deliveries-request.ts';
import { deliveriesBody, sandboxDeliveries, storedStatuses } from './wallet-deliveries-answer.ts';

export interface WalletDeliveriesDependencies {
  readonly log: EventLog;
  readonly readStore: Pick<ReadStore, 'find' | 'load'>;
  /** Of the read model of deliveries. */
  readonly freshness: Freshness;
  readonly payloads: Pick<PayloadStore, 'resolve'>;
  readonly clock: Clock;
}

/** What a wallet signs to see its history, both for REST and MCP. */
const DELIVERIES_STATEMENT = 'Show the callback deliveries of this wallet';

export function walletDeliveriesRoute({
  log,
  readStore,
  freshness,
  payloads,
  clock,
}: WalletDeliveriesDependencies): PaidRoute<DeliveriesRequest> {
  return {
    method: 'GET',
    path: '/v2/wallet/deliveries',
    word: 'deliveries',
    description: 'The callback deliveries of your wallet, with every attempt',
    signIn: { statement: DELIVERIES_STATEMENT, needsBound: false },
    parse: (request) => readDeliveriesRequest(request, clock.now()),
    sandbox: (request) => (request.sandbox ? sandboxDeliveries(request, clock) : null),
    queries: () => 1,
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
      // An incomplete history must not be paid for.
      if (!(await freshness.showsEverything())) return notYetShown();
      const filter = { wallet, status: storedStatuses(status), court, caseNumber, attemptedAfter: since };
      const page = await findDeliveries(readStore, filter, { limit, after });
      // A payment that any 402 could have requested proves nothing: only the wallet itself may see the history.
      if (page.deliveries.length > 0 && !isBound && proof === null) {
        return problem('payment_rejected', { reason: 'payment_not_bound' });
      }
      // A damaged URL is shown as one that is no longer stored, so that the rest of the history remains readable.
      const { found: targets } = await resolveIntact(
        payloads,
        page.deliveries.map(({ target }) => target),
      );
      const paused = await pausedAmong(
        readStore,
        page.deliveries.map(({ origin }) => origin),
      );
      const meta = metaOf({ request_id: requestId, queried_at: toInstant(clock.now()), query_cost_usd: costUsd, tag });
      const body = deliveriesBody(meta, wallet, page, {
        urlOf(name) {
          const target = targets.get(name);
          return target && !target.replaced ? target.content.toString() : null;
        },
        pausedSince: (origin) => paused.get(origin)?.since ?? null,
      });
      return { body: Buffer.from(JSON.stringify(body)), answeredCases: 1 };
    },
  };
}
