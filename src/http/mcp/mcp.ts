/** Assembles the MCP endpoint: the tools, the methods, the transport. */
import type { Logger } from 'pino';
import type { Tracer } from '../../tracing/tracer.ts';
import type { HttpMetrics } from '../admin/metrics/http-metrics.ts';
import type { ClientAddresses } from '../client-address.ts';
import type { Buying } from '../paid/buy.ts';
import type { PaidRoute } from '../paid/paid-call.ts';
import type { BatchRequest } from '../parameters/batch-request.ts';
import type { CaseRequest } from '../parameters/case-request.ts';
import type { DeliveriesRequest } from '../parameters/deliveries-request.ts';
import type { MonitorRequest } from '../parameters/monitor-request.ts';
import type { StatusDependencies } from '../v2/status.ts';
import type { WalletKeysRequest } from '../v2/wallet-keys.ts';
import type { NewestBlockhash } from '../x402/send-payment-required.ts';
import type { Merchant } from '../x402/terms.ts';
import { createDispatch } from './dispatch.ts';
import { type McpEndpoint, mcpEndpoint } from './endpoint.ts';
import type { OriginRules } from './origins.ts';
import { paymentTerms } from './payment-terms.ts';
import type { Tool } from './tool.ts';
import { caseBatchTool } from './tools/case-batch.ts';
import { caseMonitorTool } from './tools/case-monitor.ts';
import { caseQueryTool } from './tools/case-query.ts';
import { courtListTool } from './tools/court-list.ts';
import { pricingTool } from './tools/pricing.ts';
import { statusTool } from './tools/status.ts';
import { walletInfoTool } from './tools/wallet-info.ts';

export interface McpDependencies extends StatusDependencies {
  readonly logger: Pick<Logger, 'error'>;
  /** Where calls of tools are counted. */
  readonly metrics?: Pick<HttpMetrics, 'toolCalled'> | undefined;
  readonly origins: OriginRules;
  readonly merchant: Merchant;
  readonly buying: Buying;
  readonly clientAddresses: ClientAddresses;
  readonly newestBlockhash: NewestBlockhash;
  readonly tracer?: Tracer | undefined;
  /** The endpoints behind the paid tools. */
  readonly routes: {
    readonly case: PaidRoute<CaseRequest>;
    readonly monitor: PaidRoute<MonitorRequest>;
    readonly batch: PaidRoute<BatchRequest>;
    readonly walletKeys: PaidRoute<WalletKeysRequest>;
    readonly walletDeliveries: PaidRoute<DeliveriesRequest>;
  };
}

export function createMcp(dependencies: McpDependencies): McpEndpoint {
  const { service, logger, metrics, origins, clientAddresses, tracer } = dependencies;
  const dispatch = createDispatch(service, logger, toolsOf(dependencies), metrics);
  return mcpEndpoint({ service, logger, origins, clientAddresses, dispatch, tracer });
}

/** In the order in which models should read them. */
function toolsOf(dependencies: McpDependencies): readonly Tool[] {
  const { service, logger, merchant, buying, newestBlockhash, routes } = dependencies;
  const selling = { service, logger, merchant, buying, terms: paymentTerms(service, merchant, newestBlockhash) };
  return [
    statusTool(dependencies),
    courtListTool(dependencies),
    pricingTool(service, merchant),
    caseQueryTool(selling, routes.case),
    caseMonitorTool(selling, routes.monitor),
    caseBatchTool(selling, routes.batch),
    walletInfoTool(selling, { keys: routes.walletKeys, deliveries: routes.walletDeliveries }),
  ];
}
