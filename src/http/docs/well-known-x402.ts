/**
 * `/.well-known/x402`: what this origin sells. There is no standard yet. Crawlers read `version` and `resources`, a
 * list of URLs; `items` has the format in which facilitators list discovered resources, with terms.
 */
import { PRICE_BASE_UNITS } from '../../commands/purchase/price.ts';
import type { JsonObject } from '../../events/event.ts';
import { OPERATIONS } from '../openapi/operations.ts';
import { BATCH_CHARGING } from '../paid/batch-charging.ts';
import { discoveryOf } from '../x402/bazaar.ts';
import { type Merchant, requirementsOf } from '../x402/terms.ts';

export function wellKnownX402(merchant: Merchant): JsonObject {
  const { publicUrl } = merchant;
  const sold = OPERATIONS.filter(({ price, deprecated }) => price !== null && !deprecated);
  const accepts = [requirementsOf(merchant, PRICE_BASE_UNITS, { feePayer: merchant.feePayer })];
  return {
    version: 1,
    x402Version: 2,
    name: 'Docket Monitor',
    description:
      'US and Canadian court dockets, and the filings that are new since you last looked. 0.99 USDC per query.',
    resources: [...new Set(sold.map(({ path }) => `${publicUrl}${path}`))],
    items: sold.map(({ method, path, summary }) => ({
      resource: `${publicUrl}${path}`,
      type: 'http',
      method: method.toUpperCase(),
      x402Version: 2,
      description: summary,
      mimeType: 'application/json',
      accepts,
      extensions: { bazaar: discoveryOf(method === 'get' ? 'GET' : 'POST', path) },
    })),
    instructions: `Read ${publicUrl}/llms.txt first. Test for free with test=1. Errors are never charged. ${BATCH_CHARGING}`,
    openapi: `${publicUrl}/openapi.json`,
    documentation: `${publicUrl}/docs`,
  } as unknown as JsonObject;
}
