/**
 * Metrics in the Prometheus format (docs/design/operations.md#metrics): counters that events increase, and gauges that
 * are read on each scrape.
 */
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { PurchaseOutcome, PurchaseRequest, Purchasing } from '../../commands/purchase/contract.ts';
import type { SponsorStanding } from '../../commands/purchase/sponsor-budget.ts';
import { type DeliveryStanding, MOST_COUNTED } from '../../queries/delivery-standing.ts';
import { sampledLines } from '../../runtime/sampled-lines.ts';
import { usdcText } from '../../solana/decimal-amount.ts';
import { isPaying } from '../request-log.ts';
import type { CloseReason } from '../unread-answers.ts';

export interface Metrics {
  /** An attempt of a callback has ended; `failureClass` is null if the receiver acknowledged it. */
  attemptEnded(failureClass: string | null, seconds: number): void;
  /** A payment has an outcome: `settled`, `pending`, `failed` or `refused`. */
  purchaseEnded(dialect: string, outcome: string): void;
  /** Damaged stored content was found, for the first time. */
  payloadDamaged(): void;
  /** A connection was closed because its client did not read its answers. */
  unreadClosed(reason: CloseReason): void;
  /** Sets the source for the bytes of unread answers. */
  watchUnread(pendingBytes: () => number): void;
  /** Sets the source for the state of deliveries; while it fails, these metrics are NaN. */
  watchDeliveries(standing: () => Promise<DeliveryStanding>): void;
  /** Sets the source for the free disk space; without it the metric does not exist. */
  watchDisk(freeBytes: () => Promise<number | null>): void;
  /** Sets the source for the cost of failed sponsored payments. */
  watchSponsoring(standings: () => readonly SponsorStanding[]): void;
  readonly contentType: string;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
}

const UNKNOWN: DeliveryStanding = { pending: Number.NaN, retrying: Number.NaN, oldestOverdueSeconds: Number.NaN };

/** Seconds; the last is past an attempt's deadline. */
const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const attempts = new Counter({
    name: 'docket_callback_attempts_total',
    help: 'Attempts of callbacks that have ended, by failure class, or acknowledged',
    labelNames: ['failure_class'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'docket_callback_attempt_seconds',
    help: 'Duration of callback attempts',
    buckets: ATTEMPT_SECONDS,
    registers,
  });
  const purchases = new Counter({
    name: 'docket_purchases_total',
    help: 'Paid requests that have ended, by dialect and outcome',
    labelNames: ['dialect', 'outcome'],
    registers,
  });
  const damaged = new Counter({
    name: 'docket_damaged_payloads_total',
    help: 'Blobs of stored content found damaged',
    registers,
  });
  const unreadClosed = new Counter({
    name: 'docket_unread_answers_closed_total',
    help: 'Connections closed because of unread answers: slow, or a limit was reached (address, total, pipelined)',
    labelNames: ['reason'],
    registers,
  });
  const waiting = new Gauge({
    name: 'docket_callback_deliveries',
    help: `Deliveries with an attempt due or scheduled, counted up to ${MOST_COUNTED}: pending before the first, retrying after it`,
    labelNames: ['status'],
    registers,
  });
  const overdue = new Gauge({
    name: 'docket_callback_oldest_overdue_seconds',
    help: 'How long the oldest due attempt has been waiting',
    registers,
  });
  let standing: (() => Promise<DeliveryStanding>) | null = null;

  return {
    attemptEnded(failureClass, seconds) {
      attempts.inc({ failure_class: failureClass ?? 'acknowledged' });
      attemptSeconds.observe(seconds);
    },
    purchaseEnded: (dialect, outcome) => purchases.inc({ dialect, outcome }),
    payloadDamaged: () => damaged.inc(),
    unreadClosed: (reason) => unreadClosed.inc({ reason }),
    watchUnread(pendingBytes) {
      new Gauge({
        name: 'docket_unread_answer_bytes',
        help: 'Bytes of answers written but not yet accepted by clients',
        registers,
        collect() {
          this.set(pendingBytes());
        },
      });
    },
    watchDeliveries(read) {
      standing = read;
    },
    watchDisk(freeBytes) {
      new Gauge({
        name: 'docket_disk_free_bytes',
        help: 'Free bytes on the file system of DATA_DIR',
        registers,
        async collect() {
          this.set((await freeBytes()) ?? Number.NaN);
        },
      });
    },
    watchSponsoring(standings) {
      new Gauge({
        name: 'docket_sponsored_fees_lost_lamports',
        help: 'Cost to the fee payer of sponsored payments that failed on chain, by window',
        labelNames: ['window'],
        registers,
        collect() {
          for (const { window, lost } of standings()) this.set({ window }, lost);
        },
      });
      new Gauge({
        name: 'docket_sponsored_fees_budget_lamports',
        help: 'Limit of that cost, above which sponsored payments pause, by window',
        labelNames: ['window'],
        registers,
        collect() {
          for (const { window, limit } of standings()) this.set({ window }, limit);
        },
      });
    },
    contentType: registry.contentType,
    async text() {
      if (standing) {
        // If storage fails, the other metrics must still be readable.
        const { pending, retrying, oldestOverdueSeconds } = await standing().catch(() => UNKNOWN);
        waiting.set({ status: 'pending' }, pending);
        waiting.set({ status: 'retrying' }, retrying);
        overdue.set(oldestOverdueSeconds);
      }
      return registry.metrics();
    },
  };
}

/**
 * Wraps purchasing with metrics and log lines: one line for each payment that settled or is pending, and for attempts
 * that cost the wallet nothing, the first of each outcome and code. Lines contain no payment and no query.
 */
export function countPurchases(
  purchasing: Purchasing,
  { purchaseEnded }: Pick<Metrics, 'purchaseEnded'>,
  logger?: Pick<Logger, 'info' | 'isLevelEnabled'>,
): Purchasing {
  const free = logger && sampledLines(logger, 'payment');
  return {
    underway: purchasing.underway,
    async buy(request) {
      const outcome = await purchasing.buy(request);
      purchaseEnded(request.dialect, outcome.outcome);
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
