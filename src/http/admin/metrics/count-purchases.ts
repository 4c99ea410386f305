/** Counts purchases, and logs them: the observing wrapper around purchasing. */
import type { Logger } from 'pino';
import type { PurchaseOutcome, PurchaseRequest, Purchasing } from '../../../commands/purchase/contract.ts';
import { sampledLines } from '../../../runtime/sampled-lines.ts';
import { usdcText } from '../../../solana/decimal-amount.ts';
import { isPaying } from '../../request-log.ts';
import type { PurchaseMetrics } from './purchase-metrics.ts';

/**
 * Wraps purchasing with metrics and log lines: one line for each payment that settled or is pending, and for attempts
 * that cost the wallet nothing, the first of each outcome and code. Lines contain no payment and no query.
 */
export function countPurchases(
  purchasing: Purchasing,
  { purchaseEnded }: Pick<PurchaseMetrics, 'purchaseEnded'>,
  logger?: Pick<Logger, 'info' | 'isLevelEnabled'>,
): Purchasing {
  const free = logger && sampledLines(logger, 'payment');
  return {
    underway: purchasing.underway,
    async buy(request) {
      const outcome = await purchasing.buy(request).catch((error: unknown) => {
        purchaseEnded(request.dialect, 'refused', undefined, 'internal_error');
        throw error;
      });
      const code = outcome.outcome === 'refused' ? outcome.problem.problem : undefined;
      purchaseEnded(request.dialect, outcome.outcome, outcome.timings, code);
      if (!logger?.isLevelEnabled('info')) return outcome;
      const line = paymentLine(request, outcome);
      if (isPaying(request.requestId, outcome)) logger.info(line, 'payment');
      else free?.write({ outcome: line.outcome, code: line.code }, line);
      return outcome;
    },
  };
}

function paymentLine(request: PurchaseRequest, outcome: PurchaseOutcome) {
  const { requestId, endpoint, dialect, amount, transaction, startedAt } = request;
  return {
    requestId,
    endpoint,
    dialect,
    wallet: transaction.wallet,
    amount: usdcText(amount),
    outcome: outcome.outcome,
    ...('transaction' in outcome && { transaction: outcome.transaction }),
    code: outcome.outcome === 'refused' ? outcome.problem.problem : undefined,
    ...('boughtBy' in outcome && outcome.boughtBy !== requestId && { boughtBy: outcome.boughtBy }),
    ...(outcome.outcome === 'failed' && { reason: outcome.reason }),
    ms: Math.round(performance.now() - startedAt),
  };
}
