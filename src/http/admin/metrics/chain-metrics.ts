/** Metrics of the chain: calls to each endpoint, and the accounts that payments need. */
import { Gauge, type Registry } from 'prom-client';
import { LOW_BALANCE_LAMPORTS, type ReceiverReport } from '../../../solana/prepare-receiver.ts';
import type { RpcCallOutcome } from '../../../solana/rpc-endpoints.ts';
import { Tally } from './tally.ts';
import { TimeHistogram } from './time-histogram.ts';

export interface ChainMetrics {
  /** @param endpoint host and port, never more of the URL, which may contain a key */
  rpcCalled(endpoint: string, method: string, outcome: RpcCallOutcome, seconds: number): void;
  /** The last health check has read our accounts. */
  receiverChecked(report: ReceiverReport): void;
}

const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const USDC_BASE_UNITS = 1_000_000;

export function chainMetrics(registry: Registry): ChainMetrics {
  const registers = [registry];
  const calls = new Tally(registry, {
    name: 'docket_rpc_calls_total',
    help: 'JSON-RPC calls to each chain endpoint, by method and outcome: ok, error (the answer is an error), failed (no usable answer)',
    labelNames: ['endpoint', 'method', 'outcome'],
  });
  const seconds = new TimeHistogram(registry, {
    name: 'docket_rpc_call_seconds',
    help: 'Duration of JSON-RPC calls to each chain endpoint, failed ones included',
    labelNames: ['endpoint'],
    buckets: CALL_SECONDS,
  });
  let report: ReceiverReport | null = null;
  let checkedAt = 0;
  /** A gauge without samples until the first check. */
  const ofReport = (name: string, help: string, value: (of: ReceiverReport) => number): void => {
    const gauge = new Gauge({
      name,
      help,
      registers,
      collect() {
        if (report === null) this.remove();
        else this.set(value(report));
      },
    });
    gauge.remove();
  };
  ofReport('docket_fee_payer_lamports', 'Balance of the fee payer at the last check', ({ feePayerLamports }) =>
    Number(feePayerLamports),
  );
  ofReport(
    'docket_fee_payer_low_lamports',
    'Balance of the fee payer below which its part is degraded: the highest fees of a thousand payments',
    () => Number(LOW_BALANCE_LAMPORTS),
  );
  ofReport(
    'docket_token_account_exists',
    'Whether the token account that receives payments exists (1 or 0), at the last check',
    ({ tokenAccountExists }) => Number(tokenAccountExists),
  );
  ofReport(
    'docket_token_account_usdc',
    'USDC in the token account that receives payments, at the last check',
    ({ tokenAmount }) => Number(tokenAmount) / USDC_BASE_UNITS,
  );
  ofReport('docket_accounts_checked_timestamp_seconds', 'When these accounts were last read', () => checkedAt);
  return {
    rpcCalled(endpoint, method, outcome, duration) {
      calls.add(1, endpoint, method, outcome);
      seconds.observe(duration, endpoint);
    },
    receiverChecked(found) {
      report = found;
      checkedAt = Date.now() / 1000;
    },
  };
}
