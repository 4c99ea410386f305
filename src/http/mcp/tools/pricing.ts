/** `service_pricing`: the prices, and how to pay. */
import { PRICE_BASE_UNITS } from '../../../commands/purchase/price.ts';
import { CASES_PER_DAY, REQUESTS_PER_MINUTE } from '../../../commands/purchase/wallet-limits.ts';
import { associatedTokenAddress } from '../../../solana/addresses.ts';
import { usdcText } from '../../../solana/decimal-amount.ts';
import { BATCH_CHARGING } from '../../paid/batch-charging.ts';
import { costInUsd } from '../../paid/paid-call.ts';
import type { AnsweringService } from '../../send-problem.ts';
import type { Merchant } from '../../x402/terms.ts';
import { freeTool } from '../free-tool.ts';
import type { Tool } from '../tool.ts';

export function pricingTool(service: AnsweringService, { network, payTo }: Merchant): Tool {
  const price = costInUsd(PRICE_BASE_UNITS);
  const prices = {
    price_per_query_usd: price,
    price_per_query_usdc: usdcText(PRICE_BASE_UNITS),
    price_per_query_base_units: String(PRICE_BASE_UNITS),
    paid_tools: {
      service_case_query: price,
      service_case_monitor: price,
      service_case_batch: `${price} for each query, up to 50, in one payment`,
      service_wallet_info: `${price} for the keys, and ${price} more for deliveries, in a payment of its own`,
    },
    paid_endpoints: {
      'GET /v2/case': price,
      'GET /v2/monitor': price,
      'POST /v2/cases/batch': `${price} for each query`,
      'GET /v2/wallet/keys': price,
      'POST /v2/wallet/keys': price,
      'GET /v2/wallet/deliveries': price,
    },
    free_tools: ['service_status', 'service_court_list', 'service_pricing'],
    free_endpoints: [
      'GET /v2/status',
      'GET /v2/results/{result_id}',
      'GET /v2/results/{result_id}/receipt',
      'every call in the sandbox (test=1)',
    ],
    payment: {
      protocol: 'x402, versions 1 and 2, scheme exact; over MCP also payment_tx',
      network: network.selfPaid,
      network_caip2: network.caip2,
      asset: network.usdcMint,
      asset_name: 'USDC, 6 decimals',
      recipient: payTo,
      recipient_token_account: associatedTokenAddress(payTo, network.usdcMint),
      payment_tx:
        'Call a paid tool without payment_tx to get instructions; sign the transfer that they describe, do not send it, and call again with payment_tx.',
      x402: `Clients of x402 connect to ${service.publicUrl}/v2/mcp?payment=x402 and pay in _meta["x402/payment"]; then the network fee is ours.`,
    },
    charged_only_for: `Answers that were delivered. What fails, is refused or is rate-limited is never charged. ${BATCH_CHARGING}`,
    limits_per_wallet: {
      requests_per_minute: REQUESTS_PER_MINUTE,
      cases_per_day: CASES_PER_DAY,
      queries_per_batch: 50,
    },
    sandbox: `${service.publicUrl}/v2/mcp?test=1 answers every tool from invented dockets, free.`,
    documentation_url: `${service.publicUrl}/docs/mcp`,
  };
  return freeTool(service, {
    name: 'service_pricing',
    title: 'Prices and payment',
    description:
      'What each call costs (0.99 USD in USDC for a query), what is free, and how to pay. Free. You need not call it before a paid tool: that gives its own payment instructions.',
    parameters: {},
    returns: {
      price_per_query_usd: { type: 'number' },
      paid_tools: { type: 'object' },
      free_tools: { type: 'array', items: { type: 'string' } },
      payment: { type: 'object' },
    },
    answer: (_values, meta) => JSON.stringify({ meta, ...prices }),
  });
}
