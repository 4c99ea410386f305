/** Rules about the whole log: who receives payments, which master keys are in use, who acted and why. */
import { ContentRedacted } from '../../events/content.ts';
import { DeliveryRedeliveryRequested } from '../../events/delivery.ts';
import type { EventOf, JsonObject } from '../../events/event.ts';
import { LogHeadKeyIntroduced, LogHeadRecorded } from '../../events/log-head.ts';
import { LogFounded, ReceiverChanged } from '../../events/log-identity.ts';
import { EventSkipped } from '../../events/operator.ts';
import { PaymentAuthorized, QueryAnswered } from '../../events/payment.ts';
import { MasterKeyIntroduced, SigningKeyCreated, SigningKeyRotated } from '../../events/signing-key.ts';
import { type Instant, toMicros } from '../../runtime/instant.ts';
import type { Findings, JudgedEvent, LogRules } from '../judging.ts';
import { difference } from './compare.ts';
import { UNDER_WAY_FOR } from './limits.ts';

export interface ReceiverState extends JsonObject {
  readonly network: string;
  readonly mint: string;
  readonly receiver: string;
  /** The receiver before, and when it was replaced. */
  readonly former: { readonly receiver: string; readonly until: Instant } | null;
}

export const receiverRules: LogRules<ReceiverState | null> = {
  types: new Set([LogFounded.type, ReceiverChanged.type, PaymentAuthorized.type]),

  judge(before, event, findings) {
    const state = before ?? null;
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
        judgePayee(state, event, findings);
        return state;
    }
  },
};

function judgePayee(state: ReceiverState | null, { data, metadata }: JudgedEvent, findings: Findings): void {
  // Logs of earlier versions were founded at their upgrade.
  if (state === null) {
    findings.unprovable('paid_to_the_receiver');
    return;
  }
  const { network, mint, receiver, former } = state;
  const isUnderWay =
    former !== null &&
    data.payTo === former.receiver &&
    toMicros(metadata.recordedAt) - toMicros(former.until) <= UNDER_WAY_FOR;
  const expected = { network, mint, payTo: isUnderWay ? former.receiver : receiver };
  const differing = difference(expected, data, ['network', 'mint', 'payTo']);
  if (differing) findings.breach('paid_to_the_receiver', differing.expected, differing.found);
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

  judge(before, { type, data }, findings) {
    const state: MasterKeyState = before ?? { versions: {} };
    const version = (type === QueryAnswered.type ? data.resultKey : data.masterVersion) as number | undefined;
    // Answers of earlier versions have no result key.
    if (version === undefined) return state;
    const known = state.versions[version];
    if (type === MasterKeyIntroduced.type) {
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

/** Acts of operators, which name actor and reason. */
export const operatorRules: LogRules<JsonObject> = {
  types: new Set([
    DeliveryRedeliveryRequested.type,
    MasterKeyIntroduced.type,
    ReceiverChanged.type,
    EventSkipped.type,
    ContentRedacted.type,
  ]),

  judge(state, { data: { by, reason }, metadata: { commandId } }, findings) {
    // Earlier versions recorded neither the command nor always who decided it.
    const isEarlier = commandId === undefined;
    if (isEarlier && (isAbsent(by) || isAbsent(reason))) findings.unprovable('operator_named');
    else if (isBlank(by) || isBlank(reason)) {
      findings.breach('operator_named', 'an actor and a reason', isBlank(by) ? 'no actor' : 'no reason');
    }
    return state ?? {};
  },
};

const isAbsent = (text: unknown): boolean => text === null || text === undefined;
const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';
