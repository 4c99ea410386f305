/** What must be true after any number of kills: the chain, the log and the callers agree. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'vitest';
import type { RuleName } from '../../src/audit/rules/catalogue.ts';
import { PRICE, tokenAccountOf } from '../solana/payment-transactions.ts';
import { DOCKET, type RunningProcess, until } from '../support/processes.ts';
import { resultPathIn } from '../support/result-path.ts';
import { type Attempt, FUNDS, SLOT_MS, type Stage } from './paid-load.ts';

/** The outcome of a payment that only expiry decides is known 20 s after finality has passed its last valid block. */
const DECIDED_WITHIN_MS = (150 + 32) * SLOT_MS + 20_000 + 10_000;

export async function docket(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  within: readonly string[] = [],
): Promise<string> {
  const [command = process.execPath, ...rest] = [...within, process.execPath, DOCKET, ...args];
  const { stdout } = await promisify(execFile)(command, rest, {
    env: { ...process.env, NODE_ENV: 'test', ...environment },
    maxBuffer: 512 * 1024 * 1024,
  });
  return stdout;
}

/** One payment as its stream shows it. Times are milliseconds since 1970. */
export interface LoggedPayment {
  requestId: string;
  wallet: string;
  submittedAt: number | null;
  lastValidBlockHeight: number | null;
  settled: number;
  failed: number;
  /** Why it failed; null if it did not. */
  reason: string | null;
  outcomeAt: number | null;
}

interface EventLine {
  readonly stream: string;
  readonly type: string;
  readonly data: { requestId?: string; wallet?: string; lastValidBlockHeight?: number; reason?: string };
  readonly recordedAt: string;
}

/** Every payment of the log, by its stream, as an auditor reads it. */
export async function loggedPayments(stage: Stage): Promise<ReadonlyMap<string, LoggedPayment>> {
  const lines = await docket(['audit', 'replay', 'payments', '--json'], stage.environment, stage.within);
  const payments = new Map<string, LoggedPayment>();
  for (const line of lines.split('\n').filter(Boolean)) {
    const { stream, type, data, recordedAt } = JSON.parse(line) as EventLine;
    const at = Date.parse(recordedAt);
    if (type === 'PaymentAuthorized') {
      payments.set(stream, {
        requestId: data.requestId ?? '',
        wallet: data.wallet ?? '',
        submittedAt: null,
        lastValidBlockHeight: null,
        settled: 0,
        failed: 0,
        reason: null,
        outcomeAt: null,
      });
    }
    const payment = payments.get(stream);
    if (!payment) continue;
    if (type === 'PaymentSubmitted') {
      payment.submittedAt = at;
      payment.lastValidBlockHeight = data.lastValidBlockHeight ?? null;
    }
    if (type === 'PaymentSettled' || type === 'PaymentSettledLate') payment.settled += 1;
    if (type === 'PaymentFailed') {
      payment.failed += 1;
      payment.reason = data.reason ?? null;
    }
    if (/^Payment(Settled|SettledLate|Failed)$/.test(type)) payment.outcomeAt = at;
  }
  return payments;
}

const isUndecided = ({ submittedAt, outcomeAt }: LoggedPayment): boolean => submittedAt !== null && outcomeAt === null;

/** Waits until every submitted payment has its outcome; returns all of them. */
export async function decidedPayments(
  stage: Stage,
  service: RunningProcess,
  within = DECIDED_WITHIN_MS,
): Promise<ReadonlyMap<string, LoggedPayment>> {
  let payments: ReadonlyMap<string, LoggedPayment> = new Map();
  const areDecided = async () => {
    payments = await loggedPayments(stage);
    return ![...payments.values()].some(isUndecided);
  };
  await until('every submitted payment has its outcome', areDecided, { process: service, within, every: 1_000 });
  return payments;
}

interface VerifyLine {
  readonly rule?: RuleName;
}

async function breachesOf({ environment, within }: Stage): Promise<readonly VerifyLine[]> {
  const args = ['audit', 'verify', '--json', '--signatures'];
  const lines = await docket(args, environment, within).catch((failure: { readonly stdout?: string }) => {
    if (!failure.stdout) throw failure;
    return failure.stdout;
  });
  const found = lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as VerifyLine);
  return found.filter(({ rule }) => rule !== undefined);
}

/** Rules that a jump of the clock breaks until the service has done what is suddenly overdue. */
const IN_TIME: ReadonlySet<RuleName | undefined> = new Set<RuleName>([
  'outcome_in_time',
  'finality_in_time',
  'callback_scheduled',
  'attempt_in_time',
  'key_call_done',
]);

/** Fails unless an auditor finds no breach in the whole log. */
export async function expectVerified(stage: Stage): Promise<void> {
  let breaches: readonly VerifyLine[] = [];
  const isCaughtUp = async () => {
    breaches = await breachesOf(stage);
    return !breaches.some(({ rule }) => IN_TIME.has(rule));
  };
  await until('what is overdue is done', isCaughtUp, { every: 1_000 });
  expect(breaches).toEqual([]);
}

/**
 * Fails unless no payment is charged twice, every charge is answered, and what callers were told is true.
 * @returns the payments that were settled
 */
export async function expectAgreement(
  stage: Stage,
  payments: Iterable<LoggedPayment>,
  attempts: readonly Attempt[],
): Promise<readonly LoggedPayment[]> {
  const settled = [...payments].filter((payment) => payment.settled > 0);
  // Each wallet paid exactly the price of what was settled for it.
  expect(settled.filter((payment) => payment.settled !== 1)).toEqual([]);
  for (const { publicKey } of stage.wallets) {
    const wallet = publicKey.toBase58();
    const left = FUNDS - (await stage.rpc.tokens(tokenAccountOf(new PublicKey(wallet)).toBase58()));
    const bought = settled.filter((payment) => payment.wallet === wallet).length;
    expect(left, `base units that left ${wallet}`).toBe(PRICE * BigInt(bought));
  }
  for (const { requestId } of settled) {
    const result = await fetch(`${stage.url}${await resultPathIn(stage.dataDirectory, requestId)}`);
    const body = (await result.json()) as { meta: { request_id: string } };
    expect([result.status, body.meta.request_id]).toEqual([200, requestId]);
  }
  // A 200 was settled, an error never is.
  const settledIds = new Set(settled.map(({ requestId }) => requestId));
  for (const { status, requestId } of attempts) {
    if (status === 200) expect(settledIds.has(requestId ?? ''), `${requestId} was answered`).toBe(true);
    if (typeof status === 'number' && status >= 400) expect(settledIds.has(requestId ?? '')).toBe(false);
  }
  await expectVerified(stage);
  return settled;
}
