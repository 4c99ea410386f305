/** The purchasing service: the requests that run on this node, and what they share. */
import { setMaxListeners } from 'node:events';
import { problemOf } from '../../failure-problem.ts';
import { StorageFailure } from '../../storage/storage-failure.ts';
import { annotate, inSpan } from '../../tracing/span.ts';
import type { PurchaseOutcome, PurchasePorts, PurchaseRequest, Purchasing } from './contract.ts';
import { FirstPayments } from './first-payments.ts';
import { ProvenWallets } from './proven-wallets.ts';
import { PurchaseRun, QUERIES_OF_A_WALLET, type RunPorts } from './purchase.ts';
import { UnknownBlockhashes } from './unknown-blockhashes.ts';
import { WaitingLines } from './waiting-lines.ts';

const QUERIES_OF_A_CLIENT = 16;

/** Creates the purchasing service: everything that is sold here goes through it. */
export function createPurchasing(purchasePorts: PurchasePorts): Purchasing {
  const proven = new ProvenWallets(purchasePorts);
  const ports: RunPorts = {
    ...purchasePorts,
    proven,
    firstPayments: new FirstPayments({ ...purchasePorts, proven, mint: purchasePorts.payee.mint }),
    lines: new WaitingLines(),
    unknownBlockhashes: new UnknownBlockhashes(purchasePorts),
    walletQueries: new WaitingLines(QUERIES_OF_A_WALLET),
    clientQueries: new WaitingLines(QUERIES_OF_A_CLIENT),
  };
  const underway = new Set<string>();
  // Every waiting request adds a listener.
  setMaxListeners(0, ports.draining);
  return {
    underway,
    buy: (request) =>
      inSpan(
        'purchase',
        () => noted(buy(request)),
        () => ({ attributes: attributesOf(request) }),
      ),
  };

  async function buy(request: PurchaseRequest): Promise<PurchaseOutcome> {
    const run = new PurchaseRun(ports, request);
    const { messageHash } = request.transaction;
    try {
      const known = await run.repeat();
      if (known) return known;
      // The same request is already running: count nothing and run no second query.
      if (underway.has(messageHash)) return await run.refuseCopy();
      underway.add(messageHash);
      try {
        return await run.run();
      } finally {
        run.end();
        underway.delete(messageHash);
      }
    } catch (error) {
      // Errors after the claim are handled where they occur, so nothing was claimed here.
      const refused = await run.refuse(problemOf(error));
      if (!(error instanceof StorageFailure)) throw error;
      ports.logger.error({ err: error, requestId: request.requestId }, 'a paid request met failing storage');
      return refused;
    }
  }
}

const attributesOf = ({ requestId, endpoint, dialect, transaction }: PurchaseRequest) => ({
  'docket.request_id': requestId,
  'docket.endpoint': endpoint,
  'docket.payment.dialect': dialect,
  'docket.wallet': transaction.wallet,
});

async function noted(buying: Promise<PurchaseOutcome>): Promise<PurchaseOutcome> {
  const outcome = await buying;
  annotate('docket.purchase.outcome', outcome.outcome);
  if (outcome.outcome === 'refused') annotate('docket.error.code', outcome.problem.problem);
  return outcome;
}
