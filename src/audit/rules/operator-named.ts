/** Acts of operators name who decided them, and why. A test compares the list of types with the schemas. */
import { ContentRedacted } from '../../events/content.ts';
import { DeliveryCancelled, DeliveryRedeliveryRequested } from '../../events/delivery.ts';
import { DocketForgotten } from '../../events/docket.ts';
import type { JsonObject } from '../../events/event.ts';
import { ForgetOrdered } from '../../events/forget.ts';
import { LogHeadAnchored } from '../../events/log-head.ts';
import { ReceiverChanged } from '../../events/log-identity.ts';
import { HOST_ACTS, PROJECTION_ACTS, SOURCE_ACTS, WALLET_ACTS } from '../../events/operator.ts';
import { MasterKeyIntroduced } from '../../events/signing-key.ts';
import {
  AlertEnded,
  AlertSubscribed,
  BackfillEnded,
  BackfillOrdered,
  SourcePaused,
  SourceResumed,
} from '../../events/source.ts';
import type { JudgedEvent, LogRules } from '../judging.ts';
import { isDowngraded, isEarlier } from './earlier.ts';

/** Their schemas have no reason: the service ends and renews alerts, too, and an anchor is its own reason. */
const WITHOUT_REASON: ReadonlySet<string> = new Set([AlertSubscribed.type, AlertEnded.type, LogHeadAnchored.type]);

export const operatorRules: LogRules<JsonObject> = {
  types: new Set([
    DeliveryRedeliveryRequested.type,
    DeliveryCancelled.type,
    MasterKeyIntroduced.type,
    ReceiverChanged.type,
    ContentRedacted.type,
    ForgetOrdered.type,
    DocketForgotten.type,
    SourcePaused.type,
    SourceResumed.type,
    BackfillOrdered.type,
    BackfillEnded.type,
    ...WITHOUT_REASON,
    ...[...PROJECTION_ACTS, ...HOST_ACTS, ...WALLET_ACTS, ...SOURCE_ACTS].map(({ type }) => type),
  ]),

  judge(state, event, findings) {
    const { by, reason } = event.data;
    if (isDowngraded(event) || isOfTheService(event)) return state ?? {};
    const needsReason = !WITHOUT_REASON.has(event.type);
    // Earlier versions did not always record who decided it.
    if (isEarlier(event) && (isAbsent(by) || (needsReason && isAbsent(reason)))) findings.unprovable('operator_named');
    else if (isBlank(by)) findings.breach('operator_named', 'an actor and a reason', 'no actor');
    else if (needsReason && isBlank(reason)) findings.breach('operator_named', 'an actor and a reason', 'no reason');
    return state ?? {};
  },
};

/** No operator ended a backfill that was completed. */
const isOfTheService = ({ type, data }: JudgedEvent): boolean =>
  type === BackfillEnded.type && data.outcome === 'completed';

const isAbsent = (text: unknown): boolean => text === null || text === undefined;
const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';
