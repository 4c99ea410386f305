/** The rules of orders to forget: each is given before anything is removed for it, and completed once, in time. */
import { ContentRedacted } from '../../events/content.ts';
import { DocketForgotten } from '../../events/docket.ts';
import type { JsonObject } from '../../events/event.ts';
import { FORGET_STREAM, ForgetCompleted, ForgetOrdered } from '../../events/forget.ts';
import { type Instant, toMicros } from '../../runtime/instant.ts';
import type { LogRules, StreamRules } from '../judging.ts';
import { FORGOTTEN_WITHIN } from './limits.ts';

interface OrdersState {
  readonly [member: string]: { [forgetId: string]: Instant };
  /** When each open order was given, by its id. */
  readonly open: { [forgetId: string]: Instant };
}

export const forgetRules: StreamRules<OrdersState> = {
  covers: (stream) => stream === FORGET_STREAM,

  judge(before, { type, data, metadata }, findings) {
    const state = before ?? { open: {} };
    const forgetId = String(data.forgetId);
    if (type === ForgetOrdered.type) state.open[forgetId] = metadata.recordedAt;
    else if (type !== ForgetCompleted.type) findings.breach('event_in_its_stream', 'an order to forget', type);
    else {
      const orderedAt = state.open[forgetId];
      if (orderedAt === undefined) findings.breach('forget_completed', 'an open order', `${forgetId}, which is none`);
      else if (isLate(orderedAt, metadata.recordedAt)) {
        findings.breach('forget_in_time', `its completion within 24 hours of ${orderedAt}`, metadata.recordedAt);
      }
      delete state.open[forgetId];
    }
    return state;
  },

  end({ open }, _stream, until, findings) {
    for (const [forgetId, orderedAt] of Object.entries(open)) {
      if (!isLate(orderedAt, until)) continue;
      findings.breach('forget_in_time', `the completion of ${forgetId} within 24 hours of ${orderedAt}`, 'none');
    }
  },
};

const isLate = (from: Instant, to: Instant): boolean => toMicros(to) - toMicros(from) > FORGOTTEN_WITHIN;

interface GivenState {
  readonly [member: string]: { [forgetId: string]: 1 };
  readonly given: { [forgetId: string]: 1 };
}

/** Removals and forgotten dockets name an order that was given before. */
export const forgetReferences: LogRules<GivenState> = {
  types: new Set([ForgetOrdered.type, ContentRedacted.type, DocketForgotten.type]),

  judge(before, { type, data }, findings) {
    const state = before ?? { given: {} };
    if (type === ForgetOrdered.type) {
      state.given[String(data.forgetId)] = 1;
      return state;
    }
    const forgetId = type === DocketForgotten.type ? data.forgetId : (data.forget as JsonObject | undefined)?.forgetId;
    if (forgetId !== undefined && state.given[String(forgetId)] !== 1) {
      findings.breach('forget_ordered', `ForgetOrdered of ${forgetId}`, 'none before');
    }
    return state;
  },
};
