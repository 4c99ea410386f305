/** The answer of `GET /v2/monitor`, real or from fixtures (docs/design/interface.md#2.4). */
import type { MonitorAnswer } from '../../queries/case-answer.ts';
import type { MonitorRequest } from '../parameters/monitor-request.ts';
import { type AnsweredCall, monitorMeta } from './answer-meta.ts';

/** The whole answer, serialized once. */
export const monitorBody = (
  answer: MonitorAnswer,
  { caseId, courtCode }: Pick<MonitorRequest, 'caseId' | 'courtCode'>,
  call: AnsweredCall,
): string =>
  JSON.stringify({
    meta: monitorMeta(answer, call),
    case_id: caseId,
    court_code: courtCode,
    changed: answer.changed,
    change_count: answer.changeCount,
    latest_activity_at: answer.latestActivityAt,
  });
