/** What operators decide about hosts and wallets, and that the service keeps to it. */
import type { JsonObject } from '../../events/event.ts';
import {
  HostPaused,
  HostResumed,
  hostSubject,
  operatorStream,
  WalletBanned,
  WalletUnbanned,
  walletSubject,
} from '../../events/operator.ts';
import { PaymentAuthorized } from '../../events/payment.ts';
import { type Instant, type Micros, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent, LogRules } from '../judging.ts';
import { APPLIES_WITHIN } from './limits.ts';

interface HostState extends JsonObject {
  /** Null if it is not paused. */
  readonly pausedSince: Instant | null;
  /** Ended pauses. */
  readonly pauses: readonly { readonly from: Instant; readonly to: Instant }[] & JsonObject[];
}

/** By origin. */
export type HostStates = { readonly [origin: string]: HostState } & JsonObject;

export const hostRules: LogRules<HostStates> = {
  types: new Set([HostPaused.type, HostResumed.type]),

  judge(before, event, findings) {
    const { origin } = event.data as { readonly origin: string };
    const states: HostStates = before ?? {};
    const host = states[origin] ?? { pausedSince: null, pauses: [] };
    const { pausedSince, pauses } = host;
    const isPause = event.type === HostPaused.type;
    judgeChange(event, operatorStream(hostSubject(origin)), pausedSince !== null, isPause, findings);
    const at = event.metadata.recordedAt;
    if (isPause) return { ...states, [origin]: { pausedSince: pausedSince ?? at, pauses } };
    const ended = pausedSince === null ? [] : [{ from: pausedSince, to: at }];
    return { ...states, [origin]: { pausedSince: null, pauses: [...pauses, ...ended] } };
  },
};

function judgeChange(event: JudgedEvent, stream: string, before: boolean, after: boolean, findings: Findings): void {
  if (event.stream !== stream) findings.breach('operator_act_follows', stream, event.stream);
  if (before === after) findings.breach('operator_act_follows', 'an act that changes something', `${event.type} again`);
}

/** Judges the start of an attempt. Each node follows the log, so for moments one may not know of the pause yet. */
export function judgePaused(states: HostStates | undefined, origin: string, at: Instant, findings: Findings): void {
  const since = states?.[origin]?.pausedSince ?? null;
  if (since === null || toMicros(at) - toMicros(since) <= APPLIES_WITHIN) return;
  findings.breach('attempt_not_paused', `no attempt while ${origin} is paused, since ${since}`, `an attempt at ${at}`);
}

/** How long a host was not paused between two times. */
export function unpausedTime(states: HostStates | undefined, origin: string, from: Instant, to: Instant): Micros {
  const { pausedSince = null, pauses = [] } = states?.[origin] ?? {};
  const all = pausedSince === null ? pauses : [...pauses, { from: pausedSince, to }];
  const [start, end] = [toMicros(from), toMicros(to)];
  return all.reduce((left, pause) => {
    const paused = Math.min(end, toMicros(pause.to)) - Math.max(start, toMicros(pause.from));
    return left - Math.max(0, paused);
  }, end - start);
}

/** Since when wallets are banned. */
export type Bans = { readonly [wallet: string]: Instant } & JsonObject;

export const banRules: LogRules<Bans> = {
  types: new Set([WalletBanned.type, WalletUnbanned.type, PaymentAuthorized.type]),

  judge(before, event, findings) {
    const { wallet } = event.data as { readonly wallet: string };
    const bans: Bans = before ?? {};
    const since = bans[wallet];
    const at = event.metadata.recordedAt;
    if (event.type === PaymentAuthorized.type) {
      if (since === undefined || toMicros(at) - toMicros(since) <= APPLIES_WITHIN) return bans;
      findings.breach('banned_wallet_buys_nothing', `no payment of ${wallet}, banned since ${since}`, `one at ${at}`);
      return bans;
    }
    const isBan = event.type === WalletBanned.type;
    judgeChange(event, operatorStream(walletSubject(wallet)), since !== undefined, isBan, findings);
    if (isBan) return { ...bans, [wallet]: since ?? at };
    const { [wallet]: _, ...others } = bans;
    return others;
  },
};
