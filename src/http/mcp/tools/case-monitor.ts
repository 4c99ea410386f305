/** `service_case_monitor`: what `GET /v2/monitor` answers. */
import type { PaidRoute } from '../../paid/paid-call.ts';
import { requestOf } from '../paid-parameters.ts';
import { type PaidToolDependencies, paidTool, paymentParameter } from '../paid-tool.ts';
import type { Tool } from '../tool.ts';
import { CASE_ID, COURT_CODE, LAST_CHECKED, texts } from './case-parameters.ts';

export const caseMonitorTool = <Parameters extends object>(
  dependencies: PaidToolDependencies,
  route: PaidRoute<Parameters>,
): Tool =>
  paidTool(dependencies, {
    name: 'service_case_monitor',
    title: 'Has a case changed?',
    description:
      'Whether a case has new filings since last_checked, and how many: changed, change_count, latest_activity_at. 0.99 USD, charged only for an answer. It does not show the filings: service_case_query does, at the same price. Without payment_tx it checks the arguments and returns payment instructions, free.',
    parameters: {
      case_id: CASE_ID,
      court_code: COURT_CODE,
      last_checked: { ...LAST_CHECKED, required: true },
      payment_tx: paymentParameter('0.99 USDC'),
    },
    returns: { changed: { type: 'boolean' }, change_count: { type: 'number' } },
    route,
    request: (values, call) => requestOf(call, texts(values, ['case_id', 'court_code', 'last_checked'])),
  });
