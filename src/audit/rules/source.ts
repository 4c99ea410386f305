/** The rules of what sources push and of their alerts: a message is received once and applied once, in time. */
import type { JsonObject } from '../../events/event.ts';
import { AlertEnded, AlertSubscribed, sourceStream, WebhookApplied, WebhookReceived } from '../../events/source.ts';
import { type Instant, toMicros } from '../../runtime/instant.ts';
import type { StreamRules } from '../judging.ts';
import { APPLIED_WITHIN } from './limits.ts';

interface MessageState extends JsonObject {
  /** When it was recorded; null if it was not. */
  readonly since: Instant | null;
  readonly applied: boolean;
}

const isLate = (from: Instant, to: Instant): boolean => toMicros(to) - toMicros(from) > APPLIED_WITHIN;

export const webhookRules: StreamRules<MessageState> = {
  covers: (stream) => stream.startsWith('source-webhook-'),

  judge(before, { stream, type, data, metadata }, findings) {
    const state = before ?? { since: null, applied: false };
    if (type !== WebhookReceived.type && type !== WebhookApplied.type) {
      findings.breach('event_in_its_stream', WebhookReceived.type, type);
      return state;
    }
    const { source, keyHash } = data as { readonly source: 'courtlistener'; readonly keyHash: string };
    const own = sourceStream.webhook(source, keyHash);
    if (stream !== own) findings.breach('webhook_once', own, stream);
    if (type === WebhookReceived.type) {
      if (state.since !== null) findings.breach('webhook_once', 'one receipt', 'another');
      return { ...state, since: state.since ?? metadata.recordedAt };
    }
    if (state.since === null) findings.breach('webhook_once', 'a message that was received', 'none');
    else if (state.applied) findings.breach('webhook_once', 'one outcome', 'another');
    else if (isLate(state.since, metadata.recordedAt)) {
      findings.breach('webhook_in_time', `its outcome within 24 hours of ${state.since}`, metadata.recordedAt);
    }
    return { ...state, applied: true };
  },

  end({ since, applied }, _stream, until, findings) {
    if (since === null || applied || !isLate(since, until)) return;
    findings.breach('webhook_in_time', `its outcome within 24 hours of ${since}`, 'none');
  },
};

interface AlertState extends JsonObject {
  /** Of the alert in force. */
  readonly alertId: string | null;
}

export const alertRules: StreamRules<AlertState> = {
  covers: (stream) => stream.startsWith('source-alert-'),

  judge(before, { stream, type, data }, findings) {
    const { alertId: current } = before ?? { alertId: null };
    if (type !== AlertSubscribed.type && type !== AlertEnded.type) {
      findings.breach('event_in_its_stream', AlertSubscribed.type, type);
      return { alertId: current };
    }
    const { source, sourceCaseId, alertId } = data as Readonly<Record<string, string>>;
    const own = sourceStream.alert(source as 'courtlistener', sourceCaseId ?? '');
    if (stream !== own) findings.breach('alert_follows', own, stream);
    if (type === AlertSubscribed.type) return { alertId: alertId ?? null };
    if (alertId !== current) findings.breach('alert_follows', `the end of ${current ?? 'none'}`, `that of ${alertId}`);
    return { alertId: null };
  },
};
