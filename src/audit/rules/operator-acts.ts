/** What operators decide about hosts, sources and wallets, and that the service keeps to it. */
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
import { SourcePaused, SourceResumed, sourceStream } from '../../events/source.ts';
import { type Instant, latest, type Micros, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent, LogRules } from '../judging.ts';
import type { Span } from '../log-time.ts';
import { APPLIES_WITHIN } from './limits.ts';

interface HostState extends JsonObject {
  /** Null if it is not paused. */
  readonly pausedSince: Instant | null;
  /** Ended pauses. */
  readonly pauses: readonly Span[] & JsonObject[];
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
    if (isPause) {
      // A pause that is recorded afterwards must not excuse what was late by then.
      const since = pausedSince ?? latest(at, findings.logTime?.newest ?? at);
      return { ...states, [origin]: { pausedSince: since, pauses } };
    }
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

/** How long a host was not paused between two times, without other spans that do not count. */
export function unpausedTime(
  states: HostStates | undefined,
  origin: string,
  between: Span,
  others: readonly Span[] = [],
): Micros {
  const { pausedSince = null, pauses = [] } = states?.[origin] ?? {};
  const paused = pausedSince === null ? pauses : [...pauses, { from: pausedSince, to: between.to }];
  const spans = [...paused, ...others].sort((a, b) => (a.from < b.from ? -1 : 1));
  const end = toMicros(between.to);
  let counted = toMicros(between.from);
  let time = 0;
  for (const { from, to } of spans) {
    time += Math.max(0, Math.min(end, toMicros(from)) - counted);
    counted = Math.max(counted, Math.min(end, toMicros(to)));
  }
  return time + Math.max(0, end - counted);
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
    // The clock of the operator's machine may be behind those of the nodes, which know of it only from its record on.
    if (isBan) return { ...bans, [wallet]: since ?? latest(at, findings.logTime?.newest ?? at) };
    const { [wallet]: _, ...others } = bans;
    return others;
  },
};

/** Which parts of which sources are paused, by source and court. */
type Paused = { readonly [part: string]: true } & JsonObject;

export const sourcePauseRules: LogRules<Paused> = {
  types: new Set([SourcePaused.type, SourceResumed.type]),

  judge(before, event, findings) {
    const paused: Paused = before ?? {};
    const { source, court } = event.data as { readonly source: 'courtlistener'; readonly court: string | null };
    const part = JSON.stringify([source, court]);
    const isPause = event.type === SourcePaused.type;
    judgeChange(event, sourceStream.itself(source), part in paused, isPause, findings);
    if (isPause) return { ...paused, [part]: true };
    const { [part]: _, ...others } = paused;
    return others;
  },
};
