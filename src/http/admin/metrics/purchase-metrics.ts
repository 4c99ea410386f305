/** Metrics of payments: how purchases end, how long their phases take, and the money that outcomes moved. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Timings } from '../../../commands/purchase/contract.ts';
import type { SponsorStanding } from '../../../commands/purchase/sponsor-budget.ts';
import { ERROR_CATALOGUE, type ErrorCode, statusOf } from '../../../errors.ts';
import type { PaymentEvent } from '../../../events/payment.ts';
import type { RevenueRow } from '../../../queries/revenue.ts';
import type { PaymentStatus } from '../../../queries/status-payments.ts';

import type { Sources } from './sources.ts';
import { Tally } from './tally.ts';
import { TimeHistogram } from './time-histogram.ts';

/** What this process has recorded about a submitted payment. */
export interface RecordedOutcome {
  /** Method and path that was paid for. */
  readonly endpoint: string;
  /** Base units. */
  readonly amount: string;
  /** Cases that were answered for it. */
  readonly answeredCases: number;
  readonly events: readonly Pick<PaymentEvent, 'type'>[];
  /** What the network charged our fee payer; 0 for a payment whose sender paid. */
  readonly feeLamports: bigint;
}

/** Payments that are not over, as `docket status` counts them. */
export interface OpenPayments extends Omit<PaymentStatus, 'oldestSubmittedAt'> {
  /** Since the oldest payment without an outcome was broadcast; 0 without one. */
  readonly oldestSeconds: number;
}

export interface PurchaseMetrics {
  /** A payment has an outcome: `settled`, `pending`, `failed`, `uncharged` or `refused`; a refusal has a code. */
  purchaseEnded(dialect: string, outcome: string, timings?: Timings, code?: ErrorCode): void;
  outcomeRecorded(outcome: RecordedOutcome): void;
  /** Sets the source for the number of purchases that this process works on. */
  watchUnderway(count: () => number): void;
  /** Sets the source for payments without a final outcome. */
  watchPayments(standing: () => Promise<OpenPayments>): void;
  /** Sets the source for the revenue of the present UTC day, by endpoint. */
  watchRevenueToday(rows: () => Promise<readonly Pick<RevenueRow, 'key' | 'usdc' | 'answers'>[]>): void;
  /** Sets the source for the cost of failed sponsored payments. */
  watchSponsoring(standings: () => readonly SponsorStanding[]): void;
}

const PHASE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const isOurs = (code: ErrorCode): boolean => statusOf(code) >= 500;
const OUR_FAULTS = (Object.keys(ERROR_CATALOGUE) as ErrorCode[]).filter(isOurs);

const USDC_BASE_UNITS = 1_000_000;

/** The label `outcome` of a recorded event; other events are no outcomes. */
const OUTCOMES: Readonly<Partial<Record<PaymentEvent['type'], string>>> = {
  PaymentSettled: 'settled',
  PaymentSettledLate: 'settled_late',
  PaymentFailed: 'failed',
  PaymentRolledBack: 'rolled_back',
  PaymentFinalized: 'finalized',
};

export function purchaseMetrics(registry: Registry, sources: Sources): PurchaseMetrics {
  const registers = [registry];
  const purchases = new Tally(registry, {
    name: 'docket_purchases_total',
    help: 'Paid requests that have ended, by dialect and outcome',
    labelNames: ['dialect', 'outcome'],
  });
  const refusals = new Tally(registry, {
    name: 'docket_purchase_refusals_total',
    help: 'Refused paid requests, by error code, and whether the fault is with the caller or with this service',
    labelNames: ['code', 'fault'],
  });
  const phases = new TimeHistogram(registry, {
    name: 'docket_purchase_phase_seconds',
    help: 'Duration of the phases of a paid request: verify, query, record (the answer and the claim), settle (chain)',
    labelNames: ['phase'],
    buckets: PHASE_SECONDS,
  });
  const outcomes = new Tally(registry, {
    name: 'docket_payment_outcomes_total',
    help: 'Outcomes of submitted payments that this node recorded; the sum over all nodes counts each one once',
    labelNames: ['outcome'],
  });
  const revenue = new Tally(registry, {
    name: 'docket_revenue_usdc_total',
    help: 'USDC of the payments that this node recorded as settled, by endpoint; sum over all nodes',
    labelNames: ['endpoint'],
  });
  const answers = new Tally(registry, {
    name: 'docket_answers_sold_total',
    help: 'Cases answered for these payments, by endpoint; sum over all nodes',
    labelNames: ['endpoint'],
  });
  const rolledBack = new Counter({
    name: 'docket_rolled_back_usdc_total',
    help: 'USDC of settled payments that the cluster undid, recorded by this node; sum over all nodes',
    registers,
  });
  const fees = new Counter({
    name: 'docket_network_fees_lamports_total',
    help: 'Fees that the network charged the fee payer for payments whose outcome this node recorded; sum over all nodes',
    registers,
  });
  // A rate over them must not miss the first one.
  for (const outcome of Object.values(OUTCOMES)) outcomes.add(0, outcome);
  for (const code of OUR_FAULTS) refusals.add(0, code, 'service');

  return {
    purchaseEnded(dialect, outcome, timings, code) {
      purchases.add(1, dialect, outcome);
      if (code !== undefined) refusals.add(1, code, isOurs(code) ? 'service' : 'caller');
      if (timings) observePhases(phases, timings);
    },
    outcomeRecorded({ endpoint, amount, answeredCases, events, feeLamports }) {
      const usdc = Number(amount) / USDC_BASE_UNITS;
      for (const { type } of events) {
        const outcome = OUTCOMES[type];
        if (outcome === undefined) continue;
        outcomes.add(1, outcome);
        if (type === 'PaymentSettled' || type === 'PaymentSettledLate') {
          revenue.add(usdc, endpoint);
          answers.add(answeredCases, endpoint);
        }
        if (type === 'PaymentRolledBack') rolledBack.inc(usdc);
      }
      if (feeLamports > 0n) fees.inc(Number(feeLamports));
    },
    watchUnderway(count) {
      new Gauge({
        name: 'docket_purchases_in_flight',
        help: 'Paid requests that this node works on',
        registers,
        collect() {
          this.set(count());
        },
      });
    },
    watchPayments(read) {
      const open = new Gauge({
        name: 'docket_payments_open',
        help: 'Payments of the whole service that are not over: in_flight (broadcast), pending (for more than 30 s), confirming (not final), in_doubt (given up within the hour)',
        labelNames: ['state'],
        registers,
      });
      const oldest = new Gauge({
        name: 'docket_payments_oldest_open_seconds',
        help: 'How long the oldest payment without an outcome has been waiting for it; 0 without one',
        registers,
      });
      sources.add({
        name: 'payments',
        read,
        show(standing) {
          open.reset();
          oldest.remove();
          if (!standing) return;
          open.set({ state: 'in_flight' }, standing.inFlight);
          open.set({ state: 'pending' }, standing.pending);
          open.set({ state: 'confirming' }, standing.confirming);
          open.set({ state: 'in_doubt' }, standing.inDoubt);
          oldest.set(standing.oldestSeconds);
        },
      });
    },
    watchRevenueToday(read) {
      const usdc = new Gauge({
        name: 'docket_revenue_today_usdc',
        help: 'USDC settled since midnight UTC in the whole service, by endpoint, from the read model',
        labelNames: ['endpoint'],
        registers,
      });
      const sold = new Gauge({
        name: 'docket_answers_today',
        help: 'Cases answered for payments settled since midnight UTC in the whole service, by endpoint, from the read model',
        labelNames: ['endpoint'],
        registers,
      });
      sources.add({
        name: 'revenue',
        read,
        show(rows) {
          usdc.reset();
          sold.reset();
          for (const { key: endpoint, usdc: baseUnits, answers: count } of rows ?? []) {
            usdc.set({ endpoint }, Number(baseUnits) / USDC_BASE_UNITS);
            sold.set({ endpoint }, count);
          }
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
  };
}

/** Only phases that came to their end: the last of a refused request ended where it was refused. */
function observePhases(phases: TimeHistogram<'phase'>, { verify, query, record, settle }: Timings): void {
  phases.observe(verify / 1000, 'verify');
  if (query === null) return;
  phases.observe(query / 1000, 'query');
  if (settle === null) return;
  const recording = record ?? 0;
  if (record !== null) phases.observe(recording / 1000, 'record');
  if (record !== null) phases.observe((settle - recording) / 1000, 'settle');
}
