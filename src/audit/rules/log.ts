/** Rules about the whole log: who receives payments, and which master keys are in use. */
import type { EventOf, JsonObject } from '../../events/event.ts';
import { LogHeadKeyIntroduced, LogHeadRecorded } from '../../events/log-head.ts';
import { LogFounded, ReceiverChanged } from '../../events/log-identity.ts';
import { PaymentAuthorized, QueryAnswered } from '../../events/payment.ts';
import { MasterKeyIntroduced, SigningKeyCreated, SigningKeyRotated } from '../../events/signing-key.ts';
import { type Instant, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent, LogRules } from '../judging.ts';
import { difference } from './compare.ts';
import { isEarlier, judgeSchema } from './earlier.ts';
import { UNDER_WAY_FOR } from './limits.ts';

export interface ReceiverState extends JsonObject {
  readonly network: string;
  readonly mint: string;
  readonly receiver: string;
  /** The receiver before, and when it was replaced. */
  readonly former: { readonly receiver: string; readonly until: Instant } | null;
}

/** A payment came before the log was founded: that is one breach, and says nothing about the payments after it. */
const UNFOUNDED = 'unfounded';
type Receiver = ReceiverState | typeof UNFOUNDED | null;

export const receiverRules: LogRules<Receiver> = {
  types: new Set([LogFounded.type, ReceiverChanged.type, PaymentAuthorized.type]),

  judge(before, event, findings) {
    const state = before === UNFOUNDED ? null : (before ?? null);
    switch (event.type) {
      case LogFounded.type: {
        const { network, mint, receiver } = event.data as EventOf<typeof LogFounded>['data'];
        if (state) findings.breach('log_founded_once', 'LogFounded once', 'LogFounded again');
        return state ?? { network, mint, receiver, former: null };
      }
      case ReceiverChanged.type: {
        const { receiver, previous } = event.data as EventOf<typeof ReceiverChanged>['data'];
        const current = state?.receiver ?? null;
        if (previous !== current) findings.breach('receiver_change_follows', current ?? 'LogFounded first', previous);
        const former = current === null ? null : { receiver: current, until: event.metadata.recordedAt };
        return state && { ...state, receiver, former };
      }
      default:
        if (before === UNFOUNDED) return before;
        return judgePayee(state, event, findings) ? state : UNFOUNDED;
    }
  },
};

/** @returns false if the log should have been founded before */
function judgePayee(state: ReceiverState | null, event: JudgedEvent, findings: Findings): boolean {
  const { data, metadata } = event;
  if (state === null) {
    // Logs of earlier versions were founded at their upgrade, before it sold anything.
    if (isEarlier(event)) findings.unprovable('paid_to_the_receiver');
    else findings.breach('paid_to_the_receiver', 'LogFounded before every payment', 'none before');
    return isEarlier(event);
  }
  const { network, mint, receiver, former } = state;
  const isUnderWay =
    former !== null &&
    data.payTo === former.receiver &&
    toMicros(metadata.recordedAt) - toMicros(former.until) <= UNDER_WAY_FOR;
  const expected = { network, mint, payTo: isUnderWay ? former.receiver : receiver };
  const differing = difference(expected, data, ['network', 'mint', 'payTo']);
  if (differing) findings.breach('paid_to_the_receiver', differing.expected, differing.found);
  return true;
}

export interface MasterKeyState extends JsonObject {
  /** Fingerprints by version. */
  readonly versions: { readonly [version: string]: string };
}

export const masterKeyRules: LogRules<MasterKeyState> = {
  types: new Set([
    MasterKeyIntroduced.type,
    SigningKeyCreated.type,
    SigningKeyRotated.type,
    QueryAnswered.type,
    LogHeadKeyIntroduced.type,
    LogHeadRecorded.type,
  ]),

  judge(before, event, findings) {
    const { type, data } = event;
    const state: MasterKeyState = before ?? { versions: {} };
    const version = (type === QueryAnswered.type ? data.resultKey : data.masterVersion) as number | undefined;
    // Answers of earlier versions have no result key.
    if (version === undefined) return state;
    const known = state.versions[version];
    if (type === MasterKeyIntroduced.type) {
      judgeSchema(event, findings);
      const { fingerprint } = data as EventOf<typeof MasterKeyIntroduced>['data'];
      if (known !== undefined) findings.breach('master_key_unique', `version ${version} once`, `${version} again`);
      return { versions: { [version]: fingerprint, ...state.versions } };
    }
    if (known === undefined) {
      findings.breach('master_key_introduced', `MasterKeyIntroduced of version ${version}`, 'none before');
    }
    return state;
  },
};
